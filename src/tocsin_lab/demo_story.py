"""The demonstration's story: each step with its time, and what it found."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tocsin.conditions.live import Index, open_file
from tocsin.engines.build import build
from tocsin.history.backtest import backtest
from tocsin.warmup import warm_up
from tocsin_lab import demo_report
from tocsin_lab.exchange import campaigns, visits
from tocsin_lab.loop_comparison import loop_time
from tocsin_lab.sample_check import Event, Verdict, near_miss, sample_rules, verify

FILES_OF_VISITS = 8
CHECKED_VISITS = 50
CHECKED_CAMPAIGNS = 4_000
LOOPED_CAMPAIGNS = 4_000
TRIED_FOR_A_NEAR_MISS = 4_000


class Story:
    """Prints each step before it begins and its time when it is done; on a terminal the time runs along."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._number = 0

    @contextmanager
    def step(self, doing: str) -> Iterator[list[str]]:
        """Time a step. What the block appends to the list is printed below the step's line."""
        self._number += 1
        details: list[str] = []
        start = time.perf_counter()
        columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
        if not self.console.is_terminal:
            self.console.print(f"{self._number}. {doing} ...", highlight=False)
        with Progress(
            *columns, console=self.console, transient=True, disable=not self.console.is_terminal
        ) as progress:
            progress.add_task(f"{self._number}. {doing}", total=None)
            yield details
        seconds = time.perf_counter() - start
        if self.console.is_terminal:
            self.console.print(f"[bold]{self._number}. {doing}[/bold]  [cyan]{seconds:.1f} s[/cyan]")
        else:
            self.console.print(f"   {seconds:.1f} s", highlight=False)
        for detail in details:
            self.console.print(f"   {detail}", highlight=False)


def run(campaign_count: int, visit_count: int, folder: Path) -> Verdict:
    """The whole story; what the check found."""
    console = Console()
    story = Story(console)
    rules, events = _made(story, campaign_count, visit_count, folder)
    index = _built(story, rules, folder)
    with story.step("Start Spark"):
        from tocsin_lab.demo_job import count_matches, match_visits, start_spark  # loading it is part of it

        spark = start_spark()
    with story.step("Match every visit with every campaign on Spark") as details:
        start = time.perf_counter()
        match_visits(spark, folder)
        seconds = time.perf_counter() - start
        details.append(f"{visit_count * campaign_count:,} pairs of a visit and a campaign")
    with story.step("Count matches by campaign on Spark") as details:
        counts = count_matches(spark, folder)
        details.append(
            f"{counts.matches:,} matches; {counts.campaigns:,} of {campaign_count:,} campaigns matched"
        )
    page = folder / "backtest.html"
    history = folder / "visits" / "part-0.parquet"
    with story.step("Backtest all campaigns on the first visits, as a page") as details:
        tried = backtest(index, history, time="time", samples=1, keep=["visit", "user", "site", "device"])
        tried.html(page)
        details.append(
            f"{tried.summary.never:,} campaigns match none of {tried.summary.events:,} visits, and"
            f" {tried.summary.could_not:,} of them could not"
        )
    with story.step("Check a sample with the plain evaluator") as details:
        found = _matches_of_a_sample(folder, visit_count)
        sample = {visit: events.slice(visit, 1).to_pylist()[0] for visit in found}
        verdict = _checked(rules, found, sample)
        details.append(demo_report.verdict_line(verdict, len(sample)))
    with story.step("Measure a Python loop on a sample") as details:
        drawn = np.random.default_rng(8).permutation(campaign_count)[:LOOPED_CAMPAIGNS]
        some = rules.take(drawn)
        looped = loop_time(
            dict(zip(some["id"].to_pylist(), some["when"].to_pylist(), strict=True)), sample, found
        )
        details.append(
            f"{looped.campaigns:,} compiled conditions on {looped.visits} visits, the same matches:"
            f" {1e6 * looped.pair:.2f} µs each"
        )
    demo_report.most_matched(console, counts.top, visit_count)
    told = _explained(console, index, rules, found, sample, folder)
    demo_report.throughput(console, campaign_count, visit_count, counts.matches, seconds, os.cpu_count() or 1)
    demo_report.what_next(console, folder, told)
    hours = looped.hours(campaign_count * visit_count)
    demo_report.in_a_word(console, campaign_count, visit_count, hours, seconds, os.cpu_count() or 1, page)
    return verdict


def _made(story: Story, campaign_count: int, visit_count: int, folder: Path) -> tuple[pa.Table, pa.Table]:
    with story.step(f"Make {campaign_count:,} campaigns and {visit_count:,} visits") as details:
        rules, events = campaigns(campaign_count), visits(visit_count)
        shutil.rmtree(folder / "visits", ignore_errors=True)
        (folder / "visits").mkdir(parents=True)
        pq.write_table(rules, folder / "campaigns.parquet")
        rows = -(-visit_count // FILES_OF_VISITS)
        for number, start in enumerate(range(0, visit_count, rows)):
            pq.write_table(events.slice(start, rows), folder / "visits" / f"part-{number}.parquet")
        details.append(f"in {folder}: campaigns.parquet, visits/")
    return rules, events


def _built(story: Story, rules: pa.Table, folder: Path) -> Index:
    with story.step("Compile the kernels (the first time; then they are cached)"):
        warm_up()
    with story.step("Build the index and save it") as details:
        path = folder / "campaigns.tocsin"
        build(rules).save(path)
        index = open_file(path)
        stats = index.stats()
        details.append(
            f"{stats.rules:,} rules become {stats.nodes:,} nodes, each used {stats.uses:.1f} times"
        )
        details.append(
            f"{stats.predicates:,} predicates, {stats.and_nodes:,} and, {stats.or_nodes:,} or; "
            f"{path.name} is {path.stat().st_size / 1e6:.0f} MB"
        )
    return index


def _matches_of_a_sample(folder: Path, visit_count: int) -> dict[int, set[str]]:
    """What Spark found for some random visits."""
    size = min(CHECKED_VISITS, visit_count)
    drawn = sorted(np.random.default_rng(7).choice(visit_count, size, replace=False).tolist())
    found: dict[int, set[str]] = {visit: set() for visit in drawn}
    rows = pq.read_table(folder / "matches", columns=["visit", "rule"], filters=pc.field("visit").isin(drawn))
    for visit, rule in zip(rows["visit"].to_pylist(), rows["rule"].to_pylist(), strict=True):
        found[visit].add(rule)
    return found


def _checked(rules: pa.Table, found: dict[int, set[str]], sample: dict[int, Event]) -> Verdict:
    ids = rules["id"].to_pylist()
    chosen = set(sample_rules(ids, set().union(*found.values()), CHECKED_CAMPAIGNS, seed=7))
    conditions = {
        rule: when for rule, when in zip(ids, rules["when"].to_pylist(), strict=True) if rule in chosen
    }
    return verify(found, sample, conditions)


def _explained(
    console: Console,
    index: Index,
    rules: pa.Table,
    found: dict[int, set[str]],
    sample: dict[int, Event],
    folder: Path,
) -> str:
    """A match and a near miss of the visit with the most matches of the sample; the last rule told of."""
    visit = max(found, key=lambda each: len(found[each]))
    event = sample[visit]
    (folder / "visit.json").write_text(json.dumps(event, default=_json_value, indent=1) + "\n")
    matched = [index.rule(rule) for rule in sorted(found[visit])]
    telling = [rule for rule in matched if " or " in rule.when and " not " in rule.when] or matched
    told: str = rules["id"][0].as_py()
    if telling:
        shown = min(telling, key=lambda rule: len(rule.when))
        told = shown.id
        demo_report.explanation(console, "A match", visit, index.explain(told, event), shown)
    missed = near_miss(index, event, rules["id"].slice(0, TRIED_FOR_A_NEAR_MISS).to_pylist())
    if missed is not None:
        told = missed.rule
        demo_report.explanation(console, "A near miss", visit, missed, index.rule(told))
    return told


def _json_value(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    raise TypeError(f"no JSON for {type(value).__name__}")
