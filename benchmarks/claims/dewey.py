"""The claims of Fontoura et al.: Dewey and Interval."""

from __future__ import annotations

from itertools import pairwise

from benchmarks.claims.claim import (
    IN_PART,
    NO,
    YES,
    Block,
    Claims,
    Found,
    noted,
    number,
    percent_less,
    spanned,
    times,
)

from tocsin_lab.experiments.table_texts import shown

claim = Claims("Dewey and Interval")

_CONTRACTS = noted(r"([\d,]+ expressions of each depth)")


@claim("Table 2", "dewey-table2", _CONTRACTS)
def _(block: Block) -> Found:
    """The memory of Dewey and Interval doubles with each level."""
    steps = {}
    for engine in ("dewey", "interval"):
        memory = block.grids[0].numbers(f"{engine}, MB")
        steps[engine] = [after / before for before, after in pairwise(memory)]
    near = {engine: all(1.5 <= step <= 2.5 for step in each) for engine, each in steps.items()}
    said = "; ".join(f"{engine} {times(each)}" for engine, each in steps.items())
    return f"{said}, level by level", YES if all(near.values()) else IN_PART if any(near.values()) else NO


@claim("Table 2", "dewey-table2", _CONTRACTS)
def _(block: Block) -> Found:
    """DNF takes many times more, at depth 2 already (501 to 18 MB)."""
    grid = block.grids[0]
    ratios = [a / b for a, b in zip(grid.numbers("dnf, MB"), grid.numbers("interval, MB"), strict=True)]
    holds = YES if ratios[1] > 10 else IN_PART if ratios[-1] > 10 else NO
    return f"{times(ratios)} Interval's, at depths 1 to 4", holds


@claim("Table 2", "dewey-table2", _CONTRACTS)
def _(block: Block) -> Found:
    """The scans take many times more (836 and 854 to 18 MB at depth 2)."""
    own = block.grids[0].number("interval, MB", "2")
    ratios = [block.grids[0].number(f"{engine}, MB", "2") / own for engine in ("scan", "scan-conj")]
    return f"{times(ratios)} Interval's", YES if min(ratios) > 10 else IN_PART if min(ratios) > 2 else NO


@claim("Table 3", "dewey-table3", _CONTRACTS)
def _(block: Block) -> Found:
    """22.85, 57.97, 10.97, 49.23 % of expressions match at depths 1 to 4."""
    grid = block.grids[0]
    ours, theirs = grid.numbers("selectivity, %"), grid.numbers("in the paper, %")
    apart = [max(a / b, b / a) for a, b in zip(ours, theirs, strict=True)]
    said = ", ".join(shown(each) for each in ours)
    return f"{said} %; the statistics are ours", YES if max(apart) < 1.1 else IN_PART if max(
        apart
    ) < 2 else NO


@claim("Table 4", "dewey-table4", spanned("expressions"))
def _(block: Block) -> Found:
    """Memory grows linearly with the number of expressions."""
    each = block.grids[0].numbers("interval an expression, bytes")
    return f"Interval {shown(each[0])} to {shown(each[-1])} bytes an expression", YES if max(
        each
    ) < 1.5 * min(each) else NO


@claim("section 7", "dewey-table4", spanned("expressions"))
def _(block: Block) -> Found:
    """Interval uses less memory than Dewey."""
    grid = block.grids[0]
    less = [
        percent_less(a, b)
        for a, b in zip(grid.numbers("interval, MB"), grid.numbers("dewey, MB"), strict=True)
    ]
    return f"{min(less):.1f} to {max(less):.1f} % less", YES if min(less) > 0 else NO


@claim("Figure 7", "dewey-figure7", _CONTRACTS)
def _(block: Block) -> Found:
    """An expression in DNF grows exponentially with depth."""
    sizes = block.grids[0].numbers("size, average, KB")
    return f"{', '.join(map(shown, sizes))} KB on average, at depths 1 to 4", YES if sizes[-1] > 100 * sizes[
        0
    ] else NO


def _of_interval(block: Block, engine: str) -> list[float]:
    """An engine's whole time as so many times Interval's, at depths 1 and 2."""
    ours, interval = (
        [block.grids[0].number("total, ms", depth, each) for depth in "12"] for each in (engine, "interval")
    )
    return [a / b for a, b in zip(ours, interval, strict=True)]


@claim("Figure 8", "dewey-figure8", _CONTRACTS)
def _(block: Block) -> Found:
    """The scans are orders of magnitude slower."""
    ratios = _of_interval(block, "scan")
    holds = YES if min(ratios) > 10 else IN_PART if min(ratios) > 2 else NO
    return f"{times(ratios)} Interval's time, at depths 1 and 2", holds


@claim("Figure 9", "dewey-figure8", _CONTRACTS)
def _(block: Block) -> Found:
    """DNF does not scale, even at depth 2."""
    ratios = _of_interval(block, "dnf")
    return f"{times(ratios)} Interval's time, at depths 1 and 2", YES if ratios[1] > 2 else NO


def _evaluations(block: Block) -> list[float]:
    """Dewey's time of evaluation as so many times Interval's, row by row."""
    by_engine: dict[str, list[float]] = {"dewey": [], "interval": []}
    grid = block.grids[0]
    for row in grid.rows:
        by_engine[row[1]].append(number(row[grid.columns.index("evaluation, ms")]))
    return [a / b for a, b in zip(by_engine["dewey"], by_engine["interval"], strict=True)]


@claim("Figure 11", "dewey-figure10", _CONTRACTS)
def _(block: Block) -> Found:
    """Interval evaluates faster than Dewey, and scales better with depth."""
    ratios = _evaluations(block)
    holds = YES if min(ratios) > 1 and ratios[-1] > 1.2 * ratios[0] else IN_PART if min(ratios) > 1 else NO
    return f"Dewey {times(ratios)} Interval's, at depths 1 to 4", holds


@claim("Figure 13", "dewey-figure12", spanned("expressions of depth 2"))
def _(block: Block) -> Found:
    """Interval also scales better with the number of expressions."""
    ratios = _evaluations(block)
    holds = YES if min(ratios) > 1 and ratios[-1] > 1.2 * ratios[0] else IN_PART if min(ratios) > 1 else NO
    first, last = block.grids[0].rows[0][0], block.grids[0].rows[-1][0]
    return (
        f"Dewey {times([ratios[0], ratios[-1]])} Interval's, at {first} and {last} expressions: both linear",
        holds,
    )


@claim("Figure 14", "dewey-figure14", noted("([\\d,]+ expressions of depth 3)"))
def _(block: Block) -> Found:
    """Both scale linearly with selectivity."""
    growth = [grid.number("interval, ms", "15") / grid.number("interval, ms", "1") for grid in block.grids]
    alike, narrow = growth
    said = (
        f"Interval from 1 to 15 %: {shown(alike)} times with others alike, {shown(narrow)} with narrow ones"
    )
    return said, YES if min(growth) > 3 else IN_PART if max(growth) > 3 else NO
