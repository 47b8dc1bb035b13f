"""What the demonstration shows: tables that fit the terminal, coloured when there is one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tocsin.conditions.live import Explanation
from tocsin.conditions.meaning import Truth
from tocsin.rules import Rule
from tocsin_lab.sample_check import Verdict

_SHOWN_TRUTH = {
    Truth.TRUE: Text("true", "green"),
    Truth.FALSE: Text("false", "red"),
    Truth.UNKNOWN: Text("unknown", "yellow"),
}
_SHOWN_DIFFERENCES = 5


def verdict_line(verdict: Verdict, visits: int) -> str:
    """What the check found, in one line or with the first differences."""
    if not verdict.differences:
        return (
            f"[green]{verdict.checks:,} checks, no difference[/green] "
            f"({verdict.true:,} matches of {visits:,} random visits)"
        )
    shown = ", ".join(f"visit {visit} and {rule}" for visit, rule in verdict.differences[:_SHOWN_DIFFERENCES])
    return f"[red]{verdict.checks:,} checks, {len(verdict.differences):,} DIFFERENCES[/red]: {shown}"


def most_matched(console: Console, rows: Sequence[dict[str, Any]], visits: int) -> None:
    """The most matched campaigns: a line with the name, and under it the condition as far as it fits."""
    table = _table("Most matched campaigns")
    table.add_column("matches", justify="right", no_wrap=True)
    table.add_column("of visits", justify="right", no_wrap=True)
    table.add_column("campaign", no_wrap=True)
    table.add_column("name and condition", no_wrap=True, overflow="ellipsis", ratio=1)
    for row in rows:
        share = f"{row['matches'] / visits:.1%}"
        named = Text.assemble(row["name"], "\n", (row["when"], "dim"))
        table.add_row(f"{row['matches']:,}", share, row["rule"], named)
    console.print(table)


def explanation(console: Console, title: str, visit: int, told: Explanation, rule: Rule) -> None:
    """Every part of a rule with its truth on a visit, and what the visit has there."""
    verdict = "matches" if told.matched else "does not match"
    table = _table(f"{title}: {told.rule} ({rule.metadata.get('name', '')}) {verdict} visit {visit:,}")
    table.add_column("truth", no_wrap=True)
    table.add_column("part of the condition", no_wrap=True, overflow="ellipsis", ratio=3)
    table.add_column("what the visit has", no_wrap=True, overflow="ellipsis", ratio=2)
    for part in told.parts:
        indented = Text("  " * part.depth + part.text)
        table.add_row(_SHOWN_TRUTH[part.truth], indented, Text(part.saw or ""))
    console.print(table)


def throughput(
    console: Console, campaigns: int, visits: int, matches: int, seconds: float, cores: int
) -> None:
    """How fast it went on Spark: from Parquet files to Parquet files, the start of its workers included."""
    table = _table(f"Throughput on Spark, {cores} cores, Parquet in and out, start of the workers included")
    table.show_header, table.expand = False, False
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_row("visits a second", f"{visits / seconds:,.0f}")
    table.add_row("checks of a rule a second", f"{visits * campaigns / seconds:,.0f}")
    table.add_row("matches a second", f"{matches / seconds:,.0f}")
    table.add_row("matches a visit", f"{matches / visits:.1f}")
    console.print(table)


def what_next(console: Console, folder: Path, rule: str) -> None:
    """Commands to go on with."""
    console.print("[bold]What to try next[/bold]")
    for command in (
        f"explain {folder}/campaigns.parquet --rule {rule} --event @{folder}/visit.json",
        f"match {folder}/campaigns.tocsin --events {folder}/visits --out {folder}/again.jsonl --no-spark",
    ):
        console.print(f"  .venv/bin/tocsin {command}", highlight=False, soft_wrap=True)
    console.print()


def in_a_word(
    console: Console, campaigns: int, visits: int, hours: float, seconds: float, cores: int, page: Path
) -> None:
    """The comparison that a person understands, and the page to look at."""
    shown = f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.1f} minutes"
    lines = [
        f"{campaigns:,} campaigns and {visits:,} visits: a Python loop over compiled conditions would take",
        f"[bold]{shown}[/bold] of one core, at the pace measured above.",
        f"\ntocsin took [bold]{seconds:.1f} seconds[/bold] on {cores} cores, files read and written.",
        f"\nWhat each campaign does, as a page: [bold]{page}[/bold]",
    ]
    console.print(Panel(" ".join(lines), title="In a word", title_align="left"), highlight=False)


def _table(title: str) -> Table:
    return Table(title=Text(title), title_justify="left", title_style="bold", box=SIMPLE_HEAD, expand=True)
