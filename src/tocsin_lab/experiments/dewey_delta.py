"""Section 2.2 of the first paper says that updates are kept in small delta indexes: what these cost a visit.

Unlike in the paper's other experiments, rules come through tocsin.build and are changed as users change them.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.conditions.live import Index
from tocsin.conditions.matching import MATCH_SCHEMA
from tocsin.engines.build import build
from tocsin.errors import TocsinError
from tocsin_lab.contracts import STANDARD, ContractSetting, make_contracts, rows_of, rules_of, table_of
from tocsin_lab.experiments.clocks import interleaved, machine_note, timed
from tocsin_lab.experiments.dewey_engines import ROUNDS, visits_of
from tocsin_lab.experiments.experiment import Experiment, Paper, Run
from tocsin_lab.experiments.outcome import Axis, Cell, Column, Line, Lines, Outcome, Plot, Table

RULES = 100_000
FEWEST = 1_000
DEPTH = 2
SHARES = (0.0, 0.01, 0.1)
"""The parts of the rules that are replaced, each by a rule with the same condition; none is a fresh build."""

CHANGES = 20
"""In so many goes, with a match after each, as the delta would grow in use."""

ENGINES = ("interval", "dewey", "atree")

Place = tuple[float, str]
"""A share and an engine."""


def measure_delta(run: Run) -> Outcome:
    """Matching with some rules in the delta, and folding it in."""
    count = run.sized(RULES, fewest=FEWEST)
    run.progress.steps(len(SHARES) * len(run.engines) + 1)
    run.progress.step("rules")
    rules = rules_of(
        make_contracts(ContractSetting(contracts=count, max_depth=DEPTH, seed=run.seed)), STANDARD
    )
    visits = visits_of(run)
    events, table = rows_of(visits), table_of(visits)
    made: dict[Place, tuple[Index, float]] = {}
    for share in SHARES:
        for engine in run.engines:
            run.progress.step(f"{engine} with {share:.0%} in the delta")
            made[share, engine] = _changed(build(rules, engine), rules, share, events[0])
    _hold(made, table)
    single = interleaved(
        {place: partial(_each, index, events) for place, (index, _) in made.items()}, ROUNDS, len(events)
    )
    whole = interleaved(
        {
            place: partial(index.match_table, table, count=True, threads=1)
            for place, (index, _) in made.items()
        },
        ROUNDS,
        len(events),
    )
    rows: list[list[Cell]] = []
    for place, (index, changing) in made.items():
        layers, waiting = len(index.version.layers), index.stats().waiting
        folding = timed(index.compact)[1] if waiting else 0.0
        times = [1_000 * single[place].best, 1_000 * whole[place].best]
        rows.append([f"{place[0]:.0%}", place[1], waiting, layers, *times, 1e6 * changing, folding])
    _hold(made, table)
    lines = [
        Line(
            engine,
            [(100 * share, 1_000 * single[share, engine].best) for share in SHARES],
            slowest=[1_000 * single[share, engine].slowest for share in SHARES],
        )
        for engine in run.engines
    ]
    panel = Lines("one visit at a time", Axis("rules replaced", "%"), Axis("matching a visit", "ms"), lines)
    title = "Deltas: matching with replaced rules beside the main index"
    columns = [
        Column("replaced"),
        Column("engine"),
        Column("rules in the delta"),
        Column("layers"),
        Column("one visit", "ms"),
        Column("a visit of a table", "ms"),
        Column("a change", "µs"),
        Column("folding", "s"),
    ]
    notes = [
        f"{count:,} rules of depth {DEPTH}, {len(events):,} visits. The paper has no figures for deltas.",
        "Every engine's matches were those of a fresh build, with the delta and after it was folded in.",
        machine_note(),
    ]
    return Outcome([Table(title, columns, rows)], [Plot(f"Dewey paper, {title}", [panel])], notes)


def _changed(index: Index, rules: pa.Table, share: float, event: Mapping[str, Any]) -> tuple[Index, float]:
    """The index when so many rules have been replaced, and the seconds that a change took."""
    chosen = rules.take(np.linspace(0, len(rules) - 1, round(share * len(rules))).astype(np.int64))
    operations = [("replace", *each) for each in zip(*chosen.to_pydict().values(), strict=True)]
    seconds = 0.0
    for portion in np.array_split(np.arange(len(operations)), CHANGES):
        seconds += timed(partial(index.apply, [operations[place] for place in portion]))[1]
        index.match(event)
    for thread in threading.enumerate():
        if thread.name == "tocsin-upkeep":
            thread.join()
    return index, seconds / len(operations) if operations else 0.0


def _each(index: Index, events: Sequence[Mapping[str, Any]]) -> None:
    for event in events:
        index.match(event)


def _hold(made: Mapping[Place, tuple[Index, float]], table: pa.Table) -> None:
    """TocsinError unless all give the same matches; replaced rules stand behind the others."""
    order = [("event", "ascending"), ("rule", "ascending")]
    judge: pa.Table | None = None
    for (share, engine), (index, _) in made.items():
        found: Any = index.match_table(table)
        ordered = found.select(["event", "rule"]).cast(MATCH_SCHEMA.remove(2)).sort_by(order)
        if judge is not None and not ordered.equals(judge):
            raise TocsinError(f"the engine {engine} is wrong with {share:.0%} of the rules replaced")
        judge = ordered


DELTA = Experiment(
    name="dewey-delta",
    paper=Paper.DEWEY,
    place="Section 2",
    shows="matching with 1 % and 10 % of the rules replaced since the index was built",
    size=f"{RULES:,} rules",
    scale=0.3,
    lasts="1 min",
    engines=ENGINES,
    measure=measure_delta,
)
