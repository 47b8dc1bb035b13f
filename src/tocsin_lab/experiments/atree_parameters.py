"""Table 3 of the A-Tree paper: what its experiments on synthesised rules vary, one thing at a time.

Its text and its Table 3 differ on the dimensions (10 to 30 K against 30 to 10 K) and the cardinality
(1 to 3 K against 3 to 1 K); these are the table's values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tocsin_lab import abe_gen
from tocsin_lab.abe_gen.abe import mean_arity
from tocsin_lab.abe_gen.draws import zipf_weights
from tocsin_lab.experiments.experiment import Run
from tocsin_lab.experiments.outcome import Axis

DEFAULT = abe_gen.Setting()
SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000)
SKEWS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class Sweep:
    """A panel: what is varied, over which values, and the workload for each of them."""

    letter: str
    title: str
    across: Axis
    values: tuple[float, ...]
    setting: Callable[[abe_gen.Setting, float], abe_gen.Setting]
    of_size: bool = False
    is_conjunctive: bool = False

    def settings(self, run: Run) -> dict[float, abe_gen.Setting]:
        """By the value on the axis; sizes are those of the run's scale."""
        rules = run.sized(DEFAULT.expressions)
        default = replace(DEFAULT, expressions=rules, seed=run.seed)
        values = [run.sized(int(value)) for value in self.values] if self.of_size else self.values
        return {value: self.setting(default, value) for value in values}


def skewed(setting: abe_gen.Setting, alpha: float) -> abe_gen.Setting:
    """Parts drawn by Zipf's law of this alpha from candidates that are the same for all alphas.

    How many candidates there are follows from the default alpha and its uses; how many of them are
    ever drawn, and so how often each is used, from alpha. At 0 all subexpressions are made anew.
    """
    if alpha == setting.zipf:
        return setting
    arity = mean_arity(setting)
    subexpressions = setting.expressions * arity
    predicates = subexpressions * arity
    uses = setting.uses_of_subexpression
    if alpha:
        pool = candidates(subexpressions, subexpressions / uses, setting.zipf)
        uses_now = subexpressions / drawn(pool, subexpressions, alpha)
    else:
        uses_now = 1.0
    pool = candidates(predicates / uses, predicates / setting.uses_of_predicate, setting.zipf)
    return replace(
        setting,
        zipf=alpha,
        uses_of_subexpression=uses_now,
        uses_of_predicate=predicates / drawn(pool, predicates / uses_now, alpha),
    )


def conjunctive(setting: abe_gen.Setting, predicates: int) -> abe_gen.Setting:
    """Rules that are conjunctions of so many predicates on average, and nothing else."""
    return replace(setting, operators=(1.0, 0.0, 0.0, 0.0, 0.0), depth=2, children=predicates)


def drawn(pool: int, draws: float, alpha: float) -> float:
    """How many of a pool are drawn at least once, on average."""
    return float(-np.expm1(-draws * zipf_weights(pool, alpha)).sum())


def candidates(draws: float, different: float, alpha: float) -> int:
    """The pool from which so many draws give so many different ones."""
    low, high = 1, 2
    while drawn(high, draws, alpha) < different:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if drawn(middle, draws, alpha) < different else (low, middle)
    return high


def _with_dimensions(setting: abe_gen.Setting, **changed: Any) -> abe_gen.Setting:
    return replace(setting, dimensions=replace(setting.dimensions, **changed))


SWEEPS = {
    sweep.letter: sweep
    for sweep in (
        Sweep(
            "a",
            "number of rules",
            Axis("rules", log=True),
            SIZES,
            lambda setting, value: replace(setting, expressions=int(value)),
            of_size=True,
        ),
        Sweep(
            "b",
            "tree depth",
            Axis("depth"),
            (1, 2, 3, 4, 5, 6),
            lambda setting, value: replace(setting, depth=int(value)),
        ),
        Sweep(
            "c",
            "child nodes",
            Axis("children, on average"),
            (2, 4, 6, 8, 10, 12),
            lambda setting, value: replace(setting, children=int(value)),
        ),
        Sweep("d", "expression distribution", Axis("α of Zipf's law"), SKEWS, skewed),
        Sweep(
            "e",
            "dimensions",
            Axis("dimensions", log=True),
            (30, 100, 300, 1_000, 3_000, 10_000),
            lambda setting, value: _with_dimensions(setting, count=int(value)),
        ),
        Sweep(
            "f",
            "dimension cardinality",
            Axis("values of a dimension", log=True),
            (3, 10, 30, 100, 300, 1_000),
            lambda setting, value: _with_dimensions(setting, cardinality=int(value)),
        ),
        Sweep(
            "g",
            "dimension distribution",
            Axis("α of Zipf's law"),
            SKEWS,
            lambda setting, value: _with_dimensions(setting, zipf=value),
        ),
        Sweep(
            "h",
            "event size",
            Axis("pairs of an event"),
            (5, 10, 15, 20, 25, 30),
            lambda setting, value: _with_dimensions(setting, event_size=int(value)),
        ),
        Sweep(
            "i",
            "conjunctions, by predicates",
            Axis("predicates of a conjunction, on average"),
            (2, 4, 6, 8, 10, 12),
            lambda setting, value: conjunctive(setting, int(value)),
            is_conjunctive=True,
        ),
    )
}
"""By the letter of the panel in Figure 12; Figures 11 and 13 have the first four. The paper has no panel (i),
only a sentence of its abstract on conjunctions."""
