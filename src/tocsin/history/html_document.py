"""A page that needs nothing but a browser: its shell, its style, and tables that sort when a head is clicked.

Rule ids, conditions and events may hold anything, scripts among it: every text goes through `safe`, and
the page's own policy lets nothing be loaded or sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from tocsin.display import html_rows, safe
from tocsin.version import VERSION


def html_document(title: str, sections: Iterable[str]) -> str:
    """The text of a page; the sections that are empty are left out."""
    return _PAGE.format(
        title=safe(title),
        style=_STYLE,
        script=_SCRIPT,
        version=escape(VERSION),
        body="\n".join(filter(None, sections)),
    )


def html_cards(cards: Iterable[tuple[str, str, str]]) -> str:
    """Numbers side by side: of each its name, itself and a note."""
    shown = "".join(
        f'<div class="card"><b>{number}</b><span>{name}</span><small>{note}</small></div>'
        for name, number, note in cards
    )
    return f'<div class="cards">{shown}</div>'


def html_table(heads: Sequence[str], body: Sequence[str]) -> str:
    """A table of rows that are written already."""
    buttons = (f"<button>{name}</button>" for name in heads)
    return f"<div class='table'>{html_rows(buttons, body)}</div>"


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
td:first-child{min-width:200px}td.number:first-child{min-width:90px}td.why{width:50%;min-width:200px}
.rule{font-weight:600;display:block}
code,pre{font:12.5px/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
td code{display:block;color:var(--soft);max-height:5.6em;overflow:auto}
pre{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:8px 10px;margin:6px 0;
white-space:pre-wrap;overflow-wrap:anywhere;max-height:16em;overflow:auto}
summary{cursor:pointer;color:var(--soft);font-size:13px}
.share{height:4px;background:var(--faint);border-radius:2px;margin-top:4px}
.share div{height:4px;background:var(--full);border-radius:2px}
mark{background:var(--faint);color:inherit;border-radius:3px;padding:0 2px}
tr.below td{opacity:.55}
td small{display:block}td.text{width:70%}section ul{margin:4px 0;padding-left:20px}
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
