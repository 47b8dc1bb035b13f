"""`tocsin backtest`: what rules would have done on a history, and which threshold suits a contains."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from tocsin.cli.backtest_overview import add_overview_arguments, overview_options, run_overview_command
from tocsin.cli.console import progress, say, say_if_compiling, warn
from tocsin.cli.rule_sources import files_of
from tocsin.cli.text_options import add_text_arguments, preparation_of
from tocsin.errors import InputError, UnknownRuleError, UsageError
from tocsin.printable import number_of, printable

if TYPE_CHECKING:
    from tocsin.history.backtest_result import TestRun
    from tocsin.text import Stretch

NAME = "backtest"
SUMMARY = "try rules on a history: hits, noise, and which threshold for a contains"
DESCRIPTION = """\
Tells what rules would have done on a history of events: how often each holds and when, which are the
noisiest, which never matched and why; as a table, as Parquet (--out) and as an HTML page (--html).

With --rule it tries the contains of one rule: lists the events that satisfy the rule when its contains
has no threshold, ranked by score, with the words that counted; then how many alerts each threshold would
have given, and how many a day. With --write the threshold that you choose is written into the rule's
file, which is changed nowhere else. Of several contains in a rule the one with a threshold is tried."""
EXAMPLES = """\
examples:
  tocsin backtest rules/ --events news-2025/ --html report.html
  tocsin backtest rules.tocsin --events visits/ --out report --time at --bucket '1 day'
  tocsin backtest rules/ --events news-2025.jsonl --rule golf_prizes
  tocsin backtest rules/ --events news-2025.jsonl --rule golf_prizes --threshold 1.3 --write
"""

_TOP = 10
_LONGEST_BAR = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument(
        "rules",
        nargs="+",
        metavar="RULES",
        help="rule files (.sql .csv .jsonl .parquet) or folders of them; without --rule also a saved index",
    )
    parser.add_argument(
        "--events",
        required=True,
        metavar="HISTORY",
        help="events: .jsonl .csv .parquet (the first two also .gz), or a folder of files of one kind",
    )
    parser.add_argument(
        "--time",
        metavar="FIELD",
        help="the field that tells an event's time (default: the first that looks like one)",
    )
    parser.add_argument(
        "--top",
        type=int,
        default=_TOP,
        metavar="N",
        help=f"how many rules to list, or events of the rule (default: {_TOP})",
    )
    add_overview_arguments(parser)
    group = parser.add_argument_group("one rule's contains")
    group.add_argument("--rule", metavar="ID", help="the id of the rule")
    group.add_argument("--threshold", type=float, metavar="T", help="a threshold to look at")
    group.add_argument(
        "--write", action="store_true", help="write --threshold into the rule's file (.sql .csv .jsonl)"
    )
    add_text_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """All rules, or the contains of one."""
    if arguments.top < 0:
        raise UsageError(f"--top is 0 or more, not {arguments.top}")
    if arguments.rule is not None:
        given = overview_options(arguments)
        if given:
            raise UsageError(f"{given[0]} is of the overview of all rules, without --rule")
        return _run_test(arguments)
    if arguments.threshold is not None or arguments.write:
        raise UsageError("--threshold and --write are about the contains of one rule: name it with --rule")
    return run_overview_command(arguments)


def _run_test(arguments: argparse.Namespace) -> int:
    """Try one rule, show, and perhaps write."""
    from tocsin.conditions.language.threshold_edit import threshold_text
    from tocsin.events.event_sources import event_source
    from tocsin.history.backtest import run_backtest
    from tocsin.rules.rule_edit import check_rewritable
    from tocsin.rules.rule_files import read_rules

    if arguments.write and arguments.threshold is None:
        raise UsageError("--write needs the --threshold to write")
    if arguments.threshold is not None:
        threshold_text(arguments.threshold)
    rules = read_rules(*files_of(arguments.rules), skip_bad=True)
    source = event_source(arguments.events)
    preparation = preparation_of(arguments)
    say_if_compiling()
    try:
        with progress("Reading events", len(source)) as advance:
            found = run_backtest(
                rules,
                source,
                arguments.rule,
                preparation,
                time=arguments.time,
                top=arguments.top,
                advance=advance,
            )
    except UnknownRuleError as error:
        bad = [each for each in rules.rejected if each.rule == arguments.rule]
        raise (bad[0] if bad else InputError(str(error))) from None
    if arguments.write:
        check_rewritable(found.file)
    _say_what_was_read(found)
    _show(found, arguments.threshold)
    if arguments.write:
        _write(found, arguments.threshold)
    return 0


def _say_what_was_read(found: TestRun) -> None:
    span = "" if found.days is None else f" in {number_of(found.days, 'day')} by {found.time}"
    say(f"{number_of(found.events, 'event')}{span}")
    if found.rejects:
        warn(f"records that are not events, and were left out: {found.rejects:,}")
    if found.days is None and found.time is not None:
        warn(f"no event has a time in {found.time}: alerts a day are not known")
    elif found.days is None:
        warn("no field tells the time of an event: name one with --time to see alerts a day")


def _show(found: TestRun, threshold: float | None) -> None:
    count = len(found.ranking.event)
    print(f"{printable(found.rule)}: {number_of(count, 'event')} by score, without a threshold")
    write = _writer()
    for place, row in enumerate(found.head(len(found.ranking.texts)).to_pylist()):
        day = f"  {row['day']}" if row["day"] is not None else ""
        write(f"  {row['score']:.4f}{day}  event {row['event']}: ", found.shown(place))
    if count > len(found.ranking.texts):
        print(f"  ... and {count - len(found.ranking.texts):,} more")
    if not count:
        return
    print("\nscores")
    for line in _bars(found):
        print(line)
    always = int(found.ranking.always.sum())
    if always:
        satisfy = "satisfies" if always == 1 else "satisfy"
        print(f"{always:,} of these events {satisfy} the rule without its contains: always an alert")
    print("\nthreshold     alerts" + ("   a day" if found.days else ""))
    for line in _choices(found, threshold):
        print(line)


def _writer() -> Callable[[str, Iterable[Stretch]], None]:
    """Prints a line with marked words: in colour on a terminal, else in brackets."""
    from tocsin.text import with_marks

    if not sys.stdout.isatty():
        return lambda start, shown: print(start + printable(with_marks(shown)))
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)

    def write(start: str, shown: Iterable[Stretch]) -> None:
        parts = ((printable(each.text), "bold yellow" if each.is_marked else "") for each in shown)
        console.print(Text.assemble(start, *parts), soft_wrap=True)

    return write


def _bars(found: TestRun) -> list[str]:
    rows = found.histogram().to_pylist()
    most = max(row["events"] for row in rows)
    lines = []
    for row in rows:
        bar = "#" * -(-row["events"] * _LONGEST_BAR // most)
        count = f" {row['events']:,}" if row["events"] else ""
        lines.append(f"  {row['from']:7.4f} to {row['below']:7.4f}  {bar}{count}".rstrip())
    return lines


def _choices(found: TestRun, threshold: float | None) -> list[str]:
    rows = {row["threshold"]: row for row in found.thresholds.to_pylist()}
    if threshold is not None:
        rows[threshold] = found.choice(threshold)
    lines = []
    for step in sorted(rows):
        row = rows[step]
        a_day = "" if row["alerts a day"] is None else f"  {row['alerts a day']:6.2f}"
        notes = [note for note, at in (("now", found.threshold or 0), ("yours", threshold)) if at == step]
        lines.append(f"  {step:<9g} {row['alerts']:8,}{a_day}  {', '.join(notes)}".rstrip())
    return lines


def _write(found: TestRun, threshold: float) -> None:
    odd = found.warning(threshold)
    if odd is not None:
        warn(odd)
    file = found.write(threshold)
    say(printable(f"{file}: the contains of {found.rule} has the threshold {threshold:g} now"))
