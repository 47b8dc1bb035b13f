"""Engines on contracts: built of their expressions, held to one answer, and timed step by step.

They do not come through the door that rules come through, which would make one of an AND below an AND,
and so other trees than the paper's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from tocsin.errors import TocsinError, UsageError
from tocsin.index.engine import Engine, RefusedRules
from tocsin.index.engines import BUILDERS
from tocsin.kernels.lists import Lists
from tocsin.lab.contracts import (
    STANDARD,
    Contracts,
    Visits,
    expressions_of,
    held_literals,
    make_visits,
    matching,
)
from tocsin.lab.contracts.truth import matches_of_visits
from tocsin.lab.experiments.experiment import Run
from tocsin.lab.experiments.timing import timed

VISITS = 2_000
FEWEST_VISITS = 200
"""As many as the paper's queries at scale 1; fewer leave time for more expressions at a small scale."""

ROUNDS = 3
VISITS_COMPARED = 20
"""Of these all matches are compared, of the other visits how many there are."""

PLACES_AT_ONCE = 10_000_000
"""Visits are matched some at a time, so that the leaves which hold in them need not all be in memory."""


@runtime_checkable
class Stepped(Protocol):
    """An engine whose steps can be timed apart: from literals to conjunctions, places and rules."""

    def search(self, held: Lists) -> Lists:
        """The conjunctions that hold."""

    def sort(self, conjunctions: Lists) -> Lists:
        """Their places in trees, in order."""

    def evaluate(self, places: Lists) -> Lists:
        """The rules that match."""


class Steps(NamedTuple):
    """Seconds; those of single steps are None where an engine has none."""

    total: float
    search: float | None = None
    sort: float | None = None
    evaluate: float | None = None

    def per(self, visits: int) -> Steps:
        """Of one visit, when these are of so many."""
        single = (None if each is None else each / visits for each in self[1:])
        return Steps(self.total / visits, *single)


@dataclass(frozen=True)
class Reading:
    """What is read off an engine. `why` tells why it refused; then there is nothing else."""

    why: str = ""
    bytes: int | None = None
    steps: Steps | None = None


class Workload(NamedTuple):
    """Contracts and the visits that they are to be matched with."""

    contracts: Contracts
    visits: Visits


def visits_of(run: Run) -> Visits:
    """The visits of a run."""
    return make_visits(run.sized(VISITS, fewest=FEWEST_VISITS), seed=run.seed)


def readings(workload: Workload, engines: Sequence[str], *, is_timed: bool = True) -> dict[str, Reading]:
    """Build the engines, hold them to what the contracts mean, and time them if asked to.

    An engine that refuses a contract is not measured. TocsinError when one gives a wrong answer.
    """
    contracts, visits = workload
    expressions = expressions_of(contracts, STANDARD)
    held = held_literals(visits, expressions.literals)
    leaves = sum(int((np.diff(level.predicate_start) > 0).sum()) for level in contracts)
    portions = _portions(held, max(1, PLACES_AT_ONCE // leaves))
    built: dict[str, Engine] = {}
    refusals: dict[str, str] = {}
    for name in engines:
        try:
            built[name] = _builder(name)(expressions)
        except RefusedRules as error:
            refusals[name] = _why(error, contracts[0].size)
    hold_to_meaning(built, workload, portions)
    taken = _times(built, portions, visits.size) if is_timed else {}
    return {
        name: Reading(why=refusals[name])
        if name in refusals
        else Reading(bytes=sum(built[name].bytes_of_parts().values()), steps=taken.get(name))
        for name in engines
    }


def hold_to_meaning(engines: Mapping[str, Engine], workload: Workload, portions: Sequence[Lists]) -> None:
    """Compare what engines find with what NumPy finds without any; TocsinError names a difference."""
    contracts, visits = workload
    counts = matches_of_visits(contracts, visits)
    few = Visits(visits.attributes, visits.value[:VISITS_COMPARED])
    expected = [np.flatnonzero(column) for column in matching(contracts, few).T]
    for name, engine in engines.items():
        visit = 0
        for portion in portions:
            found = engine.match(portion)
            for begin, end in pairwise(found.start.tolist()):
                rules = found.item[begin:end]
                right = len(rules) == counts[visit]
                if visit < len(expected):
                    right = np.array_equal(rules, expected[visit])
                if not right:
                    raise TocsinError(f"the engine {name} is wrong about the matches of visit {visit}")
                visit += 1


def _builder(name: str) -> Callable[..., Engine]:
    if name not in BUILDERS:
        raise UsageError(f"contracts are not for {name}: choose from {', '.join(BUILDERS)}")
    return BUILDERS[name]


def _why(error: RefusedRules, contracts: int) -> str:
    reason, _ = Counter(error.reasons.values()).most_common(1)[0]
    return f"refused {len(error.reasons):,} of {contracts:,}: {reason}"


def _portions(held: Lists, visits: int) -> list[Lists]:
    count = len(held.start) - 1
    portions = []
    for first in range(0, count, visits):
        start = held.start[first : min(first + visits, count) + 1]
        portions.append(Lists(start - start[0], held.item[start[0] : start[-1]]))
    return portions


def _times(engines: Mapping[str, Engine], portions: Sequence[Lists], visits: int) -> dict[str, Steps]:
    """The best round of each; each round does all engines, so that a slow while is slow for all."""
    best: dict[str, Steps] = {}
    for _ in range(ROUNDS):
        for name, engine in engines.items():
            taken = _stepped(engine, portions) if isinstance(engine, Stepped) else _whole(engine, portions)
            if name not in best or taken.total < best[name].total:
                best[name] = taken
    return {name: steps.per(visits) for name, steps in best.items()}


def _whole(engine: Engine, portions: Sequence[Lists]) -> Steps:
    return Steps(sum(timed(partial(engine.match, held))[1] for held in portions))


def _stepped(engine: Stepped, portions: Sequence[Lists]) -> Steps:
    search = sort = evaluate = 0.0
    for held in portions:
        conjunctions, seconds = timed(partial(engine.search, held))
        search += seconds
        places, seconds = timed(partial(engine.sort, conjunctions))
        sort += seconds
        evaluate += timed(partial(engine.evaluate, places))[1]
    return Steps(search + sort + evaluate, search, sort, evaluate)
