"""The forest of expressions that look like the paper's advertisements.

    level 9    and( p, p, o )         o is the level below: one of its `or`s
    level 8    or( p, ..., p, a )     a is the level below: one of its `and`s
    ...
    level 2    and or or of predicates alone

A rule's root is an `and` of its depth, or a single predicate; so rules of even and of odd depth have
pools of their own on each level.
"""

from __future__ import annotations

import numpy as np

from tocsin_lab.abe_gen.draws import Numbers, covering, zipf
from tocsin_lab.abe_gen.forest import AND, OR, Forest, Level
from tocsin_lab.abe_gen.predicates import draw_predicates
from tocsin_lab.abe_gen.settings import AdsSetting

MOST_IN_AND = 2
MOST_IN_OR = 12


def ads_forest(setting: AdsSetting) -> Forest:
    """Depths are drawn first; how many rules pass through a level decides how large its pools are."""
    rng = np.random.default_rng((setting.seed, 5))
    depth = _depths(rng, setting)
    operators = [_operators(setting, depth, level) for level in range(2, setting.depth + 1)]
    plain = [_plain_children(rng, operator, level) for level, operator in enumerate(operators, 2)]
    predicates = draw_predicates(rng, setting.dimensions, _pool_of_predicates(setting, depth))
    drawn = covering(rng, len(predicates.field), setting.zipf, int(sum(each.sum() for each in plain)))
    levels: list[Level] = []
    first = len(predicates.field)
    root = np.empty(setting.expressions, np.int32)
    root[depth == 1] = zipf(rng, first, setting.zipf, int(np.count_nonzero(depth == 1)))
    core = np.full(len(operators[0]), -1)
    for level, (operator, count) in enumerate(zip(operators, plain, strict=True), 2):
        used, drawn = np.split(drawn, [int(count.sum())])
        levels.append(_level(first, operator, count, used, core))
        above = operators[level - 1] if level < setting.depth else np.empty(0, np.int8)
        core = np.full(len(above), -1)
        for kind in (AND, OR):
            pool = first + np.flatnonzero(operator == kind)
            users = np.flatnonzero(above == 1 - kind)
            rules = np.flatnonzero((depth == level) & (kind == AND))
            if len(pool):
                chosen = pool[covering(rng, len(pool), setting.zipf, len(users) + len(rules))]
                core[users], root[rules] = np.split(chosen, [len(users)])
        first += len(operator)
    return Forest(predicates, levels, root)


def _pool_of_predicates(setting: AdsSetting, depth: Numbers) -> int:
    """How many predicates there are: as often as rules show one, divided by the uses asked for."""
    shown = float(np.count_nonzero(depth == 1))
    for level in range(2, setting.depth + 1):
        for operator in (AND, OR):
            shown += _passing(depth, level, operator) * _mean_plain(operator, level)
    return max(16, round(shown / setting.uses_at_first_level))


def _depths(rng: np.random.Generator, setting: AdsSetting) -> Numbers:
    shares = np.full(setting.depth, (1 - setting.deepest_share) / (setting.depth - 1))
    shares[-1] = setting.deepest_share
    return 1 + rng.choice(setting.depth, setting.expressions, p=shares)


def _passing(depth: Numbers, level: int, operator: int) -> int:
    """Rules that have a node of this operator on this level: the root is an `and`, then they take turns."""
    return int(np.count_nonzero((depth >= level) & ((depth - level) % 2 == operator)))


def _operators(setting: AdsSetting, depth: Numbers, level: int) -> np.ndarray:
    """The nodes of a level by operator, so many that each is used as often as the setting says."""
    sizes = []
    for operator in (AND, OR):
        passing = _passing(depth, level, operator)
        sizes.append(min(passing, max(1, round(passing / setting.uses(level)))))
    return np.repeat(np.array([AND, OR], np.int8), sizes)


def _plain_children(rng: np.random.Generator, operator: np.ndarray, level: int) -> Numbers:
    """How many predicates each node has for children."""
    fewest = 2 if level == 2 else 1
    return np.where(
        operator == AND,
        rng.integers(fewest, MOST_IN_AND + 1, len(operator)),
        rng.integers(MOST_IN_OR - 1, MOST_IN_OR + 1, len(operator)),
    )


def _mean_plain(operator: int, level: int) -> float:
    if operator == OR:
        return MOST_IN_OR - 0.5
    return MOST_IN_AND if level == 2 else (1 + MOST_IN_AND) / 2


def _level(first: int, operator: np.ndarray, plain: Numbers, drawn: Numbers, core: Numbers) -> Level:
    """Nodes over their predicates and, behind them, the core if there is one."""
    count = plain + (core >= 0)
    start = np.concatenate([[0], count.cumsum()])
    child = np.empty(start[-1], np.int32)
    is_core = np.zeros(len(child), np.bool_)
    is_core[start[1:][core >= 0] - 1] = True
    child[is_core] = core[core >= 0]
    child[~is_core] = drawn
    return Level(first, operator, start, child)
