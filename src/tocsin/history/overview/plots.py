"""Plots as SVG, in the colours of the page they stand on.

Every text that comes from outside is escaped here; numbers are the only other thing that is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import floor, log10

WIDE, TALL = 860, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 12, 12, 28
_TEXT = 11


def timeline(
    starts: Sequence[int],
    width: int,
    lower: Sequence[int],
    upper: Sequence[int],
    labels: Sequence[str],
    ends: tuple[str, str],
) -> str:
    """Two counts in each stretch of time, the smaller in front of the larger.

    starts   the second at which each stretch begins, ascending; what is not here had none
    labels   what each says when it is pointed at
    ends     what stands below the first and the last
    """
    if not starts:
        return ""
    count = stretches(starts[0], starts[-1], width) + 1
    step = (WIDE - _LEFT - _RIGHT) / count
    most = _round_up(max(upper))
    parts = _grid(most)
    for start, inner, outer, label in zip(starts, lower, upper, labels, strict=True):
        left = _LEFT + stretches(starts[0], start, width) * step
        parts.append(f"<g><title>{escape(label)}</title>")
        parts.append(_bar(left, step, outer / most, "faint"))
        parts.append(_bar(left, step, inner / most, "full"))
        parts.append("</g>")
    parts.append(_text(_LEFT, TALL - 9, ends[0], "start"))
    parts.append(_text(WIDE - _RIGHT, TALL - 9, ends[1], "end"))
    return _svg(parts, WIDE, TALL)


def columns(counts: Sequence[int], names: Sequence[str], labels: Sequence[str]) -> str:
    """A column for each count, with its name below and the count above."""
    most = max(*counts, 1)
    step = (WIDE - _LEFT - _RIGHT) / len(counts)
    parts = []
    for place, (count, name, label) in enumerate(zip(counts, names, labels, strict=True)):
        left = _LEFT + place * step
        middle = left + step / 2
        height = 0.86 * count / most
        parts.append(f"<g><title>{escape(label)}</title>{_bar(left, step, height, 'full', 0.18)}</g>")
        parts.append(_text(middle, TALL - 9, name))
        if count:
            parts.append(_text(middle, _y(height) - 4, f"{count:,}", "value"))
    return _svg(parts, WIDE, TALL)


def sparkline(starts: Sequence[int], first: int, count: int, width: int, values: Sequence[int]) -> str:
    """Counts over time, small, of `count` stretches from `first` on."""
    wide, tall = 150, 26
    most = max(*values, 1)
    step = wide / max(1, count)
    bars = []
    for start, value in zip(starts, values, strict=True):
        height = max(1.0, (tall - 2) * value / most)
        left = stretches(first, start, width) * step
        bars.append(
            f'<rect class="full" x="{left:.1f}" y="{tall - height:.1f}" width="{max(0.8, step - 0.4):.1f}"'
            f' height="{height:.1f}"/>'
        )
    size = f'viewBox="0 0 {wide} {tall}" width="{wide}" height="{tall}"'
    return f'<svg class="spark" {size}>{"".join(bars)}</svg>'


def quantile_strip(quantiles: Sequence[float], largest: float) -> str:
    """Five quantiles of scores from 0 to `largest`: a line for all, a box for most, a mark for the median."""
    wide, tall = 110, 16
    least, low, median, high, most = (wide * value / (largest or 1.0) for value in quantiles)
    said = escape(" / ".join(f"{value:.3g}" for value in quantiles))
    return (
        f'<svg class="spark" viewBox="-2 0 {wide + 4} {tall}" width="{wide}" height="{tall}">'
        f"<title>least, 10 %, median, 90 %, largest: {said}</title>"
        f'<line class="axis" x1="{least:.1f}" x2="{most:.1f}" y1="8" y2="8"/>'
        f'<rect class="faint" x="{low:.1f}" y="3" width="{max(1.0, high - low):.1f}" height="10"/>'
        f'<rect class="full" x="{median - 1:.1f}" y="1" width="2.5" height="14"/></svg>'
    )


def stretches(first: int, start: int, width: int) -> int:
    """How many stretches of time lie before the one that starts then; the first of all may be cut short,
    where the calendar begins."""
    return -((first - start) // width)


def _svg(parts: Sequence[str], wide: int, tall: int) -> str:
    return f'<svg viewBox="0 0 {wide} {tall}" role="img">{"".join(parts)}</svg>'


def _grid(most: int) -> list[str]:
    parts = []
    for share in (0.0, 0.5, 1.0):
        y = _y(share)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{WIDE - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(_LEFT - 6, y + 4, f"{most * share:,.10g}", "end"))
    return parts


def _bar(left: float, step: float, share: float, style: str, gap: float = 0.08) -> str:
    top = _y(share)
    return (
        f'<rect class="{style}" x="{left + gap * step / 2:.2f}" y="{top:.2f}" width="{step * (1 - gap):.2f}"'
        f' height="{_y(0) - top:.2f}"/>'
    )


def _y(share: float) -> float:
    return TALL - _BOTTOM - share * (TALL - _TOP - _BOTTOM)


def _text(x: float, y: float, text: str, style: str = "middle") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" font-size="{_TEXT}">{escape(text)}</text>'


def _round_up(value: int) -> int:
    """The next number whose half is a round one too."""
    if value <= 2:
        return 2
    step = 10 ** floor(log10(value))
    return next(int(step * share) for share in (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10) if step * share >= value)
