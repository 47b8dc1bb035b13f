"""The forest of random expressions in the setting of Table 3."""

from __future__ import annotations

import numpy as np

from tocsin_lab.abe_gen.draws import Numbers, covering
from tocsin_lab.abe_gen.forest import NOT, XOR, Forest, Level
from tocsin_lab.abe_gen.predicates import draw_predicates
from tocsin_lab.abe_gen.settings import Setting


def random_forest(setting: Setting) -> Forest:
    """A pool for every level, made from the one below; the highest is the rules.

    Of depth 1 the rules are predicates.
    """
    rng = np.random.default_rng((setting.seed, 3))
    sizes = pool_sizes(setting)
    predicates = draw_predicates(rng, setting.dimensions, sizes[0])
    if setting.depth == 1:
        root = covering(rng, len(predicates.field), setting.zipf, setting.expressions)
        return Forest(predicates, [], root.astype(np.int32))
    levels: list[Level] = []
    below, first = 0, len(predicates.field)
    for size in sizes[1:]:
        operator = rng.choice(5, size, p=setting.operators).astype(np.int8)
        arity = _arities(rng, operator, setting.children)
        drawn = covering(rng, first - below, setting.zipf, int(arity.sum()))
        start = np.concatenate([[0], arity.cumsum()])
        levels.append(Level(first, operator, start, (below + drawn).astype(np.int32)))
        below, first = first, first + size
    return Forest(predicates, levels, np.arange(below, first, dtype=np.int32))


def pool_sizes(setting: Setting) -> list[int]:
    """Nodes of every level, predicates first, that give the uses asked for.

    A node of level k is used once for each time that an expanded rule shows it; so a pool has as many
    nodes as such times, divided by the uses.
    """
    arity = mean_arity(setting)
    expressions = setting.pools_for or setting.expressions
    shown = [expressions * arity ** (setting.depth - level) for level in range(1, max(2, setting.depth))]
    uses = setting.uses_of_subexpression if setting.zipf else 1.0
    sizes = [shown[0] / setting.uses_of_predicate, *(times / uses for times in shown[1:])]
    return [*(max(4, round(size)) for size in sizes), setting.expressions]


def mean_arity(setting: Setting) -> float:
    """Children of an operator, on average."""
    conjoined, disjoined, negated, *exclusive = setting.operators
    return (conjoined + disjoined) * setting.children + negated + 2 * sum(exclusive)


def _arities(rng: np.random.Generator, operator: np.ndarray, children: int) -> Numbers:
    several = rng.integers(2, 2 * children - 1, len(operator))
    return np.where(operator == NOT, 1, np.where(operator >= XOR, 2, several))
