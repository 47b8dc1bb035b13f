"""Figures 16 and 17 of the Yield-index paper: what it takes to build the index, and how large it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tocsin_lab.experiments.experiment import Run
from tocsin_lab.experiments.outcome import (
    PLOTTED_ONLY,
    Axis,
    Bar,
    Bars,
    Cell,
    Column,
    Outcome,
    Plot,
    Table,
)
from tocsin_lab.experiments.yield_cases import ABOUT, CASES, Case, yield_experiment
from tocsin_lab.yield_index import AAI, AMEM, FAI, FI, Built, Workload, build, build_with_tocsin

YI = "YI"
STRUCTURES = (FAI, AAI, AMEM, FI)

ABOUT_ENTRIES = (
    "The tuples under the keys of YI are its semantic entries, matching and waiting: one for each tuple and "
    "data index. A data index serves every relation that a variable joins, so it has the keys of all of "
    "them, each once."
)

ByCase = Mapping[Case, Mapping[str, Built]]


def by_case(run: Run) -> ByCase:
    """What every structure takes, for each data set."""
    run.progress.steps(len(CASES))
    found = {}
    for case in CASES:
        run.progress.step(case.name)
        found[case] = _built(case.make(run))
    return found


def _built(workload: Workload) -> dict[str, Built]:
    others = {each.name: build(workload.rule, workload.relations, each) for each in STRUCTURES}
    return {**others, YI: build_with_tocsin(workload)}


def measure_construction(run: Run) -> Outcome:
    """Figure 16: index accesses while everything is added."""
    found = by_case(run)
    names = [*(each.name for each in STRUCTURES), YI]
    rows: list[list[Cell]] = [
        [case.name, *(each[name].index_accesses for name in names), PLOTTED_ONLY]
        for case, each in found.items()
    ]
    columns = [Column("data"), *map(Column, names), Column("in the paper")]
    notes = [ABOUT, "Adding a tuple to one index or list is one access."]
    table = Table("Figure 16: index accesses during construction", columns, rows, notes)
    bars = {name: [each[name].index_accesses for each in found.values()] for name in names}
    return Outcome([table], [_plot("Figure 16: construction", "index accesses", found, bars)])


def measure_entries(run: Run) -> Outcome:
    """Figure 17: keys, and tuples under them."""
    found = by_case(run)
    names = [*(each.name for each in STRUCTURES), YI]
    rows: list[list[Cell]] = [
        [
            case.name,
            name,
            built.keys,
            built.entries,
            built.keys + built.entries,
            PLOTTED_ONLY,
        ]
        for case, each in found.items()
        for name, built in each.items()
    ]
    columns = [
        Column("data"),
        Column("structure"),
        Column("keys"),
        Column("tuples under them"),
        Column("entries"),
        Column("in the paper"),
    ]
    table = Table("Figure 17: number of index entries", columns, rows, [ABOUT, ABOUT_ENTRIES])
    bars = {name: [each[name].keys + each[name].entries for each in found.values()] for name in names}
    return Outcome([table], [_plot("Figure 17: size", "index entries", found, bars)])


def _plot(title: str, kind: str, found: ByCase, heights: Mapping[str, Sequence[int]]) -> Plot:
    panels = []
    for rule in ("UC", "CF", "RT"):
        places = [place for place, case in enumerate(found) if case.name.startswith(rule)]
        names = [case.name for case in found if case.name.startswith(rule)]
        bars = [Bar(name, [each[place] / 1_000 for place in places]) for name, each in heights.items()]
        panels.append(Bars(rule, "", Axis(kind, "thousands"), names, bars))
    return Plot(f"Yield index paper, {title}", panels)


FIGURE_16 = yield_experiment("Figure 16", "index accesses during construction", measure_construction)
FIGURE_17 = yield_experiment("Figure 17", "number of index entries", measure_entries)
