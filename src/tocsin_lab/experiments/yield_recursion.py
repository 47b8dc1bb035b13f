"""Figures 18 and 19 of the Yield-index paper: the closure of RG, beside semi-naive evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from tocsin.datalog.machine import ClosureGraph
from tocsin.errors import TocsinError
from tocsin_lab.experiments.clocks import Seconds, interleaved, machine_note
from tocsin_lab.experiments.experiment import Run
from tocsin_lab.experiments.outcome import PLOTTED_ONLY, Axis, Cell, Column, Line, Lines, Outcome, Plot, Table
from tocsin_lab.experiments.yield_cases import yield_experiment
from tocsin_lab.yield_index import SemiNaive, directed_graph, semi_naive_closure
from tocsin_lab.yield_index.semi_naive_closure import entries_passed
from tocsin_lab.yield_index.yield_workloads import RG_SOURCES, RG_VERTICES, Rows

ARCS = {"RG1": 6_000, "RG2": 8_000, "RG3": 10_000, "RG4": 12_000, "RG5": 15_000}
SIZE = f"{ARCS['RG1']:,} to {ARCS['RG5']:,} arcs between {RG_VERTICES:,} vertices"
ROUNDS = 5

YI, YI_PAIRS, SEMI_NAIVE = "YI", "YI, pairs written out", "semi-naive"


ABOUT_TIME = (
    "In the paper's text: 1,506 to 4,115 times faster. Semi-naive evaluation is done by NumPy here, a round "
    "at a time on sorted arrays; YI is the implicit closure, which answers with no pair written out."
)


class Read(NamedTuple):
    """What is known of one graph. Times are seconds."""

    arcs: Rows
    judge: SemiNaive
    entries: Mapping[str, int]
    seconds: Mapping[str, Seconds]


def by_graph(run: Run, *, is_timed: bool) -> dict[str, Read]:
    """Both ways on each graph; TocsinError if they differ."""
    run.progress.steps(len(ARCS))
    found = {}
    for name, count in ARCS.items():
        run.progress.step(name)
        vertices = run.sized(RG_VERTICES, fewest=30)
        sources = run.sized(RG_SOURCES, fewest=10)
        arcs = directed_graph(run.sized(count, fewest=60), vertices, sources, run.seed).relations["arc"]
        found[name] = _read(arcs, is_timed=is_timed)
    return found


def _read(arcs: Rows, *, is_timed: bool) -> Read:
    judge = semi_naive_closure(arcs)
    graph = closure(arcs)
    pairs = graph.pairs()
    if not np.array_equal(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))], judge.paths):
        raise TocsinError(f"closures differ: {len(pairs):,} and {len(judge.paths):,} pairs")
    entries = closure_entries(graph, len(arcs))
    works: dict[str, Callable[[], object]] = {
        YI: lambda: closure(arcs).now.condensation,
        YI_PAIRS: lambda: closure(arcs).pairs(),
        SEMI_NAIVE: lambda: semi_naive_closure(arcs),
    }
    seconds = interleaved(works, ROUNDS if is_timed else 0) if is_timed else {}
    return Read(
        arcs,
        judge,
        {YI: entries, YI_PAIRS: entries + len(pairs), SEMI_NAIVE: judge.entry_accesses},
        seconds,
    )


def closure(arcs: Rows) -> ClosureGraph:
    """The closure, implicit: from the arcs to a graph that answers."""
    graph = ClosureGraph()
    graph.insert(arcs)
    return graph


def closure_entries(graph: ClosureGraph, arcs: int) -> int:
    """Index entries that the implicit closure looks at.

    Each arc is added to an ordered index, is followed once to find the components and once to see which
    components it joins; each arc between components is followed once to say what reaches what.
    """
    between = int(graph.now.condensation.next_start[-1])
    return arcs * entries_passed(arcs) + 2 * arcs + between


def measure_entries(run: Run) -> Outcome:
    """Figure 18: index entry accesses."""
    found = by_graph(run, is_timed=False)
    names = (YI, YI_PAIRS, SEMI_NAIVE)
    rows: list[list[Cell]] = [
        [
            name,
            len(read.arcs),
            len(read.judge.paths),
            read.judge.derived,
            *(read.entries[each] for each in names),
            read.entries[SEMI_NAIVE] / read.entries[YI],
            PLOTTED_ONLY,
        ]
        for name, read in found.items()
    ]
    columns = [
        Column("graph"),
        Column("arcs"),
        Column("pairs"),
        Column("derivations"),
        *map(Column, names),
        Column("times fewer"),
        Column("in the paper"),
    ]
    notes = ["In the paper's text: two orders of magnitude fewer, on average."]
    table = Table("Figure 18: index entry accesses of the closure", columns, rows, notes)
    return Outcome([table], [_plot("Figure 18", Axis("index entry accesses", log=True), found, "entries")])


def measure_time(run: Run) -> Outcome:
    """Figure 19: running time."""
    found = by_graph(run, is_timed=True)
    names = (YI, YI_PAIRS, SEMI_NAIVE)
    rows: list[list[Cell]] = [
        [
            name,
            len(read.arcs),
            len(read.judge.paths),
            *(1_000 * read.seconds[each].best for each in names),
            max(each.slowest / each.best for each in read.seconds.values()),
            read.seconds[SEMI_NAIVE].best / read.seconds[YI].best,
            read.seconds[SEMI_NAIVE].best / read.seconds[YI_PAIRS].best,
            PLOTTED_ONLY,
        ]
        for name, read in found.items()
    ]
    columns = [
        Column("graph"),
        Column("arcs"),
        Column("pairs"),
        *(Column(name, "ms") for name in names),
        Column("slowest to best round, at most", "times"),
        Column("times faster"),
        Column("times faster with pairs"),
        Column("in the paper"),
    ]
    table = Table("Figure 19: running time of the closure", columns, rows, [ABOUT_TIME])
    plot = _plot("Figure 19", Axis("running time", "ms", log=True), found, "milliseconds")
    return Outcome([table], [plot], [machine_note()])


def _plot(place: str, up: Axis, found: Mapping[str, Read], kind: str) -> Plot:
    def value(read: Read, name: str) -> float:
        return read.entries[name] if kind == "entries" else 1_000 * read.seconds[name].best

    lines = [
        Line(
            name,
            [(len(read.arcs), value(read, name)) for read in found.values()],
            slowest=[1_000 * read.seconds[name].slowest for read in found.values() if read.seconds],
        )
        for name in (YI, YI_PAIRS, SEMI_NAIVE)
    ]
    return Plot(f"Yield index paper, {place}: closure of RG", [Lines("closure", Axis("arcs"), up, lines)])


FIGURE_18 = yield_experiment(
    "Figure 18", "entry accesses of a closure, beside semi-naive", measure_entries, SIZE
)
FIGURE_19 = yield_experiment("Figure 19", "running time of a closure, beside semi-naive", measure_time, SIZE)
