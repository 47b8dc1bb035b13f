"""Sections 5.4 and 5.5 of the first paper: number of expressions, and selectivity. Table 4, Figures 12-14."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from tocsin_lab.contracts import (
    ContractSetting,
    contracts_of_selectivity,
    selectivity,
    taken,
)
from tocsin_lab.experiments.clocks import machine_note
from tocsin_lab.experiments.dewey_engines import Reading, Workload, readings, visits_of
from tocsin_lab.experiments.dewey_tables import (
    ByPlace,
    cell,
    evaluation_figure,
    lines,
    megabytes,
    refusals,
    total_figure,
)
from tocsin_lab.experiments.experiment import Experiment, Paper, Run
from tocsin_lab.experiments.outcome import Axis, Cell, Column, Line, Outcome, Plot, Table

SIZES = (10_000, 20_000, 50_000, 100_000, 150_000)
SIZE_DEPTH = 2
SIZE_SELECTIVITY = 0.5
MEMORY_IN_THE_PAPER = ("1.1", "2.0", "4.7", "9.1", "14")

SELECTIVITIES = (0.01, 0.025, 0.05, 0.1, 0.15)
"""The paper's are plotted only. Expressions of depth 3 as they are drawn match some 17 % of the visits."""
SELECTIVITY_EXPRESSIONS = 100_000
SELECTIVITY_DEPTH = 3
NARROW = {6: 1.0}
"""Sizes of conjunctions that seldom hold."""

LABELLED = ("dewey", "interval")
FEWEST = 1_000
"""With fewer expressions the selectivity of what is drawn may be below the one that is asked for."""

EXPRESSIONS = Axis("expressions")
SELECTIVITY = Axis("selectivity", "%")


def by_size(run: Run, *, is_timed: bool) -> tuple[ByPlace, list[float]]:
    """The readings for each size, and its selectivity: smaller sizes are the first of the largest."""
    run.progress.steps(len(SIZES) + 1)
    run.progress.step("expressions")
    sizes = [run.sized(size, fewest=FEWEST * size // SIZES[0]) for size in SIZES]
    setting = ContractSetting(contracts=sizes[-1], max_depth=SIZE_DEPTH, seed=run.seed)
    visits = visits_of(run, is_timed=is_timed)
    whole = contracts_of_selectivity(setting, visits, SIZE_SELECTIVITY)
    found, shares = {}, []
    for size in sizes:
        run.progress.step(f"{size:,} expressions")
        workload = Workload(taken(whole, np.arange(size)), visits)
        shares.append(selectivity(*workload))
        found[float(size)] = readings(workload, run.engines, is_timed=is_timed)
    return found, shares


def by_selectivity(run: Run, sizes_of_others: Mapping[int, float] | None) -> ByPlace:
    """The readings for each selectivity, in percent.

    The expressions that match nothing have conjunctions of these sizes; of the same as the others if None.
    """
    count = run.sized(SELECTIVITY_EXPRESSIONS, fewest=FEWEST)
    setting = ContractSetting(contracts=count, max_depth=SELECTIVITY_DEPTH, seed=run.seed)
    others = None if sizes_of_others is None else replace(setting, sizes=sizes_of_others)
    visits = visits_of(run)
    found = {}
    for share in SELECTIVITIES:
        run.progress.step(f"selectivity {share:.1%}")
        contracts = contracts_of_selectivity(setting, visits, share, others)
        found[100 * share] = readings(Workload(contracts, visits), run.engines)
    return found


def measure_memory(run: Run) -> Outcome:
    """Table 4."""
    found, _ = by_size(run, is_timed=False)
    columns = [
        Column("expressions"),
        *(Column(name, "MB") for name in run.engines),
        *(Column(f"{name} an expression", "bytes") for name in run.engines),
        Column("expressions in the paper"),
        Column("dewey and interval in the paper", "MB"),
    ]
    rows: list[list[Cell]] = []
    for (place, each), size, paper in zip(found.items(), SIZES, MEMORY_IN_THE_PAPER, strict=True):
        own = [cell(each[name], megabytes) for name in run.engines]
        an_expression = [cell(each[name], partial(_bytes_each, place)) for name in run.engines]
        rows.append([int(place), *own, *an_expression, f"{size:,}", paper])
    table = Table("Table 4: memory by number of expressions", columns, rows, refusals("expressions", found))
    named = {name: (name, megabytes) for name in run.engines}
    panel = lines("memory", EXPRESSIONS, Axis("memory", "MB"), found, named)
    printed = Line("the paper", list(zip(SIZES, map(float, MEMORY_IN_THE_PAPER), strict=True)))
    panel = replace(panel, lines=[*panel.lines, printed])
    plot = Plot("Dewey paper, Table 4: memory by expressions", [panel])
    return Outcome([table], [plot], [f"Expressions of depth {SIZE_DEPTH}."])


def measure_total(run: Run) -> Outcome:
    """Figure 12."""
    found, shares = by_size(run, is_timed=True)
    title = "Figure 12: matching a visit, by expressions"
    table, panels = total_figure(title, EXPRESSIONS, found, run.engines)
    return Outcome([table], [Plot(f"Dewey paper, {title}", panels)], _size_notes(run, shares))


def measure_evaluation(run: Run) -> Outcome:
    """Figure 13."""
    found, shares = by_size(run, is_timed=True)
    title = "Figure 13: evaluation alone, by expressions"
    table, panel = evaluation_figure(title, EXPRESSIONS, found, run.engines)
    return Outcome([table], [Plot("Dewey paper, Figure 13: evaluation", [panel])], _size_notes(run, shares))


def measure_selectivity(run: Run) -> Outcome:
    """Figure 14, in two ways: the paper does not say what its expressions that match nothing are like."""
    run.progress.steps(2 * len(SELECTIVITIES))
    title = "Figure 14: evaluation alone, by selectivity"
    tables, panels = [], []
    for name, sizes in (("alike", None), ("narrow", NARROW)):
        found = by_selectivity(run, sizes)
        table, panel = evaluation_figure(
            f"{title}; those added are {name}", SELECTIVITY, found, run.engines, name
        )
        tables.append(table)
        panels.append(panel)
    count = run.sized(SELECTIVITY_EXPRESSIONS, fewest=FEWEST)
    size = f"{count:,} expressions of depth {SELECTIVITY_DEPTH}, {visits_of(run).size:,} visits."
    added = (
        "Expressions that match none of the visits are added until the selectivity is right: drawn alike, or "
        "narrow ones, with six predicates in each conjunction."
    )
    return Outcome(tables, [Plot(f"Dewey paper, {title}", panels)], [size, added, machine_note()])


def _bytes_each(expressions: float, reading: Reading) -> float | None:
    return None if reading.bytes is None else reading.bytes / expressions


def _size_notes(run: Run, shares: list[float]) -> list[str]:
    drawn = (
        f"Expressions of depth {SIZE_DEPTH}, {visits_of(run).size:,} visits. Of the most expressions a visit "
        f"matches {SIZE_SELECTIVITY:.0%}; fewer ones are the first of these."
    )
    return [drawn, f"Selectivities: {', '.join(f'{share:.1%}' for share in shares)}.", machine_note()]


def _experiment(
    place: str, shows: str, size: str, scale: float, lasts: str, measure: Callable[[Run], Outcome]
) -> Experiment:
    return Experiment(
        name=f"dewey-{place.lower().replace(' ', '')}",
        paper=Paper.DEWEY,
        place=place,
        shows=shows,
        size=size,
        scale=scale,
        lasts=lasts,
        engines=LABELLED,
        measure=measure,
    )


_SIZES = f"{SIZES[0]:,} to {SIZES[-1]:,} expressions"
_SELECTIVITY_SIZE = f"some {SELECTIVITY_EXPRESSIONS:,} expressions"
TABLE_4 = _experiment("Table 4", "memory, by number of expressions", _SIZES, 1.0, "30 s", measure_memory)
FIGURE_12 = _experiment(
    "Figure 12",
    "index search, sorting and total time, by number of expressions",
    _SIZES,
    0.3,
    "40 s",
    measure_total,
)
FIGURE_13 = _experiment(
    "Figure 13", "evaluation alone, by number of expressions", _SIZES, 0.3, "40 s", measure_evaluation
)
FIGURE_14 = _experiment(
    "Figure 14", "evaluation alone, by selectivity", _SELECTIVITY_SIZE, 0.1, "40 s", measure_selectivity
)
