"""Engines on contracts: built of their expressions, held to one answer, and timed step by step.

They do not come through the door that rules come through, which would make one of an AND below an AND,
and so other trees than the paper's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from tocsin.arrays.lists import Lists
from tocsin.engines import BUILDERS, Engine, RefusedRules
from tocsin.errors import TocsinError, UsageError
from tocsin_lab.contracts import (
    STANDARD,
    Contracts,
    Visits,
    expressions_of,
    held_literals,
    make_visits,
    matching,
    taken,
)
from tocsin_lab.contracts.truth import matches_of_visits
from tocsin_lab.experiments.clocks import timed
from tocsin_lab.experiments.experiment import Run

VISITS = 2_000
FEWEST_VISITS = 200
"""As many as the paper's queries at scale 1; fewer leave time for more expressions at a small scale."""

UNTIMED_VISITS = 50
"""To see that the answers are right when only memory is asked for."""

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
    """What is read off an engine, on the contracts that it took.

    `why` tells how many it refused and the reason; if these are all, there is nothing else. `steps` are those
    of the best round.
    """

    why: str = ""
    bytes: int | None = None
    steps: Steps | None = None
    slowest: Steps | None = None


class Workload(NamedTuple):
    """Contracts and the visits that they are to be matched with."""

    contracts: Contracts
    visits: Visits


def visits_of(run: Run, *, is_timed: bool = True) -> Visits:
    """The visits of a run."""
    count = run.sized(VISITS, fewest=FEWEST_VISITS) if is_timed else UNTIMED_VISITS
    return make_visits(count, seed=run.seed)


class _Built(NamedTuple):
    """An engine, the contracts that it took, and the literals that hold in some visits at a time."""

    engine: Engine
    contracts: Contracts
    portions: list[Lists]


def readings(workload: Workload, engines: Sequence[str], *, is_timed: bool = True) -> dict[str, Reading]:
    """Build the engines, hold them to what the contracts mean, and time them if asked to.

    TocsinError when one gives a wrong answer.
    """
    built: dict[str, _Built] = {}
    why: dict[str, str] = {}
    for name in engines:
        found, why[name] = _built(name, workload)
        if found is not None:
            hold_to_meaning(name, found, workload.visits)
            built[name] = found
    steps = _times(built, workload.visits.size) if is_timed else {}
    return {
        name: Reading(
            why[name],
            sum(built[name].engine.bytes_of_parts().values()) if name in built else None,
            *steps.get(name, (None, None)),
        )
        for name in engines
    }


def hold_to_meaning(name: str, built: _Built, visits: Visits) -> None:
    """Compare what an engine finds with what NumPy finds without any; TocsinError names a difference."""
    counts = matches_of_visits(built.contracts, visits)
    few = Visits(visits.attributes, visits.value[:VISITS_COMPARED])
    expected = [np.flatnonzero(column) for column in matching(built.contracts, few).T]
    visit = 0
    for portion in built.portions:
        found = built.engine.match(portion)
        for begin, end in pairwise(found.start.tolist()):
            rules = found.item[begin:end]
            right = len(rules) == counts[visit]
            if visit < len(expected):
                right = np.array_equal(rules, expected[visit])
            if not right:
                raise TocsinError(f"the engine {name} is wrong about the matches of visit {visit}")
            visit += 1


def _built(name: str, workload: Workload) -> tuple[_Built | None, str]:
    """The engine without the contracts that it refuses, and how many these are and why."""
    if name not in BUILDERS:
        raise UsageError(f"contracts are not for {name}: choose from {', '.join(BUILDERS)}")
    contracts, visits = workload
    reasons: Counter[str] = Counter()
    while contracts[0].size:
        expressions = expressions_of(contracts, STANDARD)
        try:
            engine = BUILDERS[name](expressions)
        except RefusedRules as error:
            reasons.update(error.reasons.values())
            contracts = taken(contracts, np.delete(np.arange(contracts[0].size), list(error.reasons)))
            continue
        leaves = sum(int((np.diff(level.predicate_start) > 0).sum()) for level in contracts)
        held = held_literals(visits, expressions.literals)
        portions = _portions(held, max(1, PLACES_AT_ONCE // leaves))
        return _Built(engine, contracts, portions), _told(reasons, workload)
    return None, _told(reasons, workload)


def _told(reasons: Counter[str], workload: Workload) -> str:
    if not reasons:
        return ""
    why = "; ".join(reason for reason, _ in reasons.most_common())
    return f"refused {reasons.total():,} of {workload.contracts[0].size:,}: {why}"


def _portions(held: Lists, visits: int) -> list[Lists]:
    count = len(held.start) - 1
    portions = []
    for first in range(0, count, visits):
        start = held.start[first : min(first + visits, count) + 1]
        portions.append(Lists(start - start[0], held.item[start[0] : start[-1]]))
    return portions


def _times(built: Mapping[str, _Built], visits: int) -> dict[str, tuple[Steps, Steps]]:
    """The best round of each and the slowest; a round does all, so that a slow while is slow for all."""
    rounds: dict[str, list[Steps]] = {name: [] for name in built}
    for _ in range(ROUNDS):
        for name, (engine, _, portions) in built.items():
            spent = _stepped(engine, portions) if isinstance(engine, Stepped) else _whole(engine, portions)
            rounds[name].append(spent)
    return {
        name: (min(each, key=lambda steps: steps.total).per(visits), _slowest(each).per(visits))
        for name, each in rounds.items()
    }


def _slowest(rounds: Sequence[Steps]) -> Steps:
    """Of each step, and of all of them together, the slowest."""
    total, *single = zip(*rounds, strict=True)
    return Steps(max(total), *(None if each[0] is None else max(each) for each in single))


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
