"""The claims of Hanson and Raj, who measure nothing: TriggerMan."""

from __future__ import annotations

from benchmarks.claims.claim import (
    NO,
    YES,
    Block,
    Claims,
    Found,
    percent_less,
)

claim = Claims("TriggerMan")


def _in_the_corner(block: Block) -> str:
    return block.grids[0].columns[0]


@claim("introduction", "text-mixed", _in_the_corner)
def _(block: Block) -> Found:
    """The more selective clause is the one to index, be it an equality or a text."""
    first = block.grids[0].column("texts of their own")
    gains = [float(cell.split()[0]) for cell in first if cell.endswith("times")]
    said = f"{gains[0]:g} times faster than by the equality always, {gains[1]:g} times than by the text"
    return said, YES if min(gains) > 1.5 else NO


@claim("selective query indexing", "text-selective", _in_the_corner)
def _(block: Block) -> Found:
    """Leaving insignificant words out makes the filter smaller and faster."""
    grid = block.grids[0]
    postings = [grid.number(column, "postings") for column in ("every word indexed", "selective")]
    ms = [float(grid.text(column, "a document").split()[0]) for column in ("every word indexed", "selective")]
    fewer, less = percent_less(postings[1], postings[0]), percent_less(ms[1], ms[0])
    said = f"{fewer:.0f} % fewer postings, {less:.0f} % less time, same matches"
    return said, YES if postings[1] < postings[0] and ms[1] < ms[0] else NO


claim.unmeasured(
    "test-run facility",
    "The ranking by `tm_score` is close to that of a database's own text search",
    "no such search here: the test run ranks by the score that the rule will have",
)
