"""Figures 8, 9 and 10 of the A-Tree paper: what each of its ideas is worth.

Figure 8 sets sharing and n-ary nodes against a scan, Figure 9 adds the ideas of section 4 one after
the other, Figure 10 those of section 5. The paper shows all three as plots alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from tocsin_lab import abe_gen
from tocsin_lab.atree.paper_atree import Design
from tocsin_lab.experiments.atree_parameters import conjunctive
from tocsin_lab.experiments.atree_prepared import (
    GrownDesign,
    Prepared,
    Scan,
    grow,
    grown,
    workload_of,
)
from tocsin_lab.experiments.clocks import Seconds, interleaved, machine_note
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
    together,
)

UNIQUE = Design(reorganise=False, self_adjust=False)
REORGANISED = Design(self_adjust=False)
NOTHING = UNIQUE._replace(sharing=False)
BUILT = Design()

Designs = Mapping[str, Design]

DESIGNS_8: Designs = {
    "n-ary, nothing shared": NOTHING,
    "binary, shared": UNIQUE._replace(nary=False),
    "n-ary, shared": UNIQUE,
}
DESIGNS_9: Designs = {
    "no optimisation": NOTHING,
    "unique nodes": UNIQUE,
    "and reorganised": REORGANISED,
    "and self-adjusted": BUILT,
}
DESIGNS_10: Designs = {
    "no optimisation": BUILT._replace(zero_suppression=False, on_demand=False, lazy_stamps=False),
    "lazy stamps": BUILT._replace(zero_suppression=False, on_demand=False),
    "and zero suppression": BUILT._replace(on_demand=False),
    "and on demand, any access child": BUILT._replace(access="random"),
    "and on demand, by selectivity": BUILT,
}
SCAN = "scan"

RULES = abe_gen.Setting().expressions
ADS_RULES = abe_gen.AdsSetting().expressions
EVENTS = 300
ROUNDS = 5
SHUFFLES = 3
SHARING = (1.0, 2.0, 4.33, 8.0, 16.0)
"""Uses of a subexpression in Figure 8(a): 4.33 is the paper's default, its other values are not given."""

CONJUNCTIONS = (4, 8)
"""Predicates of a conjunction, on average. The paper does not say what its conjunctive workloads are."""

TIME = Axis("matching time", "ms")
LONG_TIME = Axis("matching time", "ms", log=True)
HOW = (
    "Expression matching alone is timed; every design gave the numbers of matches of tocsin.build. Best of "
    f"{ROUNDS} rounds, and the slowest."
)
ABOUT_COLUMNS = (
    "visited: nodes that an event comes to, on average. The growing tree is what inserts and deletes work "
    "on, the frozen one its copy for matching."
)


@dataclass(frozen=True)
class Measured:
    """One design, or the scan, on one workload; `seconds` are those of matching an event."""

    seconds: Seconds
    tree: GrownDesign | None = None


def measure_figure_8(run: Run) -> Outcome:
    """Sharing and n-ary nodes against a scan, as sharing grows, and on advertisements."""
    run.progress.steps(len(SHARING) + 1)
    return together(
        [
            run.part("sharing", len(SHARING), lambda: _by_sharing(run)),
            run.part("ads", 1, lambda: _sharing_of_ads(run)),
        ]
    )


FIGURE_8_TITLE = "A-Tree paper, Figure 8: sharing and multitree"


def _by_sharing(run: Run) -> Outcome:
    by_sharing: dict[float, dict[str, Measured]] = {}
    for uses in SHARING:
        run.progress.step(f"rules, {uses:g} uses of a part")
        setting = abe_gen.Setting(run.sized(RULES), uses_of_subexpression=uses, seed=run.seed)
        _, by_sharing[uses] = compared(setting, DESIGNS_8, scanned=True)
    names = [SCAN, *DESIGNS_8]
    rows: list[list[Cell]] = [
        [
            uses,
            *(1_000 * found[name].seconds.best for name in names),
            max(each.seconds.slowest / each.seconds.best for each in found.values()),
            PLOTTED_ONLY,
        ]
        for uses, found in by_sharing.items()
    ]
    columns = [
        Column("uses of a part"),
        *(Column(name, "ms") for name in names),
        Column("slowest to best round, at most", "times"),
        Column("in the paper"),
    ]
    lines = []
    for name in names:
        seconds = {uses: found[name].seconds.scaled(1_000) for uses, found in by_sharing.items()}
        points = [(uses, each.best) for uses, each in seconds.items()]
        lines.append(Line(name, points, slowest=[each.slowest for each in seconds.values()]))
    panel = Lines("(a) synthesised", Axis("uses of a subexpression", log=True), LONG_TIME, lines)
    title = "Figure 8(a): matching an event, synthesised rules"
    table = Table(title, columns, rows, name="sharing")
    return Outcome([table], [Plot(FIGURE_8_TITLE, [panel])])


def _sharing_of_ads(run: Run) -> Outcome:
    run.progress.step("rules like advertisements")
    ads, on_ads = compared(_ads(run), DESIGNS_8, scanned=True)
    table = _table("Figure 8(b): matching an event, rules like advertisements", on_ads, "ads")
    plot = Plot(FIGURE_8_TITLE, [_bars("(b) like advertisements", on_ads, LONG_TIME)])
    return Outcome([table], [plot], _notes("rules like advertisements", ads))


def measure_figure_9(run: Run) -> Outcome:
    """The ideas of section 4 one after the other, and what the order of arrival does to each."""
    run.progress.steps(2)
    run.progress.step("rules like advertisements")
    prepared, found = compared(_ads(run), DESIGNS_9)
    run.progress.step("other orders of arrival")
    memory, build = Axis("memory, growing tree", "MB"), Axis("construction", "s")
    return Outcome(
        [
            _table("Figure 9: building, rules like advertisements", found, "building"),
            _order_table(prepared),
        ],
        [
            Plot(
                "A-Tree paper, Figure 9: uniqueness and dynamicity, rules like advertisements",
                [
                    _plain_bars("memory", found, memory, lambda tree: tree.bytes_growing / 1e6),
                    _bars("matching", found, LONG_TIME),
                    _plain_bars("construction", found, build, lambda tree: tree.build),
                ],
            )
        ],
        _notes("rules like advertisements", prepared),
    )


def measure_figure_10(run: Run) -> Outcome:
    """The ideas of section 5 one after the other, also on conjunctions alone, of which its text speaks."""
    rules = abe_gen.Setting(run.sized(RULES), seed=run.seed)
    settings: dict[str, tuple[str, abe_gen.Workload]] = {
        "synthesised": ("synthesised rules", rules),
        "ads": ("rules like advertisements", _ads(run)),
        **{
            f"conjunctions-{size}": (f"conjunctions of {size} predicates", conjunctive(rules, size))
            for size in CONJUNCTIONS
        },
    }
    run.progress.steps(len(settings))

    def part(letter: str, name: str, title: str, setting: abe_gen.Workload) -> Outcome:
        run.progress.step(title)
        prepared, found = compared(setting, DESIGNS_10)
        table = _table(f"Figure 10: matching, {title}", found, name)
        plot = Plot("A-Tree paper, Figure 10: matching optimisations", [_bars(f"({letter}) {title}", found)])
        return Outcome([table], [plot], _notes(title, prepared))

    return together(
        [
            run.part(name, 1, partial(part, letter, name, title, setting))
            for letter, (name, (title, setting)) in zip("abcde", settings.items(), strict=False)
        ]
    )


def compared(
    setting: abe_gen.Workload, designs: Designs, *, scanned: bool = False
) -> tuple[Prepared, dict[str, Measured]]:
    """A workload, and the designs measured on it; on a little of it first, so that all is compiled."""
    workload = workload_of(setting, EVENTS)
    measured(Prepared(workload.few()), designs, scanned=scanned)
    prepared = Prepared(workload)
    return prepared, measured(prepared, designs, scanned=scanned)


def measured(prepared: Prepared, designs: Designs, *, scanned: bool = False) -> dict[str, Measured]:
    """Every design and, if asked for, the scan: all hold the answer, and are then timed in turns."""
    trees = {name: grow(prepared, design) for name, design in designs.items()}
    works: dict[str, Callable[[], object]] = {SCAN: Scan(prepared)} if scanned else {}
    works |= {
        name: lambda tree=tree: tree.matcher.count(prepared.start, prepared.true_ref)  # type: ignore[misc]
        for name, tree in trees.items()
    }
    taken = interleaved(works, ROUNDS, len(prepared.matches))
    return {name: Measured(taken[name], trees.get(name)) for name in works}


def _ads(run: Run) -> abe_gen.AdsSetting:
    return abe_gen.AdsSetting(run.sized(ADS_RULES), seed=run.seed)


def _notes(title: str, prepared: Prepared) -> list[str]:
    about = (
        f"{title[0].upper()}{title[1:]}: {len(prepared.texts):,} rules, {len(prepared.matches):,} events; "
        f"{100 * prepared.share:.2g} % of the rules match an event."
    )
    return [about, HOW, machine_note()]


def _table(title: str, found: Mapping[str, Measured], name: str) -> Table:
    first = next(iter(found.values())).seconds.best
    columns = [
        Column("design"),
        Column("an event", "ms"),
        Column("slowest round", "ms"),
        Column("in the paper"),
        Column("times as fast as the first"),
        Column("visited"),
        Column("nodes"),
        Column("edges"),
        Column("growing", "MB"),
        Column("frozen", "MB"),
        Column("build", "s"),
    ]
    rows: list[list[Cell]] = [
        [
            design,
            1_000 * each.seconds.best,
            1_000 * each.seconds.slowest,
            PLOTTED_ONLY,
            first / each.seconds.best,
            *_sizes(each.tree),
        ]
        for design, each in found.items()
    ]
    return Table(title, columns, rows, [ABOUT_COLUMNS], name)


def _sizes(tree: GrownDesign | None) -> list[Cell]:
    if tree is None:
        return [None] * 6
    return [
        round(tree.nodes_visited),
        tree.nodes,
        tree.edges,
        tree.bytes_growing / 1e6,
        tree.bytes_frozen / 1e6,
        tree.build,
    ]


def _order_table(prepared: Prepared) -> Table:
    rows: list[list[Cell]] = []
    for name, design in DESIGNS_9.items():
        nodes, edges = [], []
        for seed in range(SHUFFLES):
            order = np.random.default_rng(seed).permutation(len(prepared.texts))
            texts = prepared.texts.take(pa.array(order))
            atree, _ = grown(prepared, design, prepared.read(texts, design.grouping))
            nodes.append(len(atree.atree))
            edges.append(atree.atree.edges)
        apart = 100 * (max(edges) / min(edges) - 1)
        rows.append([name, max(nodes), min(edges), max(edges), apart, PLOTTED_ONLY])
    columns = [
        Column("design"),
        Column("nodes"),
        Column("edges, fewest"),
        Column("edges, most"),
        Column("apart", "%"),
        Column("in the paper"),
    ]
    title = f"Figure 9: {SHUFFLES} other orders of arrival"
    return Table(title, columns, rows, name="orders")


def _bars(title: str, found: Mapping[str, Measured], up: Axis = TIME) -> Bars:
    """The time of matching, to the slowest round."""
    times = [each.seconds.scaled(1_000) for each in found.values()]
    bar = Bar("", [each.best for each in times], [each.slowest for each in times])
    return Bars(title, "", up, list(found), [bar])


def _plain_bars(
    title: str, found: Mapping[str, Measured], up: Axis, height: Callable[[GrownDesign], float]
) -> Bars:
    """Something of the trees that is not repeated."""
    heights = [None if each.tree is None else height(each.tree) for each in found.values()]
    return Bars(title, "", up, list(found), [Bar("", heights)])


FIGURE_8 = Experiment(
    name="atree-figure8",
    paper=Paper.ATREE,
    place="Figure 8 (a, b)",
    shows="sharing and n-ary nodes against a scan: matching time",
    size=f"{RULES:,} rules, {ADS_RULES:,} advertisements",
    scale=0.01,
    lasts="1 min",
    engines=(),
    measure=measure_figure_8,
)
FIGURE_9 = Experiment(
    name="atree-figure9",
    paper=Paper.ATREE,
    place="Figure 9",
    shows="unique nodes, reorganisation, self-adjustment: memory, matching, construction",
    size=f"{ADS_RULES:,} advertisements",
    scale=0.01,
    lasts="1 min",
    engines=(),
    measure=measure_figure_9,
)
FIGURE_10 = Experiment(
    name="atree-figure10",
    paper=Paper.ATREE,
    place="Figure 10",
    shows="zero suppression and propagation on demand: matching time",
    size=f"{RULES:,} rules, {ADS_RULES:,} advertisements",
    scale=0.03,
    lasts="30 s",
    engines=(),
    measure=measure_figure_10,
)
