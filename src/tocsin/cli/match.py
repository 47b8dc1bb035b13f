"""`tocsin match`: which rules each event of some files satisfies."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

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
from tocsin.cli.event_inputs import add_events_argument, add_place_arguments, is_for_spark, paths_of
from tocsin.cli.match_tables import run_tables, table_source
from tocsin.cli.rule_sources import (
    ENGINE_HELP,
    RULES_OR_INDEX,
    check_engine,
    files_of,
    read_and_build,
    reject_lines,
    saved_index,
)
from tocsin.cli.text_options import (
    add_text_arguments,
    has_dictionaries,
    preparation_of,
    refuse_for_index,
    text_settings_of,
)
from tocsin.errors import EventError, UsageError, raise_all
from tocsin.printable import first_few, number_of, printable
from tocsin.storage import shown

if TYPE_CHECKING:
    from tocsin.conditions.live import Index, Snapshot
    from tocsin.events import RecordPlaces, Slice
    from tocsin.matches import FewRules, PartReport, ResultPlace, SliceJob

SUMMARY = "find the rules that events satisfy"
DESCRIPTION = """\
Matches every event of some files, or of folders of part files, against all rules. The result has a row
for each match: event (the row number, from 0), rule, score, and the kept fields. Large input is matched on
Spark, which --spark and --no-spark decide; both ways write the same rows. A large result goes to a folder
(--out matches/).

With --events TABLE=FILE, repeated, the rules are triggers over tables: rows are inserted in the order of the
options, and the result has a row for each alert: event, table, rule, score, text and rows."""
EXAMPLES = """\
examples:
  tocsin match rules/ --events visits.jsonl
  tocsin match rules/ --events 'logs/*.jsonl.gz' more.jsonl
  zcat visits.jsonl.gz | tocsin match rules/ --events - | head
  tocsin match rules.tocsin --events visits/ --out matches.parquet --keep visitor page
  tocsin match rules.tocsin --events visits/ --out matches/
  tocsin match alerts.sql --events video=videos.csv --events viewed_by=views.jsonl
  tocsin match rules.csv --events visits.csv.gz --out matches.csv --skip-bad --rejects bad.jsonl
"""

_NAMED = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("rules", nargs="+", metavar="RULES_OR_INDEX", help=RULES_OR_INDEX)
    add_events_argument(parser, "; TABLE=FILE, repeated, inserts rows into tables in that order")
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
    add_place_arguments(parser)
    add_text_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Match all events; the result is there when all are matched."""
    tables = [source for source in map(table_source, arguments.events) if source is not None]
    if tables:
        if len(tables) < len(arguments.events):
            raise UsageError("--events names files, or the file of each table as TABLE=FILE: not both")
        return run_tables(arguments, tables)
    from tocsin.events import plan_slices
    from tocsin.matches import ResultPlace, SliceJob, check_kept_names

    started = time.perf_counter()
    check_engine(arguments)
    if arguments.out == destinations.STANDARD:
        arguments.out = None
    place = None if arguments.out is None else ResultPlace.of(arguments.out, arguments.csv_safe)
    keep = check_kept_names(arguments.keep)
    rejects = destinations.rejects_file(arguments.rejects, arguments.out, arguments.skip_bad)
    bad_files: dict[str, str] = {}
    given = paths_of(arguments.events)
    slices = tuple(plan_slices(given, unreadable=bad_files if arguments.skip_bad else None))
    outputs: list[str | Path] = [rejects] if arguments.skip_bad else []
    if place is not None and place.is_folder:
        destinations.check_new_folder(place.path)
        for each in given:
            destinations.check_outside(place.path, each)
    elif place is not None:
        outputs.append(arguments.out)
    events = dict.fromkeys(piece.file for piece in slices)
    destinations.check_destinations(outputs, [*files_of(arguments.rules), *given, *events])
    few = None if arguments.spark else _few(arguments, slices)
    wants_spark = is_for_spark(arguments, slices)
    for_spark: Index | None = None
    if few is None:
        say_if_compiling()
        index, bad_rules = _open_index(arguments)
        rules: Snapshot | FewRules = index.version
        for_spark = index if wants_spark and _goes_on_spark(index) else None
    else:
        rules, bad_rules = few
    with destinations.workspace(arguments.out) as folder:
        job = SliceJob(slices, keep, arguments.skip_bad, folder)
        draft = Path(folder) / "result"
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


def _few(arguments: argparse.Namespace, slices: Sequence[Slice]) -> tuple[FewRules, list[str]] | None:
    """Few rules and few events, which need no index; and the bad rules as lines for a file of rejects."""
    from tocsin.matches import MOST_ASKED, MOST_BYTES, FewRules, few_events
    from tocsin.rules import read_rules

    files = {piece.file for piece in slices}
    if (
        arguments.engine is not None
        or has_dictionaries(arguments)
        or saved_index(arguments.rules) is not None
        or sum(Path(file).stat().st_size for file in {*files, *files_of(arguments.rules)}) > MOST_BYTES
    ):
        return None
    rules = read_rules(*arguments.rules, skip_bad=True)
    if len(rules) > MOST_ASKED or (events := few_events(slices, len(rules))) is None:
        return None
    few = FewRules(rules, events, text_settings_of(arguments))
    if not arguments.skip_bad:
        raise_all([*rules.rejected, *few.errors])
    return few, reject_lines(rules, [*rules.rejected, *few.errors])


def _goes_on_spark(index: Index) -> bool:
    if index.engine == type(index).engine:
        return True
    say(f"The engine {index.engine} does not run on Spark: matching in this process")
    return False


def _match_here(
    rules: Snapshot | FewRules, job: SliceJob, place: ResultPlace | None, draft: Path
) -> list[PartReport]:
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
    spark = start_spark()
    from tocsin.spark.file_matches import match_slices
    from tocsin.spark.stage_progress import stages_shown

    with stages_shown(spark, "Matching slices"):
        return match_slices(spark, index, job)


def _write_parts(
    index: Index,
    rules: Snapshot | FewRules,
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
    from tocsin.events import RecordPlaces

    first = [
        (job.slices[report.slice].file, *reject) for report in stopped for reject in report.first_rejects
    ]
    places = RecordPlaces(job.slices)
    named = "\n".join(
        printable(f"{places.place(file, row)}: {reason}") for file, row, reason in first[:_NAMED]
    )
    raise EventError(f"there are events that cannot be read; --skip-bad leaves them out\n{named}")


def _warn_of_missing(rules: Snapshot | FewRules, job: SliceJob, reports: Sequence[PartReport]) -> None:
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
    bad_events = sum(report.rejects for report in reports)
    if not (bad_rules or bad_files or bad_events or asked):
        return
    from tocsin.events import RecordPlaces
    from tocsin.matches import reject_line, rejects_path

    lines = [*bad_rules, *(reject_line(file, None, reason, "") for file, reason in bad_files.items())]
    files = [rejects_path(job.folder, each.name) for each in reports if each.rejects]
    destinations.write_rejects(path, chain(lines, _with_lines(files, RecordPlaces(job.slices))))
    if bad_files:
        warn(
            f"files that cannot be read were left out, {len(bad_files):,} of them: see {printable(str(path))}"
        )
    if bad_rules:
        warn_of_rules_left_out(len(bad_rules), path)
    if bad_events:
        warn(f"{left_out(bad_events, 'event')}: see {printable(str(path))}")


def _with_lines(files: Sequence[Path], places: RecordPlaces) -> Iterator[str]:
    """The rejects of slices with the line of each."""
    for file in files:
        with file.open(encoding="utf-8") as rejected:
            for each in map(json.loads, rejected):
                line = places.line(each["file"], each["event"])
                members = {"file": shown(each.pop("file")), "line": line}
                yield json.dumps({**members, **each}, ensure_ascii=False) + "\n"


def _summary(reports: Sequence[PartReport], seconds: float) -> str:
    events, matches, rejects = (
        sum(getattr(report, each) for report in reports) for each in ("events", "matches", "rejects")
    )
    speed = f"{seconds:.1f} s ({events / max(seconds, 1e-9):,.0f} events/s)"
    found = f"{number_of(matches, 'match', 'matches')}, {number_of(rejects, 'reject')}"
    return f"{number_of(events, 'event')}, {found} in {speed}"
