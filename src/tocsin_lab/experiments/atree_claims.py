"""What the text of the A-Tree paper says about its plots, beside what came out here.

The plots' own values are not in the text; these sentences are, and each can be asked of our figures.
An engine that refused rules has not done the same work, and is then not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tocsin_lab.experiments.doors import JUDGE
from tocsin_lab.experiments.outcome import Cell, Column, Table
from tocsin_lab.experiments.readings import Reading, Readings

Value = Callable[[Reading], float | None]
Panel = Mapping[float, Readings]


@dataclass(frozen=True)
class Claim:
    """One sentence: about which panel, what it says, the paper's figure, and how ours is found."""

    letter: str
    says: str
    paper: str
    ours: Callable[[Panel, Value], str]

    @classmethod
    def less(cls, letter: str, where: str, paper: str) -> Claim:
        """A-Tree takes so much less than the next best, at the largest value."""
        return cls(letter, f"A-Tree against the next best, {where}", paper, less_than_next)

    @classmethod
    def least_from(cls, letter: str, paper: str) -> Claim:
        """A-Tree takes least, from some value on."""
        return cls(letter, "A-Tree takes least", paper, least_from)

    @classmethod
    def ranking(cls, letter: str, paper: str) -> Claim:
        """The engines, the best first, at the largest value."""
        return cls(letter, "ranking, the best first", paper, ranking)

    @classmethod
    def refuses(cls, letter: str, engine: str, paper: str) -> Claim:
        """An engine cannot go on, from some value on."""
        return cls(letter, f"{engine} cannot take the rules", paper, lambda *of: refuses_from(engine, *of))


def claims_table(title: str, claims: Sequence[Claim], panels: Mapping[str, Panel], value: Value) -> Table:
    """A row for each sentence."""
    rows: list[list[Cell]] = [
        [f"({claim.letter})", claim.says, claim.ours(panels[claim.letter], value), claim.paper]
        for claim in claims
    ]
    columns = [Column("panel"), Column("what the text says"), Column("ours"), Column("in the paper")]
    return Table(f"{title}: what the paper's text says of it", columns, rows, name="text")


def less_than_next(panel: Panel, value: Value) -> str:
    """How much less A-Tree takes than the best of the others at the panel's largest value."""
    last = panel[max(panel)]
    own, others = _compared(last, value)
    if own is None or not others:
        return "nothing to compare"
    best = min(others, key=lambda name: others[name])
    change = 100 * (1 - own / others[best])
    return f"{abs(change):.0f} % {'less' if change >= 0 else 'more'} than {best}"


def least_from(panel: Panel, value: Value) -> str:
    """From which value on no other engine takes less than A-Tree."""
    least: list[float] = []
    for each in sorted(panel):
        own, others = _compared(panel[each], value)
        wins = own is not None and bool(others) and own <= min(others.values())
        least = [*least, each] if wins else []
    if not least:
        return "not at the end"
    return "always" if len(least) == len(panel) else f"from {least[0]:,g} on"


def ranking(panel: Panel, value: Value) -> str:
    """The engines that took every rule, the best first, at the panel's largest value."""
    own, others = _compared(panel[max(panel)], value)
    figures = others if own is None else {JUDGE: own, **others}
    return ", ".join(sorted(figures, key=lambda name: figures[name]))


def refuses_from(engine: str, panel: Panel, _value: Value) -> str:
    """From which value on an engine refuses rules, and what part of them at the largest."""
    if any(engine not in readings for readings in panel.values()):
        return "not measured"
    refusing = [each for each in sorted(panel) if panel[each][engine].refused]
    if not refusing:
        return "takes all"
    last = panel[max(panel)][engine]
    share = 100 * last.refused / last.offered
    return f"refuses some from {refusing[0]:,g} on, {share:.2g} % at {max(panel):,g}"


def _compared(readings: Readings, value: Value) -> tuple[float | None, dict[str, float]]:
    """A-Tree's figure, and those of the others that took every rule."""
    taken = {name: value(each) for name, each in readings.items() if not each.refused}
    figures = {name: each for name, each in taken.items() if each is not None}
    return figures.pop(JUDGE, None), figures
