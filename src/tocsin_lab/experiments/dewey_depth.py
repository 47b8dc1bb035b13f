"""Section 5.3 of the first paper: depth. Tables 2 and 3, Figures 8 to 11.

Expressions of depth d are trees whose leaves are all at depth d, counted from the top AND: the paper's
generator makes no others, as no node of it has 0 children before the greatest depth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from tocsin_lab.contracts import Contracts, ContractSetting, make_contracts, make_visits, selectivity
from tocsin_lab.experiments.clocks import machine_note
from tocsin_lab.experiments.dewey_engines import VISITS, Workload, readings, visits_of
from tocsin_lab.experiments.dewey_tables import (
    MATCHING,
    ByPlace,
    bars,
    cell,
    evaluation_figure,
    lines,
    megabytes,
    refusals,
    steps_table,
    total_figure,
)
from tocsin_lab.experiments.experiment import Experiment, Paper, Run
from tocsin_lab.experiments.outcome import Axis, Bar, Bars, Cell, Column, Line, Lines, Outcome, Plot, Table

EXPRESSIONS = 200_000
"""The paper does not say how many. It says more than in section 5.4, so more than 150,000; and Table 2 has
18 MB for depth 2, which is what Table 4 comes to for 200,000."""

DEPTHS = (1, 2, 3, 4)
DEPTH = Axis("depth")

MEMORY_IN_THE_PAPER = {
    "dewey": ("9.5", "18", "35", "70"),
    "interval": ("9.5", "18", "35", "70"),
    "dnf": ("55", "501", "NA", "NA"),
    "scan-conj": ("373", "854", "NA", "NA"),
    "scan": ("364", "836", "NA", "NA"),
}
SELECTIVITY_IN_THE_PAPER = ("22.85", "57.97", "10.97", "49.23")

ALL_ENGINES = ("dewey", "interval", "dnf", "scan-conj", "scan")
WITHOUT_SCANS = ALL_ENGINES[:3]
LABELLED = ALL_ENGINES[:2]


def contracts_of(run: Run, depth: int) -> Contracts:
    """Contracts of one depth."""
    return make_contracts(ContractSetting(contracts=run.sized(EXPRESSIONS), max_depth=depth, seed=run.seed))


def by_depth(run: Run, depths: Sequence[int], *, is_timed: bool = True) -> ByPlace:
    """The readings of the run's engines."""
    run.progress.steps(len(depths))
    found = {}
    visits = visits_of(run, is_timed=is_timed)
    for depth in depths:
        run.progress.step(f"depth {depth}")
        workload = Workload(contracts_of(run, depth), visits)
        found[float(depth)] = readings(workload, run.engines, is_timed=is_timed)
    return found


def measure_memory(run: Run) -> Outcome:
    """Table 2."""
    found = by_depth(run, DEPTHS, is_timed=False)
    columns = [Column("depth")]
    for name in run.engines:
        columns += [Column(name, "MB"), Column(f"{name} in the paper", "MB")]
    rows: list[list[Cell]] = []
    for place, each in found.items():
        row: list[Cell] = [place]
        for name in run.engines:
            paper = MEMORY_IN_THE_PAPER.get(name, ("not measured",) * len(DEPTHS))
            row += [cell(each[name], megabytes), paper[DEPTHS.index(int(place))]]
        rows.append(row)
    table = Table("Table 2: memory by depth", columns, rows, refusals("depth", found))
    up = Axis("memory", "MB", log=True)
    ours = lines("ours", DEPTH, up, found, {name: (name, megabytes) for name in run.engines})
    printed = [
        Line(name, [(depth, float(cell)) for depth, cell in zip(DEPTHS, cells, strict=True) if cell != "NA"])
        for name, cells in MEMORY_IN_THE_PAPER.items()
        if name in run.engines
    ]
    title = f"Dewey paper, Table 2: memory by depth, {run.sized(EXPRESSIONS):,} expressions and the paper's"
    plot = Plot(title, [ours, Lines("the paper's", DEPTH, up, printed)])
    return Outcome([table], [plot], [f"{_expressions(run)}."])


def measure_selectivity(run: Run) -> Outcome:
    """Table 3. Nothing is timed, so visits are as many as in the paper at any scale."""
    run.progress.steps(len(DEPTHS))
    visits = make_visits(VISITS, seed=run.seed)
    rows: list[list[Cell]] = []
    ours: list[float] = []
    for depth, paper in zip(DEPTHS, SELECTIVITY_IN_THE_PAPER, strict=True):
        run.progress.step(f"depth {depth}")
        share = 100 * selectivity(contracts_of(run, depth), visits)
        rows.append([depth, f"{share:.2f}", paper])
        ours.append(share)
    columns = [Column("depth"), Column("selectivity", "%"), Column("in the paper", "%")]
    notes = [
        f"{_expressions(run)}, {VISITS:,} visits.",
        "The statistics of contracts and visits are ours; the paper's are not public.",
    ]
    title = "Table 3: expressions that match a visit"
    panel = Bars(
        "selectivity",
        "depth",
        Axis("selectivity", "%"),
        [str(depth) for depth in DEPTHS],
        [Bar("ours", ours), Bar("the paper", [float(each) for each in SELECTIVITY_IN_THE_PAPER])],
    )
    return Outcome([Table(title, columns, rows)], [Plot(f"Dewey paper, {title}", [panel])], notes)


def measure_all(place: str, run: Run) -> Outcome:
    """Figures 8 and 9, which differ in the engines."""
    found = by_depth(run, DEPTHS[:2])
    title = f"{place}: matching a visit, by depth"
    table = steps_table(title, Column("depth"), found, run.engines)
    up = Axis(MATCHING.label, MATCHING.unit, log="scan" in run.engines)
    plot = Plot(f"Dewey paper, {title}", [bars("total", "depth", up, found, run.engines)])
    return Outcome([table], [plot], _timed_notes(run))


def measure_total(run: Run) -> Outcome:
    """Figure 10."""
    found = by_depth(run, DEPTHS)
    title = "Figure 10: matching a visit, by depth"
    table, panels = total_figure(title, DEPTH, found, run.engines)
    return Outcome([table], [Plot(f"Dewey paper, {title}", panels)], _timed_notes(run))


def measure_evaluation(run: Run) -> Outcome:
    """Figure 11."""
    found = by_depth(run, DEPTHS)
    title = "Figure 11: evaluation alone, by depth"
    table, panel = evaluation_figure(title, DEPTH, found, run.engines)
    return Outcome([table], [Plot("Dewey paper, Figure 11: evaluation", [panel])], _timed_notes(run))


def _expressions(run: Run) -> str:
    return f"{run.sized(EXPRESSIONS):,} expressions of each depth"


def _timed_notes(run: Run) -> list[str]:
    how = (
        "Times are per visit, from the predicates that hold to the expressions that match. "
        "Every engine's matches were right."
    )
    return [f"{_expressions(run)}, {visits_of(run).size:,} visits.", how, machine_note()]


def _experiment(
    place: str,
    shows: str,
    scale: float,
    lasts: str,
    engines: tuple[str, ...],
    measure: Callable[[Run], Outcome],
) -> Experiment:
    return Experiment(
        name=f"dewey-{place.lower().replace(' ', '')}",
        paper=Paper.DEWEY,
        place=place,
        shows=shows,
        size=f"some {EXPRESSIONS:,} expressions a depth",
        scale=scale,
        lasts=lasts,
        engines=engines,
        measure=measure,
    )


TABLE_2 = _experiment("Table 2", "memory of every engine, by depth", 0.1, "30 s", ALL_ENGINES, measure_memory)
TABLE_3 = _experiment(
    "Table 3", "how many expressions match a visit, by depth", 0.2, "5 s", (), measure_selectivity
)
FIGURE_8 = _experiment(
    "Figure 8",
    "matching time of every engine, depths 1 and 2",
    0.1,
    "30 s",
    ALL_ENGINES,
    partial(measure_all, "Figure 8"),
)
FIGURE_9 = _experiment(
    "Figure 9", "the same without the scans", 0.2, "30 s", WITHOUT_SCANS, partial(measure_all, "Figure 9")
)
FIGURE_10 = _experiment(
    "Figure 10", "index search, sorting and total time, by depth", 0.15, "30 s", LABELLED, measure_total
)
FIGURE_11 = _experiment("Figure 11", "evaluation alone, by depth", 0.15, "30 s", LABELLED, measure_evaluation)
