"""The claims of Qin et al.: the Yield index."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.claims.claim import (
    IN_PART,
    NO,
    YES,
    Block,
    Claims,
    Found,
    noted,
)

from tocsin_lab.experiments.table_texts import shown

claim = Claims("Yield index")

_TUPLES = noted(r"scale 1 is (50,000 \(s\) and 100,000 \(l\) tuples)")


def _fewest_to_most(percents: Sequence[float]) -> str:
    """A range of percents fewer, of which some may be more."""
    least, most = min(percents), max(percents)
    first = f"from {-least:.3g} % more" if least < 0 else f"{least:.3g}"
    return f"{first} to {most:.3g} % fewer"


def _fewer(figure: str, accesses: str, aai: tuple[float, float], fi: tuple[float, float]) -> None:
    """A claim that YI has so many percent fewer accesses than AAI and FI."""
    says = f"{aai[0]:g} to {aai[1]:g} % fewer {accesses} than AAI, {fi[0]:g} to {fi[1]:g} % than FI"

    def look(block: Block) -> Found:
        here = {other: block.grids[0].numbers(f"YI less than {other}, %") for other in ("AAI", "FI")}
        said = "; ".join(f"{_fewest_to_most(each)} than {name}" for name, each in here.items())
        reached = min(here["AAI"]) >= aai[0] and min(here["FI"]) >= fi[0]
        fewer = [each > 0 for each in (*here["AAI"], *here["FI"])]
        return said, YES if reached else IN_PART if 2 * sum(fewer) > len(fewer) else NO

    claim(f"Figure {figure}", f"yield-figure{figure}", _TUPLES, says)(look)


_fewer("12", "index accesses", (2.1, 67.8), (7.7, 70.5))


@claim("Figure 13", "yield-figure13", _TUPLES)
def _(block: Block) -> Found:
    """Tuple accesses fewer by an order of magnitude, on average."""
    fewer = block.grids[0].numbers("YI less than AAI, %")
    mean = sum(fewer) / len(fewer)
    said = f"{min(fewer):.3g} to {max(fewer):.3g} % fewer than AAI, {mean:.3g} % on average"
    return said, YES if mean >= 90 else IN_PART if min(fewer) > 0 else NO


_fewer("14", "index accesses, tuples arriving,", (3.9, 36.5), (7.7, 42.5))
_fewer("15", "tuple accesses, tuples arriving,", (93.3, 99.91), (44.1, 98.7))


@claim("Figure 16", "yield-figure16", _TUPLES)
def _(block: Block) -> Found:
    """Construction takes about what FI takes, more where a rule joins by several variables."""
    grid = block.grids[0]
    ratios = [a / b for a, b in zip(grid.numbers("YI"), grid.numbers("FI"), strict=True)]
    return f"{shown(min(ratios))} to {shown(max(ratios))} times FI's accesses", YES if max(
        ratios
    ) < 1.25 else NO


@claim("Figure 17", "yield-figure17", _TUPLES)
def _(block: Block) -> Found:
    """YI and FI need fewer entries than the others, in most tests."""
    grid = block.grids[0]
    ratios = {
        other: [
            grid.number("entries", data, "YI") / grid.number("entries", data, other)
            for data in dict.fromkeys(grid.column("data"))
        ]
        for other in ("AAI", "FI")
    }
    said = ", ".join(
        f"{shown(min(each))} to {shown(max(each))} times {name}'s" for name, each in ratios.items()
    )
    return said, YES if max(ratios["AAI"]) < 1 and min(ratios["FI"]) < 1 else IN_PART if min(
        ratios["AAI"]
    ) < 1 else NO


@claim("Figure 18", "yield-figure18", noted("scale 1 is (6,000 to 15,000 arcs)"))
def _(block: Block) -> Found:
    """A closure takes two orders of magnitude fewer entry accesses than semi-naive evaluation."""
    fewer = block.grids[0].numbers("times fewer")
    return f"{shown(min(fewer))} to {shown(max(fewer))} times fewer", YES if min(
        fewer
    ) >= 100 else IN_PART if min(fewer) > 10 else NO


@claim("Figure 19", "yield-figure19", noted("scale 1 is (6,000 to 15,000 arcs)"))
def _(block: Block) -> Found:
    """A closure is worked out 1,506 to 4,115 times faster."""
    faster = block.grids[0].numbers("times faster")
    said = (
        f"{shown(min(faster))} to {shown(max(faster))} times, beside semi-naive evaluation over sorted arrays"
    )
    return said, YES if min(faster) >= 1_000 else IN_PART if min(faster) > 10 else NO
