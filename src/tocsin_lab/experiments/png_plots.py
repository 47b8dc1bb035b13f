"""Plots as PNG, in the manner of the papers' figures: panels side by side, one legend below.

An engine has the same colour and marker in every plot; other names take theirs in the order in which
they come. A hollow marker stands where an engine refused some rules. A whisker reaches from the best of
several rounds, which is drawn, up to the slowest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tocsin_lab.experiments.outcome import Axis, Bars, Line, Lines, Plot
from tocsin_lab.experiments.table_texts import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis
    from matplotlib.figure import Figure

PANELS_IN_A_ROW = 4
WIDTH, WIDER, HEIGHT, LEGEND, TITLE, NOTE = 3.5, 4.6, 2.9, 0.35, 0.35, 0.25
"""Inches: of a panel, one with many bars, of a line of the legend, of the title, of a line of a note."""
LETTER = 0.1
"""Inches that a letter of the title takes, about."""
FIGURE = 0.065
"""Inches that a figure above a bar takes, about."""
BESIDE_THE_AXES = 0.7
"""Inches of a panel that are not between its axes, about."""
DOTS_PER_INCH = 110
LEGEND_IN_A_ROW = 6
MANY_TICKS = 8
MANY_BARS = 10
WIDEST_CATEGORIES = 40
"""Letters that fit below a panel; names that are longer together stand aslant."""


WHISKER: dict[str, Any] = {"elinewidth": 1.0, "capsize": 2.5, "capthick": 1.0}


class Style(NamedTuple):
    """How a name looks."""

    colour: str
    marker: str


ENGINE_STYLES = {
    "atree": Style("#d62728", "o"),
    "atree in blocks": Style("#ff9896", "o"),
    "interval": Style("#1f77b4", "s"),
    "dewey": Style("#17a2b8", "D"),
    "bop": Style("#2ca02c", "^"),
    "bdd": Style("#9467bd", "v"),
    "dnf": Style("#8c564b", "P"),
    "scan": Style("#555555", "X"),
    "scan-conj": Style("#bcbd22", "*"),
    "FAI": Style("#8c564b", "s"),
    "AAI": Style("#1f77b4", "o"),
    "AMEM": Style("#555555", "o"),
    "FI": Style("#2ca02c", "s"),
    "YI": Style("#d62728", "D"),
    "ours": Style("#4477aa", "o"),
    "the paper": Style("#cccccc", "s"),
}
_OTHERS = (
    Style("#4477aa", "o"),
    Style("#ee6677", "s"),
    Style("#228833", "^"),
    Style("#ccbb44", "D"),
    Style("#66ccee", "v"),
    Style("#aa3377", "P"),
    Style("#bbbbbb", "X"),
)


def write_plot(plot: Plot, path: Path) -> None:
    """Draw it; no display is needed."""
    drawn(plot).savefig(path, format="png")


def drawn(plot: Plot) -> Figure:
    """The plot as matplotlib has it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    styles = _styles(name for panel in plot.panels for name in _names(panel))
    across = min(len(plot.panels), PANELS_IN_A_ROW)
    down = -(-len(plot.panels) // across)
    panel_width = WIDER if any(map(_is_crowded, plot.panels)) else WIDTH
    width = max(across * panel_width, LETTER * len(plot.title))
    named = {each for panel in plot.panels for each in _legend_names(panel)}
    in_a_row = min(LEGEND_IN_A_ROW, int(width / 1.4))
    with_legend = bool(named) and len(styles) > 1
    below = LEGEND * -(-len(named) // in_a_row) if with_legend else 0.0
    noted = NOTE * max(panel.note.count("\n") + 1 if panel.note else 0 for panel in plot.panels)
    height = down * (HEIGHT + noted) + TITLE + below
    room = ConstrainedLayoutEngine(rect=(0, below / height, 1, 1 - (below + TITLE) / height))
    figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH, layout=room)
    figure.suptitle(plot.title, y=1 - 0.08 / height, va="top", fontsize=11, fontweight="bold")
    places = figure.subplots(down, across, squeeze=False).ravel()
    for axes, panel in zip(places, plot.panels, strict=False):
        _draw(axes, panel, styles)
    for axes in places[len(plot.panels) :]:
        axes.set_axis_off()
    if with_legend:
        _add_legend(figure, places, in_a_row)
    FigureCanvasAgg(figure)
    return figure


def _is_crowded(panel: Lines | Bars) -> bool:
    return isinstance(panel, Bars) and len(panel.bars) * len(panel.categories) > MANY_BARS


def _add_legend(figure: Figure, places: Iterable[Axes], in_a_row: int) -> None:
    """Every name once, below all panels."""
    handles = {
        name: handle
        for axes in places
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        handles.values(), handles.keys(), loc="lower center", ncols=in_a_row, fontsize=9, frameon=False
    )


def _styles(names: Iterable[str]) -> dict[str, Style]:
    unknown = 0
    styles: dict[str, Style] = {}
    for name in names:
        if name not in styles and name in ENGINE_STYLES:
            styles[name] = ENGINE_STYLES[name]
        elif name not in styles:
            styles[name] = _OTHERS[unknown % len(_OTHERS)]
            unknown += 1
    return styles


def _names(panel: Lines | Bars) -> list[str]:
    """The names that have a colour in a panel."""
    if isinstance(panel, Lines):
        return [line.name for line in panel.lines]
    return [name for bar in panel.bars for name in ([bar.name] if bar.name else panel.categories)]


def _legend_names(panel: Lines | Bars) -> list[str]:
    """Those of them that nothing else tells: a category stands below its bar."""
    return [each.name for each in (panel.lines if isinstance(panel, Lines) else panel.bars) if each.name]


def _draw(axes: Axes, panel: Lines | Bars, styles: dict[str, Style]) -> None:
    axes.set_title(panel.title, fontsize=10)
    axes.set_ylabel(panel.up.text, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(True, color="#e5e5e5", linewidth=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if isinstance(panel, Lines):
        _draw_lines(axes, panel, styles)
    else:
        _draw_bars(axes, panel, styles)
    _scale(axes.yaxis, panel.up)
    if not panel.up.log:
        axes.set_ylim(bottom=0)
    elif isinstance(panel, Bars):
        axes.set_ylim(bottom=_decade_below(axes))
    else:
        _show_a_decade(axes)
    if panel.note:
        label = axes.get_xlabel()
        axes.set_xlabel(f"{label}\n{panel.note}", fontsize=8)


def _draw_lines(axes: Axes, panel: Lines, styles: dict[str, Style]) -> None:
    axes.set_xlabel(panel.across.text, fontsize=9)
    for line in panel.lines:
        _draw_line(axes, line, styles[line.name])
    _scale(axes.xaxis, panel.across)
    values = sorted({x for line in panel.lines for x, _ in line.points})
    if 0 < len(values) <= MANY_TICKS:
        axes.set_xticks(values, [_tick(value) for value in values])
        axes.minorticks_off()


def _draw_line(axes: Axes, line: Line, style: Style) -> None:
    """Many points are a curve, few are markers on a line."""
    x = [each for each, _ in line.points]
    y = [each for _, each in line.points]
    marker = style.marker if len(x) <= 4 * MANY_TICKS else ""
    axes.plot(x, y, color=style.colour, marker=marker, markersize=5, linewidth=1.4, label=line.name)
    if line.slowest:
        axes.errorbar(x, y, _whiskers(y, line.slowest), fmt="none", ecolor=style.colour, **WHISKER)
    hollow = [point for point in line.points if point[0] in line.partial]
    if hollow:
        axes.plot(
            [each for each, _ in hollow],
            [each for _, each in hollow],
            color=style.colour,
            marker=style.marker,
            markerfacecolor="white",
            markersize=5,
            linestyle="none",
        )


def _whiskers(values: Sequence[float], slowest: Sequence[float]) -> list[list[float]]:
    """How far whiskers reach: nothing below, up to the slowest."""
    return [[0.0] * len(values), [max(0.0, up - value) for value, up in zip(values, slowest, strict=True)]]


def _draw_bars(axes: Axes, panel: Bars, styles: dict[str, Style]) -> None:
    count = len(panel.categories)
    width = 0.8 if panel.stacked else 0.8 / len(panel.bars)
    floor = [0.0] * count
    upright = _labels_are_wider(panel, width)
    for number, bar in enumerate(panel.bars):
        heights = [each or 0.0 for each in bar.heights]
        slowest = [each or height for each, height in zip(bar.slowest or heights, heights, strict=True)]
        beside = 0.0 if panel.stacked else (number - (len(panel.bars) - 1) / 2) * width
        bars = axes.bar(
            [place + beside for place in range(count)],
            heights,
            width,
            bottom=floor if panel.stacked else 0.0,
            color=[styles[bar.name or category].colour for category in panel.categories],
            label=bar.name or "_without a name",
            yerr=_whiskers(heights, slowest) if bar.slowest else None,
            error_kw={"ecolor": "#222222", **WHISKER},
        )
        if panel.stacked:
            floor = [below + height for below, height in zip(floor, heights, strict=True)]
        else:
            axes.bar_label(
                bars,
                [shown(each) for each in bar.heights],
                fontsize=7 if count < 7 else 6,
                rotation=90 if upright else 0,
                padding=2 if upright else 0,
            )
    steep = sum(map(len, panel.categories)) + count > WIDEST_CATEGORIES
    axes.set_xticks(
        range(count),
        list(panel.categories),
        rotation=30 if steep else 0,
        ha="right" if steep else "center",
        rotation_mode="anchor" if steep else "default",
    )
    axes.margins(y=0.3 if upright else 0.12)
    axes.grid(False, axis="x")
    axes.set_xlabel(panel.across, fontsize=9)


def _labels_are_wider(panel: Bars, width: float) -> bool:
    """Whether some figure is wider than its bar, which has this share of a category's width."""
    inches = (WIDER if _is_crowded(panel) else WIDTH) - BESIDE_THE_AXES
    letters = max((len(shown(each)) for bar in panel.bars for each in bar.heights), default=0)
    return letters * FIGURE > width * inches / len(panel.categories)


def _scale(side: XAxis | YAxis, axis: Axis) -> None:
    """Linear or logarithmic, with plain numbers at the ticks."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes = side.axes
    (axes.set_yscale if side is axes.yaxis else axes.set_xscale)("log" if axis.log else "linear")
    if axis.log:
        low, high = side.get_data_interval()
        ratio = high / low if low > 0 else 0.0
        side.set_major_locator(LogLocator(subs=(1, 2, 5) if 0 < ratio < 100 else (1,)))
        side.set_minor_formatter(NullFormatter())
    side.set_major_formatter(FuncFormatter(lambda value, _place: _tick(value)))


def _show_a_decade(axes: Axes) -> None:
    """Small differences look small: a logarithmic axis shows a factor of ten at least."""
    low, high = axes.dataLim.intervaly
    if 0 < low <= high < 10 * low:
        middle = math.sqrt(low * high)
        axes.set_ylim(middle / 10**0.55, middle * 10**0.55)


def _decade_below(axes: Axes) -> float:
    """Where bars begin on a logarithmic axis: at a power of ten below all of them."""
    from matplotlib.patches import Rectangle

    heights = [each.get_bbox().height for each in axes.patches if isinstance(each, Rectangle)]
    lowest = min((each for each in heights if each > 0), default=1.0)
    return 10.0 ** math.floor(math.log10(lowest / 1.5))


def _tick(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "K")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"
