"""The claims of Ji and Jacobsen: the A-Tree."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchmarks.claims.claim import (
    IN_PART,
    NO,
    YES,
    Block,
    Claims,
    Found,
    Grid,
    Size,
    is_number,
    noted,
    number,
    percent_less,
)

from tocsin.engines import ENGINES
from tocsin_lab.experiments.table_texts import shown

claim = Claims("A-Tree")

_RULES = noted(r"[.:] ([\d,]+ rules)")


def _swept(panel: str) -> Size:
    """The rules of a panel of Figures 11 to 13: (a) has a size on its axis, the others one size."""
    if panel == "a":
        return lambda block: f"{block.grids[0].rows[-1][0]} rules"
    return lambda block: f"{1_000_000 * (block.scale or 0):,.0f} rules"


def _less(figure: str, panel: str, where: str, papers: int, against: str) -> None:
    """A claim that A-Tree takes so many percent less than the next best."""
    what = {"11": "memory", "12": "matching time", "13": "construction time"}[figure]
    says = f"{papers} % less {what} than {against}, {where}"

    def look(block: Block) -> Found:
        row = next(
            each
            for each in block.texts.rows
            if each[0] == f"({panel})" and each[1].startswith("A-Tree against the next best")
        )
        percent = re.match(r"(\d+) % less", row[2])
        ours = int(percent[1]) if percent else 0
        return row[2], YES if ours >= papers - 10 else IN_PART if ours > 0 else NO

    claim(f"Figure {figure}({panel})", f"atree-figure{figure}", _swept(panel), says)(look)


@claim("Figure 7", "atree-figure7", lambda block: f"{block.grids[2].text('ours', 'rules')} rules")
def _(block: Block) -> Found:
    """Advertisements share 68.76 uses of a part at level 1, 2.88 at level 9."""
    uses = block.grids[0].numbers("uses of a part, on average")
    return f"{shown(uses[0])} and {shown(uses[-1])}, by design of the workload", YES if abs(
        uses[0] - 68.76
    ) < 1 else NO


@claim("Figure 8", "atree-figure8", _RULES)
def _(block: Block) -> Found:
    """Shared n-ary nodes match fastest."""
    by_design = dict(
        zip(block.grids[1].column("design"), block.grids[1].numbers("an event, ms"), strict=True)
    )
    own = by_design.pop("n-ary, shared")
    grid = block.grids[0]
    others = [
        grid.numbers(f"{name}, ms")
        for name in ("scan", "n-ary, nothing shared", "binary, shared", "n-ary, shared")
    ]
    best = [min(each) >= each[-1] for each in zip(*others, strict=True)]
    ratio = by_design["scan"] / own
    holds = YES if own < min(by_design.values()) and all(best) else IN_PART
    return f"{shown(ratio)} times as fast as a scan of the advertisements", holds


@claim("Figure 8", "atree-figure8", _RULES)
def _(block: Block) -> Found:
    """A tree that shares nothing is still much faster than a scan."""
    synthesised = (
        block.grids[0].numbers("scan, ms")[0] / block.grids[0].numbers("n-ary, nothing shared, ms")[0]
    )
    ads = block.grids[1].number("times as fast as the first", "n-ary, nothing shared")
    holds = YES if min(synthesised, ads) > 2 else IN_PART if max(synthesised, ads) > 2 else NO
    return (
        f"{shown(synthesised)} times as fast on synthesised rules, {shown(ads)} times on advertisements",
        holds,
    )


@claim("Figure 9", "atree-figure9", _RULES)
def _(block: Block) -> Found:
    """Reorganisation and self-adjustment save memory and matching time beyond unique nodes."""
    grid = block.grids[0]
    edges, ms = (
        [grid.number(column, design) for design in ("unique nodes", "and self-adjusted")]
        for column in ("edges", "an event, ms")
    )
    saved = percent_less(edges[1], edges[0])
    said = f"edges {edges[0]:,.0f} to {edges[1]:,.0f}, an event {shown(ms[0])} to {shown(ms[1])} ms"
    return said, YES if saved > 5 and ms[1] < ms[0] else IN_PART if saved > 5 else NO


@claim("Figure 9", "atree-figure9", _RULES)
def _(block: Block) -> Found:
    """Memory is the same for every order of arrival with self-adjustment, and varies without."""
    apart = dict(zip(block.grids[1].column("design"), block.grids[1].numbers("apart, %"), strict=True))
    own = apart.pop("and self-adjusted")
    said = f"{shown(own)} % apart with it, {', '.join(shown(each) for each in apart.values())} % without"
    return said, YES if own < 1 < max(apart.values()) else IN_PART if own < 1 else NO


def _saved(block: Block, before: str, after: str) -> list[float]:
    """By how much matching got shorter: on synthesised rules, advertisements, some sizes of conjunctions."""
    return [
        percent_less(grid.number("an event, ms", after), grid.number("an event, ms", before))
        for grid in block.grids
    ]


@claim("section 5.2.1", "atree-figure10", _RULES)
def _(block: Block) -> Found:
    """Zero suppression shortens matching by up to 85 %."""
    saved = _saved(block, "lazy stamps", "and zero suppression")
    said = (
        f"{saved[0]:.0f} % on synthesised rules, {saved[1]:.0f} % on advertisements, "
        f"{_percents(saved[2:])} on conjunctions"
    )
    return said, YES if max(saved) >= 80 else IN_PART if min(saved) > 0 else NO


@claim("section 5.2.2", "atree-figure10", _RULES)
def _(block: Block) -> Found:
    """Propagation on demand shortens it by up to 92 %, on conjunctive workloads."""
    any_child = _saved(block, "and zero suppression", "and on demand, any access child")
    chosen = _saved(block, "and zero suppression", "and on demand, by selectivity")
    said = (
        f"{_percents(any_child[2:])} on conjunctions, {_percents(any_child[:2])} on synthesised rules "
        f"and advertisements; with the access child chosen by selectivity {_percents(chosen[2:])} and "
        f"{_percents(chosen[:2])}"
    )
    most = max(*any_child[2:], *chosen[2:])
    return said, YES if most >= 82 else IN_PART if most > 0 else NO


def _percents(percents: Sequence[float]) -> str:
    return f"{', '.join(f'{each:.0f}' for each in percents)} %"


def _of_engines(grid: Grid, unit: str) -> list[list[float]]:
    """The figures of the engines row by row, A-Tree's first; without those that refused."""
    engines = [name for name in grid.columns if name.removesuffix(f", {unit}") in ENGINES]
    rows = [[row[grid.columns.index(name)] for name in engines] for row in grid.rows]
    return [[number(cell) for cell in row if is_number(cell)] for row in rows]


def _least(figure: str, says: str, unit: str) -> None:
    """A claim that A-Tree takes least, wherever it is measured."""

    def look(block: Block) -> Found:
        cases, lost = 0, []
        for letter, grid in zip("abcdefgh", block.grids, strict=False):
            if f"atree, {unit}" not in grid.columns:
                break
            for row, (own, *others) in zip(grid.rows, _of_engines(grid, unit), strict=True):
                cases += 1
                lost += [f"({letter}) {row[0]}"] if min(others) < own else []
        said = f"in {cases - len(lost)} of {cases} cases" + (f", not at {', '.join(lost)}" if lost else "")
        return said, YES if not lost else IN_PART if 2 * len(lost) < cases else NO

    def size(block: Block) -> str:
        return f"{_swept('b')(block)}, in (a) up to {_swept('a')(block)}"

    claim(f"Figure {figure}", f"atree-figure{figure}", size, says)(look)


_least("11", "A-Tree takes least memory, from 300 K rules and α 0.2 on", "MB")
_least("12", "A-Tree matches fastest, always", "ms")
_least("13", "A-Tree is built first, always", "s")


@claim("abstract", "atree-figure12", _swept("i"))
def _(block: Block) -> Found:
    """Faster than engines for conjunctions on conjunctive workloads."""
    grid = block.grids[8]
    rows = _of_engines(grid, "ms")
    lost = [row[0] for row, (own, *others) in zip(grid.rows, rows, strict=True) if min(others) < own]
    said = f"than all engines in {len(rows) - len(lost)} of {len(rows)} cases" + (
        f", not at {', '.join(lost)} predicates" if lost else ""
    )
    return said, YES if not lost else IN_PART if 2 * len(lost) < len(rows) else NO


_less("11", "a", "with the most rules", 71, "BoP")
_less("11", "d", "at α 1", 68, "the next best")
_less("12", "a", "with the most rules", 86, "BDD")
_less("12", "b", "at depth 6", 99, "Scan")
_less("13", "d", "at α 1", 75, "BoP")


@claim("Figures 11, 12", "atree-figure11", _swept("b"))
def _(block: Block) -> Found:
    """BDD gives up at depth 4 and 10 children, Translation at depth 5 and 6 children."""
    from_here = {}
    for panel, says, ours, _paper in block.texts.rows:
        start = re.match(r"refuses some from ([\d,]+) on", ours)
        if panel in ("(b)", "(c)") and start:
            from_here[panel, says.split()[0]] = number(start[1])
    said = "{} refuses rules from depth {:g} and {:g} children on"
    engines = ("bdd", "dnf")
    each = [said.format(name, from_here["(b)", name], from_here["(c)", name]) for name in engines]
    papers = {("(b)", "bdd"): 4, ("(b)", "dnf"): 5, ("(c)", "bdd"): 10, ("(c)", "dnf"): 6}
    same = [abs(from_here[place] - value) <= 1 for place, value in papers.items()]
    return "; ".join(each), YES if all(same) else IN_PART if any(same) else NO


def _ranking(panel: str, what: str) -> None:
    printed = "atree, dnf, bdd, bop, interval, scan"

    def look(block: Block) -> Found:
        ours = block.texts.text("ours", f"({panel})", "ranking, the best first")
        first = ours.startswith("atree") or ours.endswith("scan")
        return ours, YES if ours == printed else IN_PART if first else NO

    says = f"The ranking by {what}: A-Tree, Translation, BDD, BoP, Interval, Scan"
    claim(f"Figure 12({panel})", "atree-figure12", _swept(panel), says)(look)


_ranking("e", "dimensions")
_ranking("h", "event size")


@claim("Figure 12(g)", "atree-figure12", _swept("g"))
def _(block: Block) -> Found:
    """The distribution of dimensions hardly affects matching."""
    each = block.grids[6].numbers("atree, ms")
    ratio = max(each) / min(each)
    return (
        f"the slowest {shown(ratio)} times the fastest",
        YES if ratio < 1.1 else IN_PART if ratio < 1.5 else NO,
    )


@claim("Table 4", "atree-table4", _RULES)
def _(block: Block) -> Found:
    """Fastest, smallest and first built; than BDD 86 % less matching time, 89 % construction, 75 % memory."""
    grid = block.grids[0]
    columns = ("match, ms", "construct, s", "memory, MB")
    saved = [percent_less(grid.number(column, "atree"), grid.number(column, "bdd")) for column in columns]
    others = [row[0] for row in grid.rows if row[0] not in ("atree", "atree in blocks")]
    best = all(
        grid.number(column, "atree") < min(grid.number(column, each) for each in others) for column in columns
    )
    less = ", ".join(f"{each:.0f}" for each in saved)
    said = f"{'best of all in each' if best else 'not best in each'}; {less} % less than bdd"
    near = all(ours >= papers - 10 for ours, papers in zip(saved, (86, 89, 75), strict=True))
    return said, YES if best and near else IN_PART if best else NO
