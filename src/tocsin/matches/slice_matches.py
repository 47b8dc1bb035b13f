"""Event files matched slice by slice: here into the result, in Spark's tasks into parts.

    slices ──> match_slice ──> match_files.py                         one result
    slices ──> write_part ──> parts ──> read_part ──> match_files.py   the same, by Spark's tasks

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

import contextlib
import json
import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, NamedTuple, TextIO

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.conditions.matching import BatchMatches, cuts
from tocsin.errors import InputError
from tocsin.events import (
    BATCH_ROWS,
    JSON,
    EventChunk,
    KeptColumn,
    Path,
    Slice,
    kinds_of,
    plain,
    read_slice,
    settle,
)
from tocsin.events.kept_columns import kept_columns
from tocsin.matches.few_rules import FewRules
from tocsin.tables import Reject, column_names

if TYPE_CHECKING:
    from tocsin.conditions.live import Snapshot
    from tocsin.conditions.matching import Scores

SUFFIX = ".part"
MOST_MATCHES = 1 << 20
"""Matches of one batch in a part, unless a single event has more."""
_MOST_RULES_TIMES_EVENTS = 1 << 30
_REJECTS_REPORTED = 5
_OWN_COLUMNS = pa.schema(
    [("event", pa.int64()), ("rules", pa.large_list(pa.int32())), ("scores", pa.large_list(pa.float64()))]
)


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
    seen      places among the rules' fields, in order, of those that some event has
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

    event: Longs
    start: Longs
    rule: Ints
    score: Scores
    kept: dict[str, pa.Array]


def match_slice(
    rules: Snapshot | FewRules, job: SliceJob, number: int, write: Callable[[MatchedEvents], None]
) -> PartReport:
    """Match one slice, and have its matched events written; a batch may be empty.

    Bad events stop it, unless they are to be skipped: then the report has the first of them and no
    name. Raises InputError when a file cannot be read; when bad events are skipped, so is what follows
    in the slice.
    """
    piece = job.slices[number]
    report = PartReport(number)
    name = f"{number:07d}-{uuid.uuid4().hex}"
    located = _located(job, piece)
    present = columns_present(located, set(job.keep))
    rows = max(1, min(BATCH_ROWS, _MOST_RULES_TIMES_EVENTS // max(1, rules.count)))
    fields = sorted(rules.fields)
    seen: set[Path] = set()
    with _Rejects(rejects_path(job.folder, name), report, piece) as rejects:
        for chunk in _chunks(read_slice(located, fields, present, rows), rejects, job):
            for reject in chunk.rejects:
                rejects.add(reject)
            if report.rejects and not job.skip_bad:
                return report
            if isinstance(rules, FewRules):
                matches = rules.match_rows(chunk.rows)
            else:
                matches = rules.match_cells(chunk.events)
            kept = _kept(job, piece, chunk)
            for each, values in kept.items():
                report.kinds[each] = sorted({*report.kinds.get(each, ()), *kinds_of(values)})
            for batch in _matched_events(chunk.rows, matches, kept):
                write(batch)
            report.events += len(chunk.rows)
            report.matches += len(matches.rule)
            seen.update(chunk.events.columns)
    report.seen = [place for place, path in enumerate(fields) if path in seen]
    report.name = name
    return report


def names_of(rules: Snapshot | FewRules) -> pa.StringArray:
    """The rules' ids, by the numbers that parts have."""
    if isinstance(rules, FewRules):
        return rules.names
    return rules.names.column(np.arange(rules.count, dtype=np.int32))


def write_part(rules: Snapshot, job: SliceJob, number: int) -> PartReport:
    """Match one slice and write its part, which the report names."""
    with _PartWriter(FilePath(job.folder) / uuid.uuid4().hex) as part:
        report = match_slice(rules, job, number, part.write)
        if report.name is not None:
            part.finish(part_path(job.folder, report))
    return report


def known_columns(job: SliceJob) -> list[KeptColumn]:
    """The kept columns with types that suit all slices, found before any is matched.

    A table's head tells; lines of JSON, and integers too long for a type, are read through.
    """
    kinds: dict[str, set[str]] = {}
    types: dict[str, dict[pa.DataType, None]] = {}
    for piece in job.slices if job.keep else ():
        located = _located(job, piece)
        with contextlib.suppress(*([InputError] if job.skip_bad else [])):
            for chunk in read_slice(located, [], columns_present(located, set(job.keep))):
                kept = _kept(job, piece, chunk)
                for name, values in kept.items():
                    kinds.setdefault(name, set()).update(kinds_of(values))
                    types.setdefault(name, {})[values.type] = None
                if all(values.type != JSON for values in kept.values()):
                    break
    return [settle(name, kinds.get(name, ()), types.get(name, ())) for name in job.keep]


def columns_of_parts(job: SliceJob, reports: Sequence[PartReport]) -> list[KeptColumn]:
    """The same, of slices that have left parts."""
    types = [_part_types(job.folder, report) for report in reports] if job.keep else []
    return [
        settle(
            name,
            {kind for report in reports for kind in report.kinds.get(name, ())},
            dict.fromkeys(found[name] for found in types if name in found),
        )
        for name in job.keep
    ]


def _located(job: SliceJob, piece: Slice) -> Slice:
    return replace(piece, file=str(FilePath(job.root) / piece.file))


def _kept(job: SliceJob, piece: Slice, chunk: EventChunk) -> dict[str, pa.Array]:
    columns = kept_columns(piece, chunk.kept)
    return {name: plain(columns[name], name) for name in job.keep if name in columns}


def _matched_events(
    event: Longs, matches: BatchMatches, kept: Mapping[str, pa.Array]
) -> Iterator[MatchedEvents]:
    """The events that have matches, in batches: one that is empty when there are none."""
    matched = np.flatnonzero(matches.per_event)
    start = np.concatenate([[0], np.cumsum(matches.per_event[matched])])
    taken = pa.array(matched)
    columns = {name: values.take(taken) for name, values in kept.items()}
    for first, last in list(cuts(np.diff(start), MOST_MATCHES)) or [(0, 0)]:
        some = slice(start[first], start[last])
        yield MatchedEvents(
            event[matched[first:last]],
            start[first : last + 1] - start[first],
            matches.rule[some],
            None if matches.score is None else matches.score[some],
            {name: values.slice(first, last - first) for name, values in columns.items()},
        )


def _chunks(chunks: Iterator[EventChunk], rejects: _Rejects, job: SliceJob) -> Iterator[EventChunk]:
    """The chunks up to where the file breaks off, which is noted when bad events are skipped."""
    piece = rejects.piece
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
        rejects.add(Reject(next_row, reason, ""))


def read_part(folder: str, report: PartReport) -> Iterator[MatchedEvents]:
    """The batches of a part, in the order of their events."""
    with pa.OSFile(str(part_path(folder, report))) as source, pa.ipc.open_file(source) as part:
        for place in range(part.num_record_batches):
            batch = part.get_batch(place)
            if not batch.num_rows:
                continue
            event, rules, scores, *kept = batch.columns
            start = rules.offsets.to_numpy()
            names = part.schema.names[len(_OWN_COLUMNS) :]
            yield MatchedEvents(
                event.to_numpy(),
                start - start[0],
                rules.flatten().to_numpy(),
                None if scores.null_count else scores.flatten().to_numpy(),
                dict(zip(names, kept, strict=True)),
            )


def _part_types(folder: str, report: PartReport) -> dict[str, pa.DataType]:
    """The types of the kept columns of a part."""
    with pa.OSFile(str(part_path(folder, report))) as source, pa.ipc.open_file(source) as part:
        return {each.name: each.type for each in list(part.schema)[len(_OWN_COLUMNS) :]}


def part_path(folder: str, report: PartReport) -> FilePath:
    """Where a part is."""
    return FilePath(folder) / f"{report.name}{SUFFIX}"


def rejects_path(folder: str, name: str | None) -> FilePath:
    """Where the records of a slice that are no events are, as JSON lines; there need not be any."""
    return FilePath(folder) / f"{name}.rejects"


class _PartWriter:
    """Writes a part under a passing name; `finish` gives it its own, and leaving without it removes it."""

    def __init__(self, draft: FilePath) -> None:
        self._draft = draft.with_suffix(".draft")
        self._writer: pa.RecordBatchFileWriter | None = None

    def __enter__(self) -> _PartWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._writer is not None:
            self._writer.close()
        self._draft.unlink(missing_ok=True)

    def write(self, batch: MatchedEvents) -> None:
        """Add a batch; of the empty ones only the first, which tells the columns."""
        if self._writer is not None and not len(batch.event):
            return
        offsets = pa.array(batch.start, pa.int64())
        scores = pa.nulls(len(batch.event), _OWN_COLUMNS.field("scores").type)
        if batch.score is not None:
            scores = pa.LargeListArray.from_arrays(offsets, pa.array(batch.score))
        rules = pa.LargeListArray.from_arrays(offsets, pa.array(batch.rule))
        arrays = [pa.array(batch.event), rules, scores, *batch.kept.values()]
        rows = pa.RecordBatch.from_arrays(arrays, names=[*_OWN_COLUMNS.names, *batch.kept])
        if self._writer is None:
            self._writer = pa.ipc.new_file(str(self._draft), rows.schema)
        self._writer.write_batch(rows)

    def finish(self, path: FilePath) -> None:
        """All is written."""
        if self._writer is None:
            self._writer = pa.ipc.new_file(str(self._draft), _OWN_COLUMNS)
        self._writer.close()
        self._draft.rename(path)


class _Rejects:
    """The records of a slice that are no events: counted in its report, and written when there are any."""

    def __init__(self, path: FilePath, report: PartReport, piece: Slice) -> None:
        self._path = path
        self._report = report
        self._stream: TextIO | None = None
        self.piece = piece

    def __enter__(self) -> _Rejects:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def add(self, reject: Reject) -> None:
        """One more."""
        row, reason, text = reject
        if len(self._report.first_rejects) < _REJECTS_REPORTED:
            self._report.first_rejects.append((row, reason))
        if self._stream is None:
            self._stream = self._path.open("w", encoding="utf-8", newline="\n")
        self._stream.write(reject_line(self.piece.file, row, reason, text))
        self._report.rejects += 1


def reject_line(file: str, event: int | None, reason: str, text: str) -> str:
    """A record that is no event, as it stands in a file of rejects; None for a whole file."""
    members = {"file": file, "event": event, "reason": reason, "text": text}
    return json.dumps(members, ensure_ascii=False) + "\n"


def columns_present(piece: Slice, names: set[str]) -> list[str]:
    """Those of the columns that the slice's file has; JSON lines may have any."""
    if piece.format == "csv":
        return sorted(names & {name for name, _ in piece.layout})
    if piece.format == "parquet":
        return sorted(names & set(column_names(piece.file)))
    return sorted(names)
