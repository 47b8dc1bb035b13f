"""Table 1 and Figures 12 to 15 of the Yield-index paper: index and tuple accesses of rule activation.

Table 1, Figures 12 and 13 activate for all stored tuples, Figures 14 and 15 for tuples that arrive when
all else is there. Every structure must give the same tuples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tocsin.errors import TocsinError
from tocsin_lab.experiments.experiment import Experiment, Run
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
from tocsin_lab.yield_index import (
    AAI,
    AMEM,
    FAI,
    FI,
    NO_INDEX,
    STRUCTURES,
    Counted,
    Workload,
    activate_all,
    activate_all_with_tocsin,
    activate_arrivals,
    activate_arrivals_with_tocsin,
    all_combinations,
)

YI = "YI"
COMPARED = (AAI.name, FI.name, YI)
"""The structures of the figures: the paper leaves out those that the others are based on."""

BY_FORMULA_FROM = 10**9
"""Accesses above which a count is a product of sizes: nobody would wait for them to be made."""

Counts = Mapping[str, Counted]
"""By structure."""


class Printed(NamedTuple):
    """A cell of Table 1, index and tuple accesses, as the paper prints it."""

    index_accesses: str
    tuple_accesses: str


PRINTED: Mapping[str, Mapping[str, Printed]] = {
    case: {structure: Printed(*cell) for structure, cell in zip(rows, cells, strict=True)}
    for rows in [(NO_INDEX.name, FAI.name, AAI.name, AMEM.name, FI.name, YI)]
    for case, cells in {
        "UCs": (
            ("0", "1.25E+14"),
            ("50,126", "1.19E+14"),
            ("55,277", "55,277"),
            ("0", "1.25E+14"),
            ("55,277", "55,277"),
            ("51,026", "1,026"),
        ),
        "UCl": (
            ("0", "1E+15"),
            ("108,327", "4.90E+13"),
            ("123,790", "123,790"),
            ("0", "1E+15"),
            ("123,790", "123,790"),
            ("108,327", "8,327"),
        ),
        "CFs": (
            ("0", "1.25E+14"),
            ("53,224", "52,183"),
            ("51,114", "51,115"),
            ("63,657", "6.80E+06"),
            ("73,756", "117"),
            ("50,086", "34"),
        ),
        "CFl": (
            ("0", "1E+15"),
            ("153,556", "145,428"),
            ("141,917", "131,786"),
            ("124,248", "2.48E+07"),
            ("174,248", "342"),
            ("100,268", "106"),
        ),
        "RTs": (
            ("0", "2.50E+09"),
            ("89,359", "65,994"),
            ("74,305", "63,294"),
            ("52,634", "1.32E+08"),
            ("79,355", "60,564"),
            ("52,634", "2,634"),
        ),
        "RTl": (
            ("0", "1E+10"),
            ("190,723", "147,498"),
            ("147,017", "132,743"),
            ("104,274", "4.27E+08"),
            ("160,715", "32,282"),
            ("104,274", "4,274"),
        ),
    }.items()
}
ABOUT_ROWS = (
    "All combinations: every combination of tuples is made before it is tested, as the paper's counts "
    "without an index are. No index: nested loops in the order of the body, each left as soon as an atom "
    f"does not fit. Counts above {BY_FORMULA_FROM:,} are products of sizes, marked *."
)
NOT_PRINTED = Printed("not in the paper", "not in the paper")


def stored_counts(workload: Workload) -> Counts:
    """Activation for all stored tuples, with each structure."""
    found = {each.name: activate_all(workload.rule, workload.relations, each) for each in STRUCTURES}
    return _agreeing(workload, {**found, YI: activate_all_with_tocsin(workload)})


def arriving_counts(workload: Workload) -> Counts:
    """Activation for the second half of the live relation, with each structure."""
    _, arriving = workload.halves()
    found = {
        each.name: activate_arrivals(workload.rule, workload.relations, each, workload.live, arriving)
        for each in STRUCTURES
    }
    return _agreeing(workload, {**found, YI: activate_arrivals_with_tocsin(workload)})


def by_case(run: Run, counts: Callable[[Workload], Counts]) -> dict[Case, tuple[Workload, Counts]]:
    """The counts of every data set."""
    run.progress.steps(len(CASES))
    found = {}
    for case in CASES:
        run.progress.step(case.name)
        workload = case.make(run)
        found[case] = workload, counts(workload)
    return found


def measure_table(run: Run) -> Outcome:
    """Table 1, and the same from every atom of a rule on."""
    found = by_case(run, stored_counts)
    columns = [
        Column("data"),
        Column("structure"),
        Column("index accesses"),
        Column("in the paper"),
        Column("tuple accesses"),
        Column("in the paper"),
        Column("answers"),
        Column("different tuples"),
    ]
    rows: list[list[Cell]] = []
    for case, (workload, counts) in found.items():
        combinations = all_combinations(workload.rule, workload.relations)
        printed = PRINTED.get(case.name, {})
        whole = printed.get(NO_INDEX.name, NOT_PRINTED)
        some = counts[YI]
        answers: list[Cell] = [some.assignments, len(some.heads)]
        rows.append(
            [
                case.name,
                "all combinations",
                0,
                whole.index_accesses,
                accesses(combinations),
                whole.tuple_accesses,
                *answers,
            ]
        )
        for name, counted in counts.items():
            words = NOT_PRINTED if name == NO_INDEX.name else printed.get(name, NOT_PRINTED)
            rows.append(
                [
                    case.name,
                    name,
                    accesses(counted.index_accesses),
                    words.index_accesses,
                    accesses(counted.tuple_accesses),
                    words.tuple_accesses,
                    *answers,
                ]
            )
    tables = [
        Table("Table 1: accesses of rule activation", columns, rows, [ABOUT, ABOUT_ROWS]),
        _starts_table(found),
    ]
    return Outcome(tables, [_plot(found, "Table 1", (FAI.name, *COMPARED), _tuples, "tuple accesses")])


def _starts_table(found: Mapping[Case, tuple[Workload, Counts]]) -> Table:
    """Tuple accesses by the body atom that activation starts from: which index is the right one depends
    on it.
    """
    rows: list[list[Cell]] = []
    for case, (workload, _) in found.items():
        for start, atom in enumerate(workload.rule.body if case.of_the_paper else ()):
            each = [
                accesses(activate_all(workload.rule, workload.relations, structure, start).tuple_accesses)
                for structure in (FAI, AAI, FI)
            ]
            rows.append([case.name, str(atom), *each])
    columns = [Column("data"), Column("from"), *map(Column, (FAI.name, AAI.name, FI.name))]
    notes = ["Which column has an index matters as soon as tuples of any relation arrive."]
    return Table("Tuple accesses, by the atom that activation starts from", columns, rows, notes, "starts")


def _index(counted: Counted) -> int:
    return counted.index_accesses


def _tuples(counted: Counted) -> int:
    return counted.tuple_accesses


Value = Callable[[Counted], int]


def measure_figure(run: Run, place: str, counts: Callable[[Workload], Counts], value: Value) -> Outcome:
    """Figures 12 to 15: one kind of access, of the structures that the paper compares."""
    found = by_case(run, counts)
    kind = "index accesses" if value is _index else "tuple accesses"
    columns = [
        Column("data"),
        *map(Column, COMPARED),
        *(Column(f"{YI} less than {other}", "%") for other in COMPARED if other != YI),
        Column("in the paper"),
    ]
    rows: list[list[Cell]] = []
    for case, (_, each) in found.items():
        numbers = {name: value(each[name]) for name in COMPARED}
        less = [_less(numbers[YI], numbers[other]) for other in COMPARED if other != YI]
        rows.append([case.name, *(accesses(number) for number in numbers.values()), *less, PLOTTED_ONLY])
    table = Table(f"{place}: {kind}", columns, rows, [ABOUT, IN_ITS_TEXT[place]])
    return Outcome([table], [_plot(found, place, COMPARED, value, kind)])


IN_ITS_TEXT = {
    "Figure 12": "In the paper's text YI has 2.1 to 67.8 % less than AAI and 7.7 to 70.5 % less than FI.",
    "Figure 13": "In the paper's text YI has an order of magnitude less on average; FI nearly as few in CF.",
    "Figure 14": "In the paper's text YI has 3.9 to 36.5 % less than AAI and 7.7 to 42.5 % less than FI. "
    "Half of near, friend and link arrive one by one; adding a tuple to an index is an access.",
    "Figure 15": "In the paper's text YI has 93.3 to 99.91 % less than AAI and 44.1 to 98.7 % less than FI. "
    "Half of near, friend and link arrive one by one; the tuple that arrives is not counted.",
}


def accesses(count: int) -> Cell:
    """A count, or in the paper's way and with a mark when it is a product of sizes."""
    return count if count <= BY_FORMULA_FROM else f"{count:.2E}*"


def _less(ours: int, theirs: int) -> float | None:
    return 100 * (theirs - ours) / theirs if theirs else None


def _plot(
    found: Mapping[Case, tuple[Workload, Counts]], place: str, names: Sequence[str], value: Value, kind: str
) -> Plot:
    """One panel for each rule, in thousands. A count of nothing has no bar."""
    panels = []
    for rule in ("UC", "CF", "RT"):
        cases = [case for case in found if case.name.startswith(rule)]
        bars = [Bar(name, [value(found[case][1][name]) / 1_000 or None for case in cases]) for name in names]
        up = Axis(kind, "thousands", log=True)
        panels.append(Bars(rule, "", up, [case.name for case in cases], bars, note="no bar: none at all"))
    return Plot(f"Yield index paper, {place}: {kind}", panels)


def _agreeing(workload: Workload, counts: Counts) -> Counts:
    judge = counts[NO_INDEX.name].heads
    for name, counted in counts.items():
        if not np.array_equal(counted.heads, judge):
            raise TocsinError(
                f"{name} and {NO_INDEX.name} differ on {workload.name}: {len(counted.heads):,} and "
                f"{len(judge):,} tuples"
            )
    return counts


def _figure(place: str, shows: str, counts: Callable[[Workload], Counts], value: Value) -> Experiment:
    return yield_experiment(place, shows, lambda run: measure_figure(run, place, counts, value))


TABLE_1 = yield_experiment(
    "Table 1", "index and tuple accesses of rule activation, by index structure", measure_table
)
FIGURE_12 = _figure("Figure 12", "index accesses, stored tuples", stored_counts, _index)
FIGURE_13 = _figure("Figure 13", "tuple accesses, stored tuples", stored_counts, _tuples)
FIGURE_14 = _figure("Figure 14", "index accesses, arriving tuples", arriving_counts, _index)
FIGURE_15 = _figure("Figure 15", "tuple accesses, arriving tuples", arriving_counts, _tuples)
