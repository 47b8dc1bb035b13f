"""Where the matches of `tocsin match` go: standard output, one file, or a folder of files."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from tocsin.cli.console import progress
from tocsin.errors import InputError

if TYPE_CHECKING:
    from tocsin.conditions.live.sharded_index import RuleIndex
    from tocsin.engines.slice_matchers import EngineOnSlices, IndexOnSlices
    from tocsin.events.kept_columns import KeptColumn
    from tocsin.matches.result_folder import ResultFiles, ResultPlace
    from tocsin.matches.slice_matches import PartReport, SliceJob

    Matcher = IndexOnSlices | EngineOnSlices


def write_result(
    place: ResultPlace | None,
    matcher: Matcher,
    job: SliceJob,
    reports: Sequence[PartReport],
    for_spark: RuleIndex | None,
) -> None:
    """Make the parts a result, which is whole or not there; without a place it goes to standard output.

    `for_spark` is the index when Spark has matched: then its tasks write the files of a folder.
    """
    if place is not None and place.is_folder:
        _write_folder(place, matcher, job, reports, for_spark)
    else:
        _write_one(place, matcher, job, reports)


def _write_one(
    place: ResultPlace | None, matcher: Matcher, job: SliceJob, reports: Sequence[PartReport]
) -> None:
    """The parts in their order as one result."""
    from tocsin.matches.match_files import output_of
    from tocsin.matches.slice_matches import read_part
    from tocsin.storage.drafts import sync_file, sync_folder

    draft = Path(job.folder) / "result"
    output = output_of(".jsonl", False) if place is None else output_of(place.suffix, place.safe_csv)
    with contextlib.ExitStack() as closing:
        stream: BinaryIO = sys.stdout.buffer if place is None else closing.enter_context(draft.open("wb"))
        sink = output(stream, matcher.names(), _columns(job, reports))
        with progress("Writing parts", len(reports)) as advance:
            for done, report in enumerate(reports, 1):
                for batch in read_part(job.folder, report):
                    sink.write(batch)
                advance(done)
        sink.finish()
    if place is not None:
        sync_file(draft)
        draft.replace(place.path)
        sync_folder(place.path.parent)


def _write_folder(
    place: ResultPlace,
    matcher: Matcher,
    job: SliceJob,
    reports: Sequence[PartReport],
    for_spark: RuleIndex | None,
) -> None:
    """A file for each slice that has matches."""
    from tocsin.matches.result_folder import ResultFiles, with_rows
    from tocsin.storage.drafts import sync_folder

    draft = Path(job.folder) / "result"
    draft.mkdir()
    files = ResultFiles(job.folder, str(draft), place.suffix, tuple(_columns(job, reports)), place.safe_csv)
    wanted = with_rows(reports)
    if not wanted:
        files.write_nothing()
    elif for_spark is not None:
        _write_on_spark(files, for_spark, wanted)
    else:
        names = matcher.names()
        with progress("Writing files", len(wanted)) as advance:
            for done, report in enumerate(wanted, 1):
                files.write(names, report)
                advance(done)
    target = place.path.resolve()  # what a link leads to is replaced, not the link
    try:
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        raise InputError(f"{place.path}: cannot be written: {error.strerror}") from error


def _write_on_spark(files: ResultFiles, index: RuleIndex, reports: Sequence[PartReport]) -> None:
    from tocsin.spark.file_matches import write_files
    from tocsin.spark.session import session
    from tocsin.spark.stage_progress import stages_shown

    spark = session()
    with stages_shown(spark, "Writing files"):
        write_files(spark, index, files, reports)


def _columns(job: SliceJob, reports: Sequence[PartReport]) -> list[KeptColumn]:
    """The kept columns, each with the type that suits all slices."""
    from tocsin.events.kept_columns import settle
    from tocsin.matches.slice_matches import part_types

    if not job.keep:
        return []
    types = [part_types(job.folder, report) for report in reports]
    return [
        settle(
            name,
            {kind for report in reports for kind in report.kinds.get(name, ())},
            dict.fromkeys(found[name] for found in types if name in found),
        )
        for name in job.keep
    ]
