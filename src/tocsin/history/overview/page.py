"""The overview as one HTML page that needs nothing but a browser.

Rule ids, conditions and events may hold anything, scripts among it: every text goes through `_safe`, and
the page's own policy lets nothing be loaded or sent. It holds the noisiest rules and some that never
matched; all of them are in the tables that `write` writes.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any

import pyarrow as pa

from tocsin.history.overview.overview_result import DECADES, Digest, Summary
from tocsin.history.overview.plots import columns, quantile_strip, sparkline, stretches, timeline
from tocsin.history.overview.rule_tables import SCORES
from tocsin.history.overview.time_buckets import width_text
from tocsin.version import VERSION

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST = 2_000
_MISSING_SHOWN = 50
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")


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
    title = f"{summary.rules:,} rules over {summary.events:,} events"
    return _PAGE.format(
        title=title,
        style=_STYLE,
        script=_SCRIPT,
        version=escape(VERSION),
        body="\n".join(filter(None, sections)),
    )


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
    shown = "".join(
        f'<div class="card"><b>{number}</b><span>{name}</span><small>{note}</small></div>'
        for name, number, note in cards
    )
    return f'<div class="cards">{shown}</div>'


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
    by = f"by <code>{_safe(summary.time or '')}</code>, {width_text(summary.width)} each, UTC"
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
    return f"<section><h2>The noisiest rules</h2>{_table(heads, body)}{note}</section>"


def _grouped(table: pa.Table) -> dict[str, list[dict[str, Any]]]:
    rows = defaultdict(list)
    for row in table.to_pylist():
        rows[row["rule"]].append(row)
    return rows


def _rule_cell(row: dict[str, Any], samples: Sequence[dict[str, Any]]) -> str:
    shown = "".join(f"<pre>{_sample(each)}</pre>" for each in samples)
    details = f"<details><summary>{_events(len(samples))}</summary>{shown}</details>" if samples else ""
    return f"<td data-value='{_safe(row['rule'])}'>{_named(row)}{details}</td>"


def _events(count: int) -> str:
    return "1 event" if count == 1 else f"{count} events"


def _named(row: dict[str, Any]) -> str:
    return f"<bdi class='rule'>{_safe(row['rule'])}</bdi><code><bdi>{_safe(row['when'])}</bdi></code>"


def _sample(row: dict[str, Any]) -> str:
    number = "" if row["event"] is None else f"event {row['event']:,}\n"
    return number + _safe(_indented(row["json"] or ""))


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
    count = stretches(starts, width)
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
        f"<tr><td data-value='{_safe(row['rule'])}'>{_named(row)}</td>"
        f"<td class='why'>{'' if row['could_match'] else '<b>could not:</b> '}"
        f"<bdi>{_safe(row['why'] or '')}</bdi></td></tr>"
        for row in rows
    ]
    more = digest.summary.never - len(rows)
    note = f"<p>{more:,} more never matched.</p>" if more > 0 else ""
    return f"<section><h2>Rules that never matched</h2>{_table(['rule', 'why'], body)}{note}</section>"


def _missing(summary: Summary) -> str:
    if not summary.missing:
        return ""
    names = ", ".join(f"<code>{_safe(name)}</code>" for name in summary.missing[:_MISSING_SHOWN])
    more = len(summary.missing) - _MISSING_SHOWN
    return (
        "<section><h2>Fields that rules name and no event has</h2>"
        f"<p>{names}{f' and {more:,} more' if more > 0 else ''}</p></section>"
    )


def _table(heads: Sequence[str], body: Sequence[str]) -> str:
    head = "".join(f"<th><button>{name}</button></th>" for name in heads)
    rows = f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody>"
    return f"<div class='table'><table>{rows}</table></div>"


def _second(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(seconds=1)


def _when(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M")


def _safe(text: str) -> str:
    """A text as it can stand on the page, between tags and in quotes."""
    cut = text if len(text) <= _LONGEST else text[:_LONGEST] + " ..."
    return escape(_CONTROL.sub("\ufffd", cut), quote=True)


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
{body}
<footer>tocsin {version}</footer>
<script>{script}</script>
</body>
</html>
"""

_STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1d2430;--soft:#667085;--line:#e3e7ee;--card:#f6f8fb;
--full:#2f6fdb;--faint:#c3d6f7}
@media (prefers-color-scheme:dark){:root{--paper:#14181f;--ink:#e6e9ef;--soft:#98a2b3;--line:#2b323d;
--card:#1c222b;--full:#6ea8ff;--faint:#2c4470}}
*{box-sizing:border-box}
body{margin:0 auto;padding:24px 20px 48px;max-width:1000px;background:var(--paper);color:var(--ink);
font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:24px;margin:0 0 18px}h2{font-size:17px;margin:34px 0 8px}
p,small,footer{color:var(--soft)}p{margin:4px 0 8px}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(145px,1fr));gap:10px}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px 14px}
.card b{display:block;font-size:22px;font-variant-numeric:tabular-nums}.card span{display:block}
.card small{display:block;min-height:1.4em}
svg{display:block;width:100%;height:auto}svg.spark{display:inline-block;width:auto;vertical-align:middle}
.full{fill:var(--full)}.faint{fill:var(--faint)}.grid,.axis{stroke:var(--line)}.axis{stroke:var(--soft)}
text{fill:var(--soft)}text.middle,text.value{text-anchor:middle}text.end{text-anchor:end}
text.value{fill:var(--ink)}
.key{display:inline-block;width:11px;height:11px;border-radius:2px;margin-left:10px}
.key.full{background:var(--full)}.key.faint{background:var(--faint)}
.table{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px}
th{text-align:left;border-bottom:2px solid var(--line);padding:0}
th button{all:unset;cursor:pointer;padding:6px 8px;color:var(--soft);font-weight:600;white-space:nowrap}
th button:focus-visible{outline:2px solid var(--full)}
th[aria-sort=ascending] button::after{content:" \\25b2"}
th[aria-sort=descending] button::after{content:" \\25bc"}
td{border-bottom:1px solid var(--line);padding:8px;vertical-align:top;overflow-wrap:anywhere}
td.number{font-variant-numeric:tabular-nums;white-space:nowrap;min-width:90px}
td:first-child{min-width:200px}td.why{width:50%;min-width:200px}
.rule{font-weight:600;display:block}
code,pre{font:12.5px/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
td code{display:block;color:var(--soft);max-height:5.6em;overflow:auto}
pre{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:8px 10px;margin:6px 0;
white-space:pre-wrap;overflow-wrap:anywhere;max-height:16em;overflow:auto}
summary{cursor:pointer;color:var(--soft);font-size:13px}
.share{height:4px;background:var(--faint);border-radius:2px;margin-top:4px}
.share div{height:4px;background:var(--full);border-radius:2px}
footer{margin-top:40px;font-size:12px}
"""

_SCRIPT = """
for (const button of document.querySelectorAll("th button")) button.onclick = () => {
  const head = button.parentNode, table = head.closest("table"), body = table.tBodies[0];
  const up = head.ariaSort === "descending";
  for (const other of head.parentNode.children) other.ariaSort = null;
  head.ariaSort = up ? "ascending" : "descending";
  const value = row => { const cell = row.cells[head.cellIndex];
    const said = cell.dataset.value ?? cell.textContent; return said !== "" && !isNaN(said) ? +said : said; };
  const rows = [...body.rows].sort((a, b) => { const x = value(a), y = value(b);
    return (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y)))
      * (up ? 1 : -1); });
  body.append(...rows);
};
"""
