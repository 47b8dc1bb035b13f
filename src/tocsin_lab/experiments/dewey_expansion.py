"""Figure 7 of the first paper: how an expression grows when it is translated to DNF.

Counted, not made: an OR has the conjunctions of its children, an AND one for each choice of one from
each child. Nothing is merged, absorbed or refused, so the depth where an engine gives up shows too.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Doubles
from tocsin_lab.contracts import Contracts, ContractSetting, make_contracts
from tocsin_lab.experiments.experiment import Experiment, Paper, Run
from tocsin_lab.experiments.outcome import PLOTTED_ONLY, Axis, Bar, Bars, Cell, Column, Outcome, Plot, Table

EXPRESSIONS = 20
DEPTHS = (1, 2, 3, 4)
BYTES_OF_PREDICATE = 4
BYTES_OF_CONJUNCTION = 4

Floats = Doubles


def expansions(contracts: Contracts) -> tuple[Floats, Floats]:
    """Of each contract the number of conjunctions in DNF, and of all predicates in them."""
    conjunctions = predicates = np.zeros(0)
    for depth in reversed(range(len(contracts))):
        level = contracts[depth]
        below, inside = conjunctions, predicates
        sizes = np.diff(level.predicate_start)
        conjunctions = np.ones(level.size)
        predicates = sizes.astype(np.float64)
        inner = np.flatnonzero(sizes == 0)
        if not len(inner):
            continue
        starts = level.child_start[inner]
        if depth % 2:
            conjunctions[inner] = np.add.reduceat(below, starts)
            predicates[inner] = np.add.reduceat(inside, starts)
        else:
            conjunctions[inner] = np.multiply.reduceat(below, starts)
            predicates[inner] = conjunctions[inner] * np.add.reduceat(inside / below, starts)
    return conjunctions, predicates


def measure(run: Run) -> Outcome:
    """Count; nothing is timed."""
    run.progress.steps(len(DEPTHS))
    count = run.sized(EXPRESSIONS, fewest=EXPRESSIONS)
    rows: list[list[Cell]] = []
    sizes = []
    for depth in DEPTHS:
        run.progress.step(f"depth {depth}")
        setting = ContractSetting(contracts=count, max_depth=depth, seed=run.seed)
        conjunctions, predicates = expansions(make_contracts(setting))
        kilobytes = (BYTES_OF_PREDICATE * predicates + BYTES_OF_CONJUNCTION * conjunctions) / 1e3
        sizes.append(float(kilobytes.mean()))
        rows.append(
            [
                depth,
                float(conjunctions.mean()),
                float(conjunctions.max()),
                float(kilobytes.mean()),
                float(np.median(kilobytes)),
                float(kilobytes.max()),
                PLOTTED_ONLY if depth <= 3 else "not shown",
            ]
        )
    columns = [
        Column("depth"),
        Column("conjunctions, average"),
        Column("conjunctions, most"),
        Column("size, average", "KB"),
        Column("size, median", "KB"),
        Column("size, largest", "KB"),
        Column("in the paper"),
    ]
    table = Table("Figure 7: the size of an expression in DNF, by depth", columns, rows)
    panel = Bars(
        "size of an expression in DNF",
        "depth",
        Axis("average size", "KB", log=True),
        [str(depth) for depth in DEPTHS],
        [Bar("ours", sizes)],
    )
    note = (
        f"{count:,} expressions of each depth; {BYTES_OF_PREDICATE} bytes for a predicate and "
        f"{BYTES_OF_CONJUNCTION} for a conjunction. An AND of conjunctions is one conjunction, so depth 3 "
        "has as many of them as depth 2, but larger ones."
    )
    return Outcome([table], [Plot("Dewey paper, Figure 7: DNF by depth", [panel])], [note])


FIGURE_7 = Experiment(
    name="dewey-figure7",
    paper=Paper.DEWEY,
    place="Figure 7",
    shows="how an expression grows in DNF, by depth",
    size=f"{EXPRESSIONS} expressions a depth",
    scale=100,
    lasts="5 s",
    engines=(),
    measure=measure,
)
