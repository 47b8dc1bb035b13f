"""One rule's test run as an HTML page: its hits by score, with the words that counted, and thresholds."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tocsin.conditions.language import threshold_text
from tocsin.display import safe
from tocsin.history.html_document import html_cards, html_document, html_table
from tocsin.history.overview.plots import columns, timeline
from tocsin.history.trial.printed_scores import cut_off
from tocsin.history.trial.test_run import TestRun
from tocsin.printable import number_of
from tocsin.text import Stretch

_SECONDS_A_DAY = 86_400
_MOST_BARS = 120


def ranking_page(run: TestRun, threshold: float | None = None) -> str:
    """The text of the page; `threshold` is one of yours beside that of the rule."""
    sections = [
        f"<p><code><bdi>{safe(run.tried.when)}</bdi></code></p>",
        _cards(run),
        _why(run),
        _ranked(run, threshold),
        _thresholds(run, threshold),
        _bars(run),
        _days(run, threshold),
    ]
    over = "joined rows" if run.tables else number_of(run.events, "event")
    return html_document(f"{run.rule} over {over}", sections)


def _cards(run: TestRun) -> str:
    count = len(run.ranking.event)
    a_day = "" if not run.days else f"{run.hits / run.days:,.3g} a day"
    counts = {f"rows of {alias}": rows for alias, rows in run.tables.items()} or {"events": run.events}
    cards = [(safe(name), f"{rows:,}", "") for name, rows in counts.items()]
    if run.olds is not None:
        cards.append(("events with an object old", f"{run.olds:,}", "the row before the change"))
    if run.rejects:
        cards.append(("records that are not events", f"{run.rejects:,}", ""))
    if run.query is not None:
        now = "none" if run.threshold is None else threshold_text(run.threshold)
        cards += [("hold without a threshold", f"{count:,}", ""), ("threshold", now, "as the rule has it")]
    return html_cards([*cards, ("alerts", f"{run.hits:,}", a_day)])


def _why(run: TestRun) -> str:
    if run.why is None:
        return ""
    lines = "".join(f"<li><bdi>{safe(line)}</bdi></li>" for line in run.why.lines())
    return f"<section><h2>Why it never matched</h2><ul>{lines}</ul></section>"


def _ranked(run: TestRun, threshold: float | None) -> str:
    found = run.ranking
    count = len(found.texts)
    if not count:
        return ""
    has_scores = not np.isnan(found.score[:count]).any()
    heads = [*(["score"] if has_scores else []), *(["day"] if run.days else []), "event", "text"]
    asked = run.threshold if threshold is None else threshold
    scores = run.printed_scores(count) if has_scores else []
    body = []
    for place, row in enumerate(run.head(count).to_pylist()):
        numbers = row.get("rows") or {}
        joined = "".join(f"<small>{safe(alias)} {number}</small>" for alias, number in numbers.items())
        cells = []
        if has_scores:
            cells = [f"<td class='number' data-value='{row['score']!r}'>{scores[place]}</td>"]
        cells += [f"<td class='number'>{row['day'] or ''}</td>"] if run.days else []
        cells.append(f"<td class='number' data-value='{row['event']}'>{row['event']:,}{joined}</td>")
        cells.append(f"<td class='text'>{_marked(run.shown(place))}</td>")
        is_below = has_scores and not row["always"] and row["score"] < (asked or 0)
        body.append(f"<tr{' class=below' if is_below else ''}>{''.join(cells)}</tr>")
    more = len(found.event) - count
    note = f"<p>{more:,} more, with lower scores or later.</p>" if more else ""
    faint = "" if not asked or not has_scores else f" Faint: below {threshold_text(asked)}."
    said = f"<p>A printed score used as a threshold takes in the event it stands at.{faint}</p>" * has_scores
    title = "Hits by score" if has_scores else "Hits"
    return f"<section><h2>{title}</h2>{said}{html_table(heads, body)}{note}</section>"


def _marked(shown: Iterable[Stretch]) -> str:
    """A text with its marked words, right to left where it is."""
    parts = (f"<mark>{safe(each.text)}</mark>" if each.is_marked else safe(each.text) for each in shown)
    return f"<bdi>{''.join(parts)}</bdi>"


def _thresholds(run: TestRun, threshold: float | None) -> str:
    if run.query is None or not len(run.ranking.event):
        return ""
    body = []
    for row, note in run.choices(threshold):
        a_day = "" if row["alerts a day"] is None else f"{row['alerts a day']:,.2f}"
        step = threshold_text(row["threshold"] or 0.0)
        cells = [f"<td class='number'>{each}</td>" for each in (step, f"{row['alerts']:,}", a_day)]
        body.append(f"<tr>{''.join(cells)}<td>{note}</td></tr>")
    heads = ["threshold", "alerts", "alerts a day", ""]
    return f"<section><h2>What a threshold gives</h2>{html_table(heads, body)}</section>"


def _bars(run: TestRun) -> str:
    rows = run.histogram().to_pylist()
    if not rows:
        return ""
    labels = [f"{row['events']:,} from {cut_off(row['from'])} to {cut_off(row['below'])}" for row in rows]
    plot = columns([row["events"] for row in rows], [cut_off(row["from"]) for row in rows], labels)
    return f"<section><h2>Scores</h2>{plot}</section>"


def _days(run: TestRun, threshold: float | None) -> str:
    if not run.days or run.first_day is None or not len(run.ranking.event):
        return ""
    width = -(-run.days // _MOST_BARS)
    upper, lower = (
        np.add.reduceat(run.per_day(each).column("alerts").to_numpy(), np.arange(0, run.days, width))
        for each in (None if run.query is None else 0.0, threshold)
    )
    starts = [(run.first_day + at * width) * _SECONDS_A_DAY for at in range(len(upper))]
    dates = [str(np.datetime64(start, "s").astype("datetime64[D]")) for start in starts]
    counts = upper.tolist(), lower.tolist()
    labels = [f"{day}: {few:,} of {many:,}" for day, many, few in zip(dates, *counts, strict=True)]
    ends = f"from {dates[0]}", f"last from {dates[-1]}"
    plot = timeline(starts, width * _SECONDS_A_DAY, counts[1], counts[0], labels, ends)
    by = f"by <code>{safe(run.time or '')}</code>, {number_of(width, 'day')} each, UTC"
    key = '<i class="key full"></i> alerts'
    if run.query is not None:
        key += ' <i class="key faint"></i> without a threshold'
    return f"<section><h2>Alerts over time</h2><p>{by}. {key}</p>{plot}</section>"
