"""Event files matched slice by slice, each slice leaving one part: a file of matched events.

    slices ──> match_slice, here or in Spark's tasks ──> parts ──> match_files.py ──> one result

A part is an Arrow file with a row for each event that some rule matches:

    event   int64               the row number
    rules   large_list<int32>   the numbers of its rules, ascending
    scores  large_list<double>  the score of each; null when no rule has free text
    ...     the kept columns

so it is small, and what is written of it later does not depend on who matched it. Records that are
no events stand beside it as JSON lines. A part has its name only when it is whole, and every attempt
at a slice uses another name: the report of the attempt that succeeded tells which one counts.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path as FilePath
from typing import NamedTuple, Protocol, TextIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from tocsin.conditions.matching.matcher import BatchMatches
from tocsin.conditions.matching.portions import cuts
from tocsin.conditions.matching.results import Scores
from tocsin.errors import InputError
from tocsin.events.cells import EventBatch, Path
from tocsin.events.event_files import BATCH_ROWS, EventChunk, read_slice
from tocsin.events.kept_columns import kept_columns, kinds_of, plain
from tocsin.events.rejects import Reject
from tocsin.events.slices import Slice

SUFFIX = ".part"
MOST_MATCHES = 1 << 20
"""Matches of one batch in a part, unless a single event has more."""
_MOST_RULES_TIMES_EVENTS = 1 << 30
_REJECTS_REPORTED = 5
_OWN_COLUMNS = pa.schema(
    [("event", pa.int64()), ("rules", pa.large_list(pa.int32())), ("scores", pa.large_list(pa.float64()))]
)


class SliceMatcher(Protocol):
    """What matching files needs of an engine; its length is the number of its rules."""

    fields: Sequence[Path]
    """The fields to find the cells of."""

    def __len__(self) -> int: ...

    def match(self, events: EventBatch, /) -> BatchMatches:
        """The matches of events that are cells already."""


@dataclass(frozen=True, slots=True)
class SliceJob:
    """What to do with every slice of an input. Made to be pickled.

    slices     with their files as the user names them
    keep       top-level columns to carry along
    skip_bad   whether records that are no events are left out, or stop the slice
    folder     where parts go
    root       the folder that relative names start from: a worker may stand elsewhere
    """

    slices: tuple[Slice, ...]
    keep: tuple[str, ...]
    skip_bad: bool
    folder: str
    root: str = field(default_factory=os.getcwd)


@dataclass(slots=True)
class PartReport:
    """What became of one slice.

    name      the part's file in the job's folder, None when bad events stopped it
    seen      places in the engine's fields of those that some event has
    kinds     for each kept column that the slice has, the kinds of its values
    rejects   how many records were no events, and of the first few row number and reason
    """

    slice: int
    name: str | None = None
    events: int = 0
    matches: int = 0
    rejects: int = 0
    first_rejects: list[tuple[int, str]] = field(default_factory=list)
    seen: list[int] = field(default_factory=list)
    kinds: dict[str, list[str]] = field(default_factory=dict)

    def to_json(self) -> str:
        """As one line of text, for the way back from a worker."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> PartReport:
        """What to_json wrote."""
        return PartReport(**json.loads(text))


class MatchedEvents(NamedTuple):
    """A batch of a part: event i has the rules rule[start[i] : start[i + 1]], with these scores."""

    event: NDArray[np.int64]
    start: NDArray[np.int64]
    rule: NDArray[np.int32]
    score: Scores
    kept: dict[str, pa.Array]


def match_slice(matcher: SliceMatcher, job: SliceJob, number: int) -> PartReport:
    """Match one slice and write its part.

    Bad events stop it, unless they are to be skipped: then the report has the first of them and no
    part. Raises InputError when a file cannot be read; when bad events are skipped, so is what follows
    in the slice.
    """
    piece = job.slices[number]
    report = PartReport(number)
    name = f"{number:07d}-{uuid.uuid4().hex}"
    folder = FilePath(job.folder)
    located = replace(piece, file=str(FilePath(job.root) / piece.file))
    present = columns_present(located, set(job.keep))
    rows = max(1, min(BATCH_ROWS, _MOST_RULES_TIMES_EVENTS // max(1, len(matcher))))
    seen: set[Path] = set()
    with _PartWriter(folder / name) as part:
        for chunk in _chunks(read_slice(located, matcher.fields, present, rows), piece, report, part, job):
            _note_rejects(report, part, piece, chunk)
            if report.rejects and not job.skip_bad:
                return report
            columns = kept_columns(piece, chunk.kept)
            matches = matcher.match(chunk.events)
            kept = {each: plain(columns[each], each) for each in job.keep if each in columns}
            for each, values in kept.items():
                report.kinds[each] = sorted({*report.kinds.get(each, ()), *kinds_of(values)})
            part.write(chunk.rows, matches, kept)
            report.events += len(chunk.rows)
            report.matches += len(matches.rule)
            seen.update(chunk.events.columns)
        part.finish()
    report.seen = [place for place, path in enumerate(matcher.fields) if path in seen]
    report.name = name
    return report


def _chunks(
    chunks: Iterator[EventChunk], piece: Slice, report: PartReport, part: _PartWriter, job: SliceJob
) -> Iterator[EventChunk]:
    """The chunks up to where the file breaks off, which is noted when bad events are skipped."""
    next_row = piece.first_row
    try:
        for chunk in chunks:
            yield chunk
            next_row = chunk.first_row + len(chunk.rows) + len(chunk.rejects)
    except InputError as error:
        if not job.skip_bad:
            raise
        reason = f"{error}: nothing is read from here on"
        if piece.rows is not None:
            reason += f", up to event {piece.first_row + piece.rows - 1}"
        _reject(report, part, piece, Reject(next_row, reason, ""))


def read_part(folder: str, report: PartReport) -> Iterator[MatchedEvents]:
    """The batches of a part, in the order of their events."""
    with pa.OSFile(str(part_path(folder, report))) as source, pa.ipc.open_file(source) as part:
        for place in range(part.num_record_batches):
            event, rules, scores, *kept = part.get_batch(place).columns
            start = rules.offsets.to_numpy()
            names = part.schema.names[len(_OWN_COLUMNS) :]
            yield MatchedEvents(
                event.to_numpy(),
                start - start[0],
                rules.flatten().to_numpy(),
                None if scores.null_count else scores.flatten().to_numpy(),
                dict(zip(names, kept, strict=True)),
            )


def part_types(folder: str, report: PartReport) -> dict[str, pa.DataType]:
    """The types of the kept columns of a part."""
    with pa.OSFile(str(part_path(folder, report))) as source, pa.ipc.open_file(source) as part:
        return {each.name: each.type for each in list(part.schema)[len(_OWN_COLUMNS) :]}


def part_path(folder: str, report: PartReport) -> FilePath:
    """Where a part is."""
    return FilePath(folder) / f"{report.name}{SUFFIX}"


def rejects_path(folder: str, report: PartReport) -> FilePath:
    """Where the records of a slice that are no events are, as JSON lines; there need not be any."""
    return FilePath(folder) / f"{report.name}.rejects"


class _PartWriter:
    """Writes a part under a passing name; `finish` gives it its own, and leaving without it removes it."""

    def __init__(self, path: FilePath) -> None:
        self._path = path
        self._draft = path.with_suffix(".draft")
        self._writer: pa.RecordBatchFileWriter | None = None
        self._rejects: TextIO | None = None

    def __enter__(self) -> _PartWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._rejects is not None:
            self._rejects.close()
        if self._writer is not None:
            self._writer.close()
        self._draft.unlink(missing_ok=True)

    def write(self, event: NDArray[np.int64], matches: BatchMatches, kept: Mapping[str, pa.Array]) -> None:
        """Add the events that have matches."""
        matched = np.flatnonzero(matches.per_event)
        start = np.concatenate([[0], np.cumsum(matches.per_event[matched])])
        taken = pa.array(matched)
        columns = {name: values.take(taken) for name, values in kept.items()}
        for first, last in cuts(np.diff(start), MOST_MATCHES):
            offsets = pa.array(start[first : last + 1] - start[first], pa.int64())
            some = slice(start[first], start[last])
            scores = pa.nulls(last - first, _OWN_COLUMNS.field("scores").type)
            if matches.score is not None:
                scores = pa.LargeListArray.from_arrays(offsets, pa.array(matches.score[some]))
            arrays = [
                pa.array(event[matched[first:last]]),
                pa.LargeListArray.from_arrays(offsets, pa.array(matches.rule[some])),
                scores,
                *(values.slice(first, last - first) for values in columns.values()),
            ]
            self._add(pa.RecordBatch.from_arrays(arrays, names=[*_OWN_COLUMNS.names, *columns]))

    def reject(self, line: str) -> None:
        """Add a line to the records that are no events."""
        if self._rejects is None:
            self._rejects = self._path.with_suffix(".rejects").open("w", encoding="utf-8", newline="\n")
        self._rejects.write(line)

    def finish(self) -> None:
        """All is written."""
        if self._writer is None:
            self._writer = pa.ipc.new_file(str(self._draft), _OWN_COLUMNS)
        self._writer.close()
        self._draft.rename(self._path.with_suffix(SUFFIX))

    def _add(self, batch: pa.RecordBatch) -> None:
        if self._writer is None:
            self._writer = pa.ipc.new_file(str(self._draft), batch.schema)
        self._writer.write_batch(batch)


def reject_line(file: str, event: int | None, reason: str, text: str) -> str:
    """A record that is no event, as it stands in a file of rejects; None for a whole file."""
    members = {"file": file, "event": event, "reason": reason, "text": text}
    return json.dumps(members, ensure_ascii=False) + "\n"


def _note_rejects(report: PartReport, part: _PartWriter, piece: Slice, chunk: EventChunk) -> None:
    for reject in chunk.rejects:
        _reject(report, part, piece, reject)


def _reject(report: PartReport, part: _PartWriter, piece: Slice, reject: Reject) -> None:
    row, reason, text = reject
    if len(report.first_rejects) < _REJECTS_REPORTED:
        report.first_rejects.append((row, reason))
    part.reject(reject_line(piece.file, row, reason, text))
    report.rejects += 1


def columns_present(piece: Slice, names: set[str]) -> list[str]:
    """Those of the columns that the slice's file has; JSON lines may have any."""
    if piece.format == "csv":
        return sorted(names & {name for name, _ in piece.layout})
    if piece.format == "parquet":
        try:
            return sorted(names & set(pq.read_schema(piece.file).names))
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"{piece.file}: cannot be read: {error}") from error
    return sorted(names)
