"""`tocsin match`: which rules each event of some files satisfies."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tocsin.cli import destinations
from tocsin.cli.console import (
    left_out,
    progress,
    say,
    say_if_compiling,
    start_spark,
    warn,
    warn_of_rules_left_out,
)
from tocsin.cli.match_tables import run_tables, table_source
from tocsin.cli.rule_sources import ENGINE_HELP, RULES_OR_INDEX, files_of, read_and_build, saved_index
from tocsin.cli.text_options import add_text_arguments, preparation_of, refuse_for_index
from tocsin.errors import EventError, UsageError
from tocsin.printable import first_few, number_of, printable

if TYPE_CHECKING:
    from tocsin.conditions.live import Index, Snapshot
    from tocsin.matches import PartReport, ResultPlace, SliceJob

SUMMARY = "find the rules that events satisfy"
DESCRIPTION = """\
Matches every event of a file, or of a folder of part files, against all rules. The result has a row
for each match: event (the row number, from 0), rule, score, and the kept fields. It runs on Spark
unless told otherwise; both ways write the same rows. A large result goes to a folder (--out matches/).

With --events TABLE=FILE, repeated, the rules are triggers over tables: rows are inserted in the order of the
options, and the result has a row for each alert: event, table, rule, score, text and rows."""
EXAMPLES = """\
examples:
  tocsin match rules/ --events visits.jsonl --no-spark
  tocsin match rules.tocsin --events visits/ --out matches.parquet --keep visitor page
  tocsin match rules.tocsin --events visits/ --out matches/
  tocsin match alerts.sql --events video=videos.csv --events viewed_by=views.jsonl
  tocsin match rules.csv --events visits.csv.gz --out matches.csv --skip-bad --rejects bad.jsonl
"""

SMALL_INPUT = "for small input, --no-spark is quicker"
_NAMED = 5


class _Events(argparse.Action):
    """A file or folder, once: a second would replace it without a word; or TABLE=FILE, repeated."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        given = [*(getattr(namespace, self.dest) or []), values]
        if len(given) > 1 and not all(map(table_source, given)):
            parser.error(
                f"{option_string} is given twice: name a folder for several files, or each file's table"
                " as TABLE=FILE"
            )
        setattr(namespace, self.dest, given)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("rules", nargs="+", metavar="RULES_OR_INDEX", help=RULES_OR_INDEX)
    parser.add_argument(
        "--events",
        required=True,
        action=_Events,
        metavar="FILE_OR_FOLDER",
        help="events: .jsonl .csv .parquet (the first two also .gz), or a folder of files of one kind;"
        " TABLE=FILE, repeated, inserts rows into tables in that order",
    )
    parser.add_argument(
        "--out",
        metavar="FILE_OR_FOLDER",
        help="the result: .jsonl .csv .parquet by its name (default: JSON lines on standard output);"
        " a folder that is empty, or new and named with a / at its end, gets a file from each task: Parquet,"
        " unless its name ends in .jsonl or .csv",
    )
    parser.add_argument("--engine", metavar="NAME", help=ENGINE_HELP)
    parser.add_argument(
        "--keep",
        nargs="+",
        action="extend",
        default=[],
        metavar="FIELD",
        help="top-level fields of the events to add to the result",
    )
    parser.add_argument(
        "--csv-safe",
        action="store_true",
        help="in CSV, put an apostrophe before text that a spreadsheet would take for a formula"
        " (it starts with = + - @, a tab or a carriage return)",
    )
    parser.add_argument(
        "--skip-bad", action="store_true", help="leave out rules, events and files that cannot be read"
    )
    parser.add_argument(
        "--rejects",
        metavar="FILE",
        help="where to write what --skip-bad leaves out (default: beside the result, NAME.rejects.jsonl,"
        " or tocsin-rejects.jsonl)",
    )
    parser.add_argument("--no-spark", action="store_true", help="match in this process, without Spark")
    add_text_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Match all events; the result is there when all are matched."""
    tables = [source for source in map(table_source, arguments.events) if source is not None]
    if tables:
        return run_tables(arguments, tables)
    arguments.events = arguments.events[0]
    from tocsin.events import plan_slices
    from tocsin.matches import ResultPlace, SliceJob, check_kept_names

    started = time.perf_counter()
    place = None if arguments.out is None else ResultPlace.of(arguments.out, arguments.csv_safe)
    keep = check_kept_names(arguments.keep)
    rejects = destinations.rejects_file(arguments.rejects, arguments.out, arguments.skip_bad)
    bad_files: dict[str, str] = {}
    slices = tuple(plan_slices(arguments.events, unreadable=bad_files if arguments.skip_bad else None))
    outputs: list[str | Path] = [rejects] if arguments.skip_bad else []
    if place is not None and place.is_folder:
        destinations.check_new_folder(place.path)
        destinations.check_outside(place.path, arguments.events)
    elif place is not None:
        outputs.append(arguments.out)
    events = dict.fromkeys(piece.file for piece in slices)
    destinations.check_destinations(outputs, [*files_of(arguments.rules), arguments.events, *events])
    say_if_compiling()
    index, bad_rules = _open_index(arguments)
    rules = index.version
    with destinations.workspace(arguments.out) as folder:
        job = SliceJob(slices, keep, arguments.skip_bad, folder)
        draft = Path(folder) / "result"
        for_spark = _index_for_spark(index, job, arguments.no_spark)
        if for_spark is None:
            reports = _match_here(rules, job, place, draft)
        else:
            reports = _match_on_spark(for_spark, job)
        _refuse_bad_events(job, reports)
        _warn_of_missing(rules, job, reports)
        if for_spark is not None:
            _write_parts(for_spark, rules, job, reports, place, draft)
        destinations.publish(draft, place)
        _write_rejects(rejects, arguments.rejects is not None, bad_rules, bad_files, job, reports)
    say(_summary(reports, time.perf_counter() - started))
    return 0


def _open_index(arguments: argparse.Namespace) -> tuple[Index, list[str]]:
    from tocsin.conditions.live import Index
    from tocsin.saved import open_rules

    path = saved_index(arguments.rules)
    if path is not None:
        refuse_for_index(arguments, path)
        index = open_rules(path)
        if arguments.engine not in (None, index.engine):
            raise UsageError(f"{path} is for the engine {index.engine}: give rule files for another")
        return index, []
    return read_and_build(
        arguments.rules, arguments.engine or Index.engine, arguments.skip_bad, preparation_of(arguments)
    )


def _index_for_spark(index: Index, job: SliceJob, no_spark: bool) -> Index | None:
    """The index to match on Spark; None when this process does it."""
    if no_spark or not job.slices:
        return None
    if index.engine == type(index).engine:
        return index
    say(f"The engine {index.engine} does not run on Spark: matching in this process")
    return None


def _match_here(rules: Snapshot, job: SliceJob, place: ResultPlace | None, draft: Path) -> list[PartReport]:
    """Match all slices and write the result, up to one that bad events stop."""
    from tocsin.events import KeptColumn
    from tocsin.matches import DirectResult, known_columns, match_slice, names_of

    is_text = place is None or place.suffix == ".jsonl"  # where every value is as it is
    columns = [KeptColumn(name, None) for name in job.keep] if is_text else known_columns(job)
    reports: list[PartReport] = []
    with (
        progress("Matching slices", len(job.slices)) as advance,
        DirectResult(place, draft, names_of(rules), columns) as result,
    ):
        for number in range(len(job.slices)):
            reports.append(match_slice(rules, job, number, result.writer(number)))
            if reports[-1].name is None:
                return reports
            advance(len(reports))
        result.finish()
    return reports


def _match_on_spark(index: Index, job: SliceJob) -> list[PartReport]:
    spark = start_spark(SMALL_INPUT)
    from tocsin.spark.file_matches import match_slices
    from tocsin.spark.stage_progress import stages_shown

    with stages_shown(spark, "Matching slices"):
        return match_slices(spark, index, job)


def _write_parts(
    index: Index,
    rules: Snapshot,
    job: SliceJob,
    reports: Sequence[PartReport],
    place: ResultPlace | None,
    draft: Path,
) -> None:
    """Make the parts of Spark's tasks one file, or have tasks make a folder of files of them."""
    from tocsin.matches import DirectResult, ResultFiles, columns_of_parts, names_of, read_part
    from tocsin.spark.file_matches import write_files
    from tocsin.spark.session import session
    from tocsin.spark.stage_progress import stages_shown

    columns = columns_of_parts(job, reports)
    wanted = [report for report in reports if report.matches]
    if place is not None and place.is_folder and wanted:
        draft.mkdir()
        files = ResultFiles(job.folder, str(draft), place.suffix, tuple(columns), place.safe_csv)
        spark = session()
        with stages_shown(spark, "Writing files"):
            write_files(spark, index, files, wanted)
        return
    with (
        progress("Writing parts", len(wanted)) as advance,
        DirectResult(place, draft, names_of(rules), columns) as result,
    ):
        for done, report in enumerate(wanted, 1):
            write = result.writer(report.slice)
            for batch in read_part(job.folder, report):
                write(batch)
            advance(done)
        result.finish()


def _refuse_bad_events(job: SliceJob, reports: Sequence[PartReport]) -> None:
    """EventError that names the first bad events, unless they are to be skipped."""
    stopped = [report for report in reports if report.name is None]
    if not stopped:
        return
    first = [
        (job.slices[report.slice].file, *reject) for report in stopped for reject in report.first_rejects
    ]
    shown = "\n".join(printable(f"{file}: event {row}: {reason}") for file, row, reason in first[:_NAMED])
    raise EventError(f"there are events that cannot be read; --skip-bad leaves them out\n{shown}")


def _warn_of_missing(rules: Snapshot, job: SliceJob, reports: Sequence[PartReport]) -> None:
    """Fields that rules name, or that are to be kept, and that no event has."""
    from tocsin.events import path_text

    if not any(report.events for report in reports):
        return
    seen = {place for report in reports for place in report.seen}
    unseen = [path_text(path) for place, path in enumerate(sorted(rules.fields)) if place not in seen]
    if unseen:
        warn(f"rules name fields that no event has, and that count as missing: {first_few(sorted(unseen))}")
    kept = {name for report in reports for name, kinds in report.kinds.items() if kinds}
    lacking = [repr(name) for name in job.keep if name not in kept]
    if lacking:
        warn(f"no event has what is to be kept, so it is null: {first_few(lacking)}")


def _write_rejects(
    path: Path,
    asked: bool,
    bad_rules: list[str],
    bad_files: dict[str, str],
    job: SliceJob,
    reports: Sequence[PartReport],
) -> None:
    from tocsin.matches import reject_line, rejects_path

    bad_events = sum(report.rejects for report in reports)
    if not (bad_rules or bad_files or bad_events or asked):
        return
    lines = [*bad_rules, *(reject_line(file, None, reason, "") for file, reason in bad_files.items())]
    destinations.write_rejects(
        path, lines, [rejects_path(job.folder, each.name) for each in reports if each.rejects]
    )
    if bad_files:
        warn(
            f"files that cannot be read were left out, {len(bad_files):,} of them: see {printable(str(path))}"
        )
    if bad_rules:
        warn_of_rules_left_out(len(bad_rules), path)
    if bad_events:
        warn(f"{left_out(bad_events, 'event')}: see {printable(str(path))}")


def _summary(reports: Sequence[PartReport], seconds: float) -> str:
    events, matches, rejects = (
        sum(getattr(report, each) for report in reports) for each in ("events", "matches", "rejects")
    )
    speed = f"{seconds:.1f} s ({events / max(seconds, 1e-9):,.0f} events/s)"
    found = f"{number_of(matches, 'match', 'matches')}, {number_of(rejects, 'reject')}"
    return f"{number_of(events, 'event')}, {found} in {speed}"
