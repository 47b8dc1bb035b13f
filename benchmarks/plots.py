"""A small line plot as SVG: both axes logarithmic, a few series, no library."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 84, 170, 44, 56
COLOURS = ("#1f6f8b", "#c8553d", "#588157", "#6d597a")

Points = Sequence[tuple[float, float]]


def log_plot(title: str, across: str, up: str, series: Mapping[str, Points]) -> str:
    """The series as lines with a mark at each point; every value must be above 0."""
    points = [point for line in series.values() for point in line]
    x_axis = _Axis([x for x, _ in points], LEFT, WIDTH - RIGHT)
    y_axis = _Axis([y for _, y in points], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(WIDTH / 2, 22, title, size=15),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, across),
        _text(18, (TOP + HEIGHT - BOTTOM) / 2, up, turned=True),
    ]
    for value in x_axis.ticks():
        x = x_axis.place(value)
        parts.append(_line(x, TOP, x, HEIGHT - BOTTOM))
        parts.append(_text(x, HEIGHT - BOTTOM + 18, _number(value)))
    for value in y_axis.ticks():
        y = y_axis.place(value)
        parts.append(_line(LEFT, y, WIDTH - RIGHT, y))
        parts.append(_text(LEFT - 8, y + 4, _number(value), anchor="end"))
    for colour, (name, line) in zip(COLOURS, series.items(), strict=False):
        places = [(x_axis.place(x), y_axis.place(y)) for x, y in line]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in places]
        x, y = places[-1]
        parts.append(_text(x + 10, y + 4, name, anchor="start", colour=colour))
    return "\n".join([*parts, "</svg>", ""])


class _Axis:
    """Values above 0 by their logarithm, from `low` to `high` on the page."""

    def __init__(self, values: Sequence[float], low: float, high: float) -> None:
        self.first = math.floor(math.log10(min(values)))
        self.last = max(self.first + 1, math.ceil(math.log10(max(values))))
        self.low, self.high = low, high

    def place(self, value: float) -> float:
        share = (math.log10(value) - self.first) / (self.last - self.first)
        return self.low + share * (self.high - self.low)

    def ticks(self) -> list[float]:
        return [10.0**power for power in range(self.first, self.last + 1)]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#dddddd"/>'


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: int = 12,
    anchor: str = "middle",
    colour: str = "#333333",
    turned: bool = False,
) -> str:
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"{turn}>'
        f"{escape(text)}</text>"
    )
