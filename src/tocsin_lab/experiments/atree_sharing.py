"""Figure 7 of the A-Tree paper: how much of a workload like its advertisements is shared."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Longs
from tocsin_lab import abe_gen
from tocsin_lab.abe_gen.shape import Shape, shape_of, uses_of
from tocsin_lab.experiments.experiment import Experiment, Paper, Run
from tocsin_lab.experiments.outcome import (
    PLOTTED_ONLY,
    Axis,
    Bar,
    Bars,
    Cell,
    Column,
    Line,
    Lines,
    Outcome,
    Plot,
    Table,
)

ADS = abe_gen.AdsSetting()
MOST_POINTS = 200

USES_IN_THE_PAPER = {1: "68.76", 9: "2.88"}
"""By level; the others are plotted only."""


def measure(run: Run) -> Outcome:
    """Count the uses of every part of the rules; nothing is timed."""
    run.progress.steps(2)
    run.progress.step("rules like advertisements")
    setting = abe_gen.AdsSetting(expressions=run.sized(ADS.expressions), seed=run.seed)
    forest = abe_gen.forest_of(setting)
    run.progress.step("counting")
    shape = shape_of(forest)
    shown = uses_of(forest).shown[: len(forest.predicates.field)]
    by_rank = np.sort(shown[shown > 0])[::-1]
    return Outcome(
        [_by_level(shape), _by_rank(by_rank), _about(shape)],
        [_plot(shape, by_rank)],
        ["How often a part is used is counted over all rules, written out in full."],
    )


def _by_level(shape: Shape) -> Table:
    rows: list[list[Cell]] = [
        [level, uses, USES_IN_THE_PAPER.get(level, PLOTTED_ONLY)] for level, uses in enumerate(shape.uses, 1)
    ]
    columns = [Column("level"), Column("uses of a part, on average"), Column("in the paper")]
    return Table("Figure 7(a): sharing by level", columns, rows, name="levels")


def _by_rank(uses: Longs) -> Table:
    ranks = [10**power for power in range(len(str(len(uses))))]
    rows: list[list[Cell]] = [[rank, int(uses[rank - 1]), PLOTTED_ONLY] for rank in (*ranks, len(uses))]
    columns = [Column("rank of a predicate"), Column("its uses"), Column("in the paper")]
    return Table("Figure 7(b): uses of predicates, the most used first", columns, rows, name="predicates")


def _about(shape: Shape) -> Table:
    rows: list[list[Cell]] = [
        ["rules", shape.rules, f"{ADS.expressions:,}"],
        ["predicates of a rule, fewest", shape.fewest_predicates, "1"],
        ["predicates of a rule, most", shape.most_predicates, "56"],
        ["predicates of a rule, on average", shape.mean_predicates, "not given"],
        ["depth", shape.depth, "9"],
        ["dimensions", shape.dimensions, "122"],
        ["different predicates", shape.distinct_predicates, "973,794"],
        ["uses of the most used predicate", shape.most_used_predicate, "hundreds of thousands"],
    ]
    columns = [Column("the workload"), Column("ours"), Column("in the paper")]
    return Table("Section 6.2: the workload", columns, rows, name="workload")


def _plot(shape: Shape, uses: Longs) -> Plot:
    levels = [str(level) for level in range(1, len(shape.uses) + 1)]
    rank = np.unique(np.geomspace(1, len(uses), MOST_POINTS).astype(np.int64))
    points = list(zip(rank.tolist(), uses[rank - 1].tolist(), strict=True))
    return Plot(
        "A-Tree paper, Figure 7: subexpression sharing, rules like advertisements",
        [
            Bars("(a) by level", "level", Axis("uses, on average"), levels, [Bar("ours", shape.uses)]),
            Lines(
                "(b) predicates",
                Axis("rank of a predicate", log=True),
                Axis("uses", log=True),
                [Line("ours", points)],
            ),
        ],
    )


FIGURE_7 = Experiment(
    name="atree-figure7",
    paper=Paper.ATREE,
    place="Figure 7",
    shows="how often parts of advertisements are shared, by level and by predicate",
    size=f"{ADS.expressions:,} rules",
    scale=0.2,
    lasts="10 s",
    engines=(),
    measure=measure,
)
