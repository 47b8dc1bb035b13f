"""The overview as one HTML page: the noisiest rules, and some that never matched. All are in the tables."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from tocsin.display import safe
from tocsin.history.html_document import html_cards, html_document, html_table
from tocsin.history.overview.overview_result import DECADES, Digest, Summary
from tocsin.history.overview.plots import columns, quantile_strip, sparkline, stretches, timeline
from tocsin.history.overview.rule_tables import SCORES
from tocsin.history.overview.time_buckets import width_text

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MISSING_SHOWN = 50


def page(digest: Digest) -> str:
    """The text of the page."""
    summary = digest.summary
    sections = [
        _cards(summary),
        _over_time(digest),
        _by_hits(summary),
        _noisiest(digest),
        _never(digest),
        _missing(summary),
    ]
    return html_document(f"{summary.rules:,} rules over {summary.events:,} events", sections)


def _cards(summary: Summary) -> str:
    cards = [
        ("events", f"{summary.events:,}", _rejects(summary)),
        ("events with a match", f"{summary.matched:,}", _share(summary.matched, summary.events)),
        ("matches", f"{summary.matches:,}", f"{summary.matches / max(1, summary.events):,.3g} an event"),
        ("rules", f"{summary.rules:,}", f"{summary.rules - summary.never:,} matched"),
        (
            "never matched",
            f"{summary.never:,}",
            f"{summary.could_not:,} of them could not" if summary.never else "",
        ),
        ("matched every event", f"{summary.always:,}", ""),
    ]
    return html_cards(cards)


def _rejects(summary: Summary) -> str:
    return f"{summary.rejects:,} records were none" if summary.rejects else ""


def _share(part: int, whole: int) -> str:
    return f"{part / max(1, whole):.2%}"


def _over_time(digest: Digest) -> str:
    summary, rows = digest.summary, digest.times.to_pylist()
    if not rows or summary.width is None:
        return ""
    labels = [
        f"{_when(row['at'])}: {row['events']:,} events, {row['matched']:,} with a match,"
        f" {row['matches']:,} matches"
        for row in rows
    ]
    plot = timeline(
        [_second(row["at"]) for row in rows],
        summary.width,
        [row["matched"] for row in rows],
        [row["events"] for row in rows],
        labels,
        (f"from {_when(rows[0]['at'])}", f"last from {_when(rows[-1]['at'])}"),
    )
    by = f"by <code>{safe(summary.time or '')}</code>, {width_text(summary.width)} each, UTC"
    return (
        f'<section><h2>Events over time</h2><p>{by}. <i class="key full"></i> with a match'
        f' <i class="key faint"></i> all</p>{plot}</section>'
    )


def _by_hits(summary: Summary) -> str:
    names = ["never", *(_decade(low, high) for low, high in DECADES[1:])]
    last = max((place for place, count in enumerate(summary.by_hits) if count), default=0)
    counts = summary.by_hits[: max(last, 3) + 1]
    labels = [f"{count:,} rules: {name}" for count, name in zip(counts, names, strict=False)]
    plot = columns(counts, names[: len(counts)], labels)
    return f"<section><h2>Rules by how often they matched</h2>{plot}</section>"


def _decade(low: int, high: int) -> str:
    return (
        f"{_short(low)} on"
        if high > 10**8
        else f"{_short(low)} to {_short(high - 1)}"
        if low > 1
        else "1 to 9"
    )


def _short(number: int) -> str:
    return f"{number:,}" if number < 10**5 else f"{number / 10**6:.3g} M"


def _noisiest(digest: Digest) -> str:
    rows = digest.noisiest.to_pylist()
    if not rows:
        return ""
    width = digest.summary.width
    over_time = _grouped(digest.over_time)
    samples = _grouped(digest.samples)
    starts = [_second(row["at"]) for row in digest.times.to_pylist()]
    largest = max((row[SCORES[-1]] or 0.0 for row in rows), default=0.0)
    has_scores = any(row[SCORES[0]] is not None for row in rows)
    heads = [
        "rule",
        "hits",
        "share of events",
        *(["over time"] if starts else []),
        *(["scores"] if has_scores else []),
    ]
    body = []
    for row in rows:
        cells = [_rule_cell(row, samples[row["rule"]]), _number(row["hits"]), _rate(row["rate"])]
        if starts and width is not None:
            cells.append(f"<td>{_spark(over_time[row['rule']], starts, width)}</td>")
        if has_scores:
            cells.append(_score_cell(row, largest))
        body.append(f"<tr>{''.join(cells)}</tr>")
    more = digest.summary.rules - digest.summary.never - len(rows)
    note = f"<p>{more:,} more matched less often.</p>" if more > 0 else ""
    return f"<section><h2>The noisiest rules</h2>{html_table(heads, body)}{note}</section>"


def _grouped(table: pa.Table) -> dict[str, list[dict[str, Any]]]:
    rows = defaultdict(list)
    for row in table.to_pylist():
        rows[row["rule"]].append(row)
    return rows


def _rule_cell(row: dict[str, Any], samples: Sequence[dict[str, Any]]) -> str:
    shown = "".join(f"<pre>{_sample(each)}</pre>" for each in samples)
    details = f"<details><summary>{_events(len(samples))}</summary>{shown}</details>" if samples else ""
    return f"<td data-value='{safe(row['rule'])}'>{_named(row)}{details}</td>"


def _events(count: int) -> str:
    return "1 event" if count == 1 else f"{count} events"


def _named(row: dict[str, Any]) -> str:
    return f"<bdi class='rule'>{safe(row['rule'])}</bdi><code><bdi>{safe(row['when'])}</bdi></code>"


def _sample(row: dict[str, Any]) -> str:
    number = "" if row["event"] is None else f"event {row['event']:,}\n"
    return number + safe(_indented(row["json"] or ""))


def _indented(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _number(value: int) -> str:
    return f"<td class='number' data-value='{value}'>{value:,}</td>"


def _rate(rate: float) -> str:
    return (
        f"<td class='number' data-value='{rate!r}'>{rate:.2%}"
        f"<div class='share'><div style='width:{100 * rate:.1f}%'></div></div></td>"
    )


def _spark(rows: Sequence[dict[str, Any]], starts: Sequence[int], width: int) -> str:
    count = stretches(starts[0], starts[-1], width) + 1
    ordered = sorted(rows, key=lambda row: row["at"])
    return sparkline(
        [_second(row["at"]) for row in ordered], starts[0], count, width, [row["hits"] for row in ordered]
    )


def _score_cell(row: dict[str, Any], largest: float) -> str:
    quantiles = [row[name] for name in SCORES]
    if quantiles[0] is None:
        return "<td data-value='-1'></td>"
    median = f"{quantiles[2]:.3g}"
    strip = quantile_strip(quantiles, largest)
    return f"<td class='number' data-value='{quantiles[2]!r}'>{strip} {median}</td>"


def _never(digest: Digest) -> str:
    rows = digest.never.to_pylist()
    if not rows:
        return ""
    body = [
        f"<tr><td data-value='{safe(row['rule'])}'>{_named(row)}</td>"
        f"<td class='why'>{'' if row['could_match'] else '<b>could not:</b> '}"
        f"<bdi>{safe(row['why'] or '')}</bdi></td></tr>"
        for row in rows
    ]
    more = digest.summary.never - len(rows)
    note = f"<p>{more:,} more never matched.</p>" if more > 0 else ""
    return f"<section><h2>Rules that never matched</h2>{html_table(['rule', 'why'], body)}{note}</section>"


def _missing(summary: Summary) -> str:
    if not summary.missing:
        return ""
    names = ", ".join(f"<code>{safe(name)}</code>" for name in summary.missing[:_MISSING_SHOWN])
    more = len(summary.missing) - _MISSING_SHOWN
    return (
        "<section><h2>Fields that rules name and no event has</h2>"
        f"<p>{names}{f' and {more:,} more' if more > 0 else ''}</p></section>"
    )


def _second(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(seconds=1)


def _when(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M")
