"""`tocsin backtest --rule`: one rule tried on a history."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tocsin.cli.console import progress, say, say_if_compiling, warn
from tocsin.cli.destinations import check_destinations
from tocsin.cli.event_inputs import paths_of
from tocsin.cli.match_tables import table_source
from tocsin.cli.output import is_coloured, print_json
from tocsin.cli.rule_sources import files_of, no_such_rule
from tocsin.cli.text_options import preparation_of
from tocsin.errors import InputError, UnknownRuleError, UsageError
from tocsin.printable import number_of, printable

if TYPE_CHECKING:
    from tocsin.events import EventSource
    from tocsin.history.trial import TestRun
    from tocsin.text import Stretch

_LONGEST_BAR = 40


def run_rule_command(arguments: argparse.Namespace) -> int:
    """Try one rule, show, and perhaps write."""
    from tocsin.conditions.language import threshold_text
    from tocsin.history.backtest import run_backtest
    from tocsin.rules import check_rewritable, read_rules

    if arguments.pick is not None and arguments.threshold is not None:
        raise UsageError("--pick and --threshold each give a threshold: give one of them")
    if arguments.write and arguments.threshold is None and arguments.pick is None:
        raise UsageError("--write needs the --threshold to write")
    if arguments.threshold is not None:
        threshold_text(arguments.threshold)
    events, files = history_of(arguments.events)
    if arguments.html is not None:
        check_destinations([arguments.html], [*files_of(arguments.rules), *files])
    rules = read_rules(*files_of(arguments.rules), skip_bad=True)
    preparation = preparation_of(arguments)
    say_if_compiling()
    try:
        with progress("Reading events", length_of(events)) as advance:
            found = run_backtest(
                rules,
                events,
                arguments.rule,
                preparation,
                time=arguments.time,
                top=arguments.top,
                advance=advance,
            )
    except UnknownRuleError as error:
        bad = [each for each in rules.rejected if each.rule == arguments.rule]
        raise (bad[0] if bad else InputError(no_such_rule(error.rule, rules.ids.to_pylist()))) from None
    threshold = arguments.threshold if arguments.pick is None else found.pick(arguments.pick)
    if threshold is not None and found.query is None:
        raise UsageError(found.tried.untried_reason)
    writes = arguments.write or arguments.pick is not None
    if writes:
        check_rewritable(found.file)
    _say_what_was_read(found)
    if arguments.format == "json":
        _print_json(found, threshold)
    else:
        _show(found, threshold)
    if arguments.html is not None:
        found.html(arguments.html, threshold=threshold)
        say(f"{printable(arguments.html)} written")
    if writes and threshold is not None:
        _write(found, threshold)
    return 0


def history_of(given: Sequence[str]) -> tuple[EventSource | Mapping[str, EventSource], list[str]]:
    """What --events names: one history, or the rows of several tables; and the paths."""
    from tocsin.events import event_source

    sources = [table_source(each) for each in given]
    tables = {source.table: source.path for source in sources if source is not None}
    if not tables:
        paths = paths_of(given)
        return event_source(paths), paths
    if len(tables) < len(given):
        raise UsageError("--events names files, or the file of each table as TABLE=FILE: once each, not both")
    return {table: event_source(path) for table, path in tables.items()}, list(tables.values())


def length_of(events: EventSource | Mapping[str, EventSource]) -> int:
    """How many records there are, as far as that is known beforehand."""
    return sum(map(len, events.values())) if isinstance(events, Mapping) else len(events)


def _say_what_was_read(found: TestRun) -> None:
    span = "" if found.days is None else f" in {number_of(found.days, 'day')} by {found.time}"
    if found.tables:
        rows = ", ".join(f"{number_of(count, 'row')} of {alias}" for alias, count in found.tables.items())
        say(f"{rows}{span}")
    else:
        say(f"{number_of(found.events, 'event')}{span}")
    if found.tried.is_disabled:
        warn(f"{printable(found.rule)} is disabled (enabled = false): here is what it would find otherwise")
    if found.olds == 0:
        warn("no event has an object old, the row before the change: all old fields are missing")
    elif found.olds is not None and found.olds < found.events:
        without = found.events - found.olds
        say(f"the row before the change, old, is missing in {number_of(without, 'event')}, as of inserts")
    if found.rejects:
        warn(f"records that are not events, and were left out: {found.rejects:,}")
    if found.days is None and found.time is not None:
        warn(f"no event has a time in {found.time}: alerts a day are not known")
    elif found.days is None:
        warn("no field tells the time of an event: name one with --time to see alerts a day")


def _print_json(found: TestRun, threshold: float | None) -> None:
    names = ("rule", "file", "events", "rejects", "hits", "time", "days", "threshold", "tables")
    choices = found.choices(threshold) if found.query is not None and len(found.ranking.event) else []
    print_json(
        {
            **{name: getattr(found, name) for name in names},
            "hits_without_threshold": len(found.ranking.event),
            "ranking": found.head(len(found.ranking.texts)).to_pylist(),
            "thresholds": [{**row, "note": note} for row, note in choices],
            "why": None if found.why is None else list(found.why.lines()),
        }
    )


def _show(found: TestRun, threshold: float | None) -> None:
    count = len(found.ranking.event)
    things = number_of(count, "combination of rows", "combinations of rows") if found.tables else ""
    if found.query is None:
        print(f"{printable(found.rule)}: {things or number_of(count, 'event')}{_share(found)}")
    else:
        print(f"{printable(found.rule)}: {things or number_of(count, 'event')} by score, without a threshold")
    _list(found)
    if count > len(found.ranking.texts):
        print(f"  ... and {count - len(found.ranking.texts):,} more")
    if found.query is not None and count:
        _show_scores(found, threshold)
    if found.why is not None:
        print("\nwhy it never matched" if not count else "\nwhy it never matched with its threshold")
        for line in found.why.lines():
            print(f"  {printable(line)}")


def _share(found: TestRun) -> str:
    """Of a rule without scores how many of the events its hits are, and how many come a day."""
    if not found.hits:
        return ""
    share = "" if found.tables else f", {found.hits / max(1, found.events):.1%} of all"
    return f"{share}, {found.hits / found.days:.2f} a day" if found.days else share


def _list(found: TestRun) -> None:
    write = _writer()
    count = len(found.ranking.texts)
    scores = found.printed_scores(count)
    for place, row in enumerate(found.head(count).to_pylist()):
        score = "" if row["score"] is None else f"{scores[place]}  "
        day = "" if row["day"] is None else f"{row['day']}  "
        numbers = row.get("rows") or {}
        event = ", ".join(f"{alias} {number}" for alias, number in numbers.items()) or f"event {row['event']}"
        write(f"  {score}{day}{printable(event)}: ", found.shown(place))


def _show_scores(found: TestRun, threshold: float | None) -> None:
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

    if not is_coloured(sys.stdout):
        return lambda start, shown: print(start + printable(with_marks(shown)))
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)

    def write(start: str, shown: Iterable[Stretch]) -> None:
        parts = ((printable(each.text), "bold yellow" if each.is_marked else "") for each in shown)
        console.print(Text.assemble(start, *parts), soft_wrap=True)

    return write


def _bars(found: TestRun) -> list[str]:
    from tocsin.history.trial import cut_off

    rows = found.histogram().to_pylist()
    most = max(row["events"] for row in rows)
    lines = []
    for row in rows:
        bar = "#" * -(-row["events"] * _LONGEST_BAR // most)
        count = f" {row['events']:,}" if row["events"] else ""
        lines.append(f"  {cut_off(row['from']):>7} to {cut_off(row['below']):>7}  {bar}{count}".rstrip())
    return lines


def _choices(found: TestRun, threshold: float | None) -> list[str]:
    from tocsin.conditions.language import threshold_text

    lines = []
    for row, note in found.choices(threshold):
        a_day = "" if row["alerts a day"] is None else f"  {row['alerts a day']:6.2f}"
        step = threshold_text(row["threshold"] or 0.0)
        lines.append(f"  {step:<9} {row['alerts']:8,}{a_day}  {note}".rstrip())
    return lines


def _write(found: TestRun, threshold: float) -> None:
    from tocsin.conditions.language import threshold_text

    odd = found.warning(threshold)
    if odd is not None:
        warn(odd)
    file = found.write(threshold)
    said = threshold_text(threshold)
    say(printable(f"{file}: the contains of {found.rule} has the threshold {said} now"))
