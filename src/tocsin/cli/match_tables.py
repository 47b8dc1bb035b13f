"""`tocsin match TRIGGERS --events TABLE=FILE ...`: rows inserted into tables, and the alerts that gives."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tocsin.cli.console import left_out, progress, say, say_if_compiling, warn, warn_of_rules_left_out
from tocsin.cli.destinations import (
    STANDARD,
    check_destinations,
    publish,
    rejects_file,
    workspace,
    write_rejects,
)
from tocsin.cli.rule_sources import files_of, reject_lines, saved_index
from tocsin.cli.text_options import preparation_of
from tocsin.errors import EventError, RuleError, UsageError, each_error, raise_all
from tocsin.printable import number_of, printable
from tocsin.storage import shown

if TYPE_CHECKING:
    from tocsin.events import RecordPlaces, Slice
    from tocsin.watches import AlertLines, AlertTable, Watch

_NAMED = 5


class Source(NamedTuple):
    """A table and the file or folder of the rows to insert into it."""

    table: str
    path: str


def table_source(events: str) -> Source | None:
    """What `--events TABLE=FILE` names; None when it is the path of a file or folder."""
    table, equals, path = events.partition("=")
    if not equals or not table or not path or Path(events).exists():
        return None
    return Source(table, path)


def run_tables(arguments: argparse.Namespace, sources: Sequence[Source]) -> int:
    """Insert all rows in the order of the sources, then write all alerts."""
    from tocsin.events import plan_slices
    from tocsin.matches import ResultPlace
    from tocsin.watches import alert_writer

    _check_usage(arguments)
    started = time.perf_counter()
    if arguments.out == STANDARD:
        arguments.out = None
    place = None if arguments.out is None else ResultPlace.of(arguments.out)
    if place is not None and place.is_folder:
        raise UsageError(
            f"cannot write {arguments.out}: alerts of triggers over tables go to one file, not to a folder"
        )
    suffix = ".jsonl" if place is None else place.suffix
    rejects = rejects_file(arguments.rejects, arguments.out, arguments.skip_bad)
    slices = [(source.table, piece) for source in sources for piece in plan_slices(source.path)]
    destinations = [*([rejects] if arguments.skip_bad else []), *filter(None, [arguments.out])]
    inputs = [*(source.path for source in sources), *(piece.file for _, piece in slices)]
    check_destinations(destinations, [*files_of(arguments.rules), *dict.fromkeys(inputs)])
    say_if_compiling()
    watch, bad_rules = _open_watch(arguments)
    _warn_of_tables(watch, [source.table for source in sources])
    with workspace(arguments.out) as folder:
        draft = Path(folder) / "result"
        with draft.open("wb") as stream:
            feed = _Feed(watch, alert_writer(stream, suffix, arguments.csv_safe), arguments.skip_bad)
            feed.run(slices)
        publish(draft, place)
    if bad_rules or feed.rejects or arguments.rejects is not None:
        write_rejects(rejects, [*bad_rules, *feed.rejects])
    if bad_rules:
        warn_of_rules_left_out(len(bad_rules), rejects)
    if feed.rejects:
        warn(f"{left_out(len(feed.rejects), 'row')}: see {printable(str(rejects))}")
    seconds = time.perf_counter() - started
    say(
        f"{number_of(feed.inserted, 'row')}, {number_of(feed.alerts, 'alert')},"
        f" {number_of(len(feed.rejects), 'reject')} in {seconds:.1f} s"
        f" ({feed.inserted / max(seconds, 1e-9):,.0f} rows/s)"
    )
    return 0


def _check_usage(arguments: argparse.Namespace) -> None:
    if arguments.keep:
        raise UsageError("--keep is for events of one kind: an alert has all its rows")
    if arguments.spark:
        raise UsageError("triggers over tables are watched in this process: leave out --spark")
    if arguments.engine is not None:
        raise UsageError(
            "--engine is for events of one kind: triggers over tables have one way to be watched"
        )
    path = saved_index(arguments.rules)
    if path is not None:
        raise UsageError(f"{path} is a saved index: triggers over tables are read from rule files")


def _open_watch(arguments: argparse.Namespace) -> tuple[Watch, list[str]]:
    """A watch of the rules, and the bad ones as lines for a file of rejects."""
    import numpy as np

    from tocsin.rules import read_rules
    from tocsin.watches import Watch

    rules = read_rules(*arguments.rules, skip_bad=True)
    watch = Watch(preparation_of(arguments))
    errors: Sequence[RuleError] = []
    try:
        watch.add(rules)
    except RuleError as error:
        errors = each_error(error)
    if not arguments.skip_bad:
        raise_all([*rules.rejected, *errors])
    if errors:
        bad = {error.rule for error in errors}
        good = [row for row, rule in enumerate(rules.ids.to_pylist()) if rule not in bad]
        watch.add(rules.take(np.array(good, np.int64)))
    return watch, reject_lines(rules, [*rules.rejected, *errors])


def _warn_of_tables(watch: Watch, fed: Sequence[str]) -> None:
    unfed = [table for table in watch.tables if table not in fed]
    if unfed:
        warn(f"triggers watch tables that get no rows: {printable(', '.join(sorted(unfed)[:_NAMED]))}")
    unwatched = [table for table in dict.fromkeys(fed) if not watch.is_watched(table)]
    if unwatched:
        warn(f"no trigger watches {printable(', '.join(unwatched[:_NAMED]))}")


class _Feed:
    """Inserts the rows of slices, and writes the alerts."""

    def __init__(self, watch: Watch, writer: AlertLines | AlertTable, skip_bad: bool) -> None:
        self._watch = watch
        self._writer = writer
        self._skip_bad = skip_bad
        self._first = 0
        self._places: RecordPlaces | None = None
        self.inserted = 0
        self.alerts = 0
        self.rejects: list[str] = []

    def run(self, slices: Sequence[tuple[str, Slice]]) -> None:
        """Go through all slices; EventError at the first bad record unless those are skipped."""
        with progress("Inserting slices", len(slices)) as advance:
            for done, (table, piece) in enumerate(slices, 1):
                self._feed(table, piece)
                advance(done)
        self._writer.finish()

    def _feed(self, table: str, piece: Slice) -> None:
        from tocsin.events import RecordPlaces, read_rows

        if piece.first_row == 0:
            self._first = self.inserted + len(self.rejects)
            self._places = RecordPlaces([piece])
        for chunk in read_rows(piece):
            for reject in chunk.rejects:
                self._reject(piece, reject.row, reject.reason, reject.text)
            for number, row in zip(chunk.numbers, chunk.rows, strict=True):
                try:
                    alerts = self._watch.insert(table, row)
                except EventError as error:
                    self._reject(piece, number, error.reason, "")
                    continue
                self.inserted += 1
                self.alerts += len(alerts)
                for alert in alerts:
                    self._writer.write(self._first + number, table, alert)

    def _reject(self, piece: Slice, row: int, reason: str, text: str) -> None:
        event = self._first + row
        line = None if self._places is None else self._places.line(piece.file, row)
        if not self._skip_bad:
            raise EventError(
                "there are records that cannot be read; --skip-bad leaves them out\n"
                + printable(f"{piece.file}{'' if line is None else f':{line}'}: event {event}: {reason}")
            )
        members = {"file": shown(piece.file), "line": line, "event": event, "reason": reason, "text": text}
        self.rejects.append(json.dumps(members, ensure_ascii=False) + "\n")
