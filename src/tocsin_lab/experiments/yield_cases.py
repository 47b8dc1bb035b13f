"""The Yield-index paper's experiments: how one is declared, and its data sets by the names of its Table 1."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import NamedTuple

from tocsin_lab.experiments.experiment import Experiment, Paper, Run
from tocsin_lab.experiments.outcome import Outcome
from tocsin_lab.yield_index import Workload, can_use, flights, routing, stored_at
from tocsin_lab.yield_index.yield_workloads import (
    CF_DENSE_PERSONS,
    CF_PERSONS,
    RT_NODES,
    UC_DENSE_VALUES,
    UC_VALUES,
)

SMALL, LARGE = 50_000, 100_000
"""Tuples of each relation."""

SIZE = f"{SMALL:,} (s) and {LARGE:,} (l) tuples in each relation"


def yield_experiment(
    place: str, shows: str, measure: Callable[[Run], Outcome], size: str = SIZE
) -> Experiment:
    """The experiment of a table or figure of the paper, under the name `yield-figure12`."""
    return Experiment(
        name=f"yield-{place.lower().replace(' ', '')}",
        paper=Paper.YIELD,
        place=place,
        shows=shows,
        size=size,
        scale=1.0,
        lasts="15 s",
        engines=(),
        measure=measure,
    )


class Case(NamedTuple):
    """A data set. `of_the_paper` is false where the paper has none like it.

    A run's scale multiplies tuples and values alike, so that a tuple meets as many others at any scale; very
    small runs have more values, as their tuples could not differ otherwise.
    """

    name: str
    make: Callable[[Run], Workload]
    of_the_paper: bool = True


def _uc(tuples: int, values: int) -> Callable[[Run], Workload]:
    return lambda run: can_use(run.sized(tuples), _values(run, tuples, values), run.seed)


def _cf(tuples: int, persons: int) -> Callable[[Run], Workload]:
    return lambda run: flights(run.sized(tuples), _values(run, tuples, persons), run.seed)


def _rt(make: Callable[[int, int, int], Workload], tuples: int) -> Callable[[Run], Workload]:
    return lambda run: make(run.sized(tuples), _values(run, tuples, RT_NODES), run.seed)


def _values(run: Run, tuples: int, values: int) -> int:
    """So many that there are four times as many pairs as tuples."""
    return run.sized(values, fewest=isqrt(4 * run.sized(tuples)))


CASES = (
    Case("UCs", _uc(SMALL, UC_VALUES)),
    Case("UCl", _uc(LARGE, UC_VALUES)),
    Case("UCd", _uc(LARGE, UC_DENSE_VALUES), of_the_paper=False),
    Case("CFs", _cf(SMALL, CF_PERSONS)),
    Case("CFl", _cf(LARGE, CF_PERSONS)),
    Case("CFd", _cf(LARGE, CF_DENSE_PERSONS), of_the_paper=False),
    Case("RTs", _rt(routing, SMALL)),
    Case("RTl", _rt(routing, LARGE)),
    Case("RT@s", _rt(stored_at, SMALL), of_the_paper=False),
    Case("RT@l", _rt(stored_at, LARGE), of_the_paper=False),
)

ABOUT = (
    "UC, CF and RT as the paper describes them; UCd and CFd are dense: "
    f"{UC_DENSE_VALUES:,} values instead of {UC_VALUES:,}, {CF_DENSE_PERSONS:,} persons instead of "
    f"{CF_PERSONS:,}. RT@ asks for the nodes at one address, the constant constraint that section 6.3.3 "
    "says RT has."
)
