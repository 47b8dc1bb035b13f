"""`tocsin backtest` without --rule: all rules over a history of events."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.cli.backtest_rule import history_of
from tocsin.cli.console import progress, say, say_if_compiling, start_spark, warn
from tocsin.cli.destinations import check_destinations, check_outside
from tocsin.cli.event_inputs import add_place_arguments, is_for_spark, paths_of
from tocsin.cli.output import print_json
from tocsin.cli.rule_sources import files_of, read_and_build, saved_index
from tocsin.cli.text_options import preparation_of, refuse_for_index
from tocsin.errors import UsageError
from tocsin.printable import number_of, one_line, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from tocsin.conditions.live import Index
    from tocsin.events import EventSource, Slice
    from tocsin.history.overview import Digest, Overview, TallySettings

_WIDTH = 110
_LONGEST = 60
_BLOCKS = "▁▂▃▄▅▆▇█"
_MOST_POINTS = 30


def add_overview_arguments(parser: argparse.ArgumentParser) -> None:
    """What only the overview takes."""
    group = parser.add_argument_group("all rules (without --rule)")
    group.add_argument(
        "--out", metavar="FOLDER", help="write all tables as Parquet: rules, over_time, samples, times"
    )
    group.add_argument(
        "--bucket",
        metavar="LENGTH",
        help="how long a stretch of time is, such as '1 day' (default: up to 60 of them)",
    )
    group.add_argument(
        "--samples", type=int, metavar="N", help="how many events to keep for each rule (default: 5)"
    )
    group.add_argument(
        "--keep",
        nargs="+",
        action="extend",
        metavar="FIELD",
        help="top-level fields of the events that are kept (default: all)",
    )
    add_place_arguments(group)


def overview_options(arguments: argparse.Namespace) -> list[str]:
    """Those of the options above that are given."""
    given = {
        "--out": arguments.out,
        "--bucket": arguments.bucket,
        "--samples": arguments.samples is not None,
        "--keep": arguments.keep,
        "--spark": arguments.spark,
        "--no-spark": arguments.no_spark,
    }
    return [name for name, value in given.items() if value]


def run_overview_command(arguments: argparse.Namespace) -> int:
    """Match, show, and perhaps write."""
    from tocsin.events import plan_slices
    from tocsin.history.overview import check_target, check_top

    started = time.perf_counter()
    check_top(arguments.top)
    source, _ = history_of(arguments.events)
    if isinstance(source, Mapping):
        raise UsageError("--events TABLE=FILE is for one rule: name it with --rule")
    given = paths_of(arguments.events)
    slices = plan_slices(given)
    files = dict.fromkeys(piece.file for piece in slices)
    written = [each for each in (arguments.html, arguments.out) if each is not None]
    pages = [] if arguments.html is None else [arguments.html]
    check_destinations(pages, [*files_of(arguments.rules), *given, *files])
    if arguments.out is not None:
        target = check_target(arguments.out)
        for each in given:
            check_outside(target, each)
        if arguments.html is not None and Path(arguments.html).resolve().is_relative_to(target.resolve()):
            raise UsageError(f"{arguments.html} cannot be written: the tables' folder takes that place")
    wants_spark = is_for_spark(arguments, slices)
    say_if_compiling()
    index = _index(arguments)
    overview = _overview(arguments, index, source, slices if wants_spark else [])
    summary = overview.summary
    if summary.rejects:
        warn(f"records that are not events, and were left out: {summary.rejects:,}")
    if summary.time is None:
        warn("no field tells the time of an event: name one with --time to see matches over time")
    elif summary.width is None:
        warn(f"no event has a time in {summary.time}")
    if arguments.out is not None:
        overview.write(arguments.out)
    if arguments.html is not None:
        overview.html(arguments.html)
    digest = overview.digest(arguments.top)
    if arguments.format == "json":
        _print_json(digest)
    else:
        _show(digest)
    for each in written:
        say(f"{printable(str(each))} written")
    read = f"{number_of(summary.events, 'event')}, {number_of(summary.rules, 'rule')}"
    said = f"{read}, {number_of(summary.matches, 'match', 'matches')}"
    say(f"{said} in {time.perf_counter() - started:.1f} s")
    return 0


def _index(arguments: argparse.Namespace) -> Index:
    from tocsin.conditions.live import Index
    from tocsin.history.overview import index_of

    path = saved_index(arguments.rules)
    if path is not None:
        refuse_for_index(arguments, path)
        return index_of(path, preparation_of(arguments))
    built, _ = read_and_build(arguments.rules, Index.engine, False, preparation_of(arguments))
    return built


def _overview(
    arguments: argparse.Namespace, index: Index, source: EventSource, for_spark: list[Slice]
) -> Overview:
    from tocsin.conditions.language import field_named
    from tocsin.events import time_field
    from tocsin.history.overview import DEFAULT_SAMPLES, run_overview, settings_for

    samples = DEFAULT_SAMPLES if arguments.samples is None else arguments.samples
    found_time = time_field(source) if arguments.time is None else field_named(arguments.time)
    settings = settings_for(found_time, arguments.bucket, samples)
    if for_spark:
        return _on_spark(index, for_spark, settings, arguments.keep)
    with progress("Reading events", len(source)) as advance:
        return run_overview(index, source, settings, keep=arguments.keep, advance=advance)


def _on_spark(index: Index, slices: list[Slice], settings: TallySettings, keep: list[str] | None) -> Overview:
    spark = start_spark()
    from tocsin.spark.backtest.backtest import backtest_slices

    return backtest_slices(spark, index, slices, settings, keep)


def _print_json(digest: Digest) -> None:
    tables = {name: value.to_pylist() for name, value in digest._asdict().items() if name != "summary"}
    print_json({"summary": digest.summary, **tables})


# ---- On the terminal


def _show(digest: Digest) -> None:
    from rich.console import Console

    width = None if sys.stdout.isatty() else _WIDTH
    console = Console(width=width, highlight=False, file=sys.stdout)
    summary = digest.summary
    share = summary.matched / max(1, summary.events)
    console.print(
        f"{summary.matched:,} of {number_of(summary.events, 'event')} ({share:.1%}) satisfy a rule;"
        f" {summary.rules - summary.never:,} of {number_of(summary.rules, 'rule')} matched,"
        f" {summary.always:,} of them every event",
        soft_wrap=True,
    )
    if len(digest.noisiest):
        console.print("\nthe noisiest rules")
        _print(console, _noisiest(digest))
    if summary.never:
        console.print(
            f"\nrules that never matched: {summary.never:,}, of which {summary.could_not:,} could not",
            soft_wrap=True,
        )
    if len(digest.never):
        _print(console, _never(digest))


def _print(console: Console, table: Table) -> None:
    """Without the blanks that fill the last column."""
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        print(line.rstrip())


def _noisiest(digest: Digest) -> Table:
    from tocsin.history.overview import SCORES

    rows = digest.noisiest.to_pylist()
    points = _sparklines(digest)
    has_scores = any(row[SCORES[2]] is not None for row in rows)
    heads = ["rule", "hits", "share", *(["over time"] if points else []), *(["scores"] if has_scores else [])]
    table = _table(heads, right={"hits", "share"})
    for row in rows:
        cells: list[Text | str] = [_text(row["rule"]), f"{row['hits']:,}", f"{row['rate']:.1%}"]
        if points:
            cells.append(points.get(row["rule"], ""))
        if has_scores:
            least, _, median, _, largest = (row[name] for name in SCORES)
            cells.append("" if median is None else f"{least:.3g} .. {median:.3g} .. {largest:.3g}")
        table.add_row(*cells)
    return table


def _never(digest: Digest) -> Table:
    table = _table(["rule", "why"], right=set())
    for row in digest.never.to_pylist():
        table.add_row(_text(row["rule"]), _text(row["why"], 4 * _LONGEST))
    return table


def _table(heads: list[str], right: set[str]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=True, header_style="bold" if sys.stdout.isatty() else "")
    for head in heads:
        table.add_column(head, justify="right" if head in right else "left", overflow="fold")
    return table


def _text(text: str, longest: int = _LONGEST) -> Text:
    from rich.text import Text

    return Text(one_line(text, longest))


def _sparklines(digest: Digest) -> dict[str, str]:
    """Of each rule a small picture of its matches over time; none where the output cannot say it."""
    starts = digest.times.column("at").to_pylist()
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    if not starts or digest.summary.width is None or encoding != "utf8":
        return {}
    width = digest.summary.width
    stretches = round((starts[-1] - starts[0]).total_seconds() / width) + 1
    together = -(-stretches // _MOST_POINTS)  # as many in each point: else a level rule would look ragged
    points: dict[str, list[int]] = {}
    for row in digest.over_time.to_pylist():
        place = round((row["at"] - starts[0]).total_seconds() / width) // together
        points.setdefault(row["rule"], [0] * -(-stretches // together))[place] += row["hits"]
    return {rule: _blocks(values) for rule, values in points.items()}


def _blocks(values: list[int]) -> str:
    most = max(values)
    return "".join(" " if not value else _BLOCKS[(value * len(_BLOCKS) - 1) // most] for value in values)
