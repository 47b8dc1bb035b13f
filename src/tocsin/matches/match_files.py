"""Matches written out: JSON lines, CSV or Parquet, in a file or on a stream.

The rows are those of the parts in their order: by event, then by rule.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from tocsin.arrays.dtypes import Ints
from tocsin.arrays.packed import packed_bytes
from tocsin.conditions.matching import BYTES_OF_ROW, cuts, row_bytes
from tocsin.errors import UsageError
from tocsin.events import KeptColumn, converted, csv_column, json_texts
from tocsin.matches.slice_matches import MatchedEvents

OWN_COLUMNS = ("event", "rule", "score")
"""The columns of every result, whose names no kept column can have."""

_BYTES_AT_ONCE = 64 * 2**20
FEW_LINES = 1_000
"""So few are written without the loop, which would have to be loaded for them."""
_SCORE = b', "score": '
_NULL = b"null"
_FORMULA = r"\A([=+\-@\t\r])"


def output_format(path: str | Path) -> str:
    """The format that a file's name asks for; UsageError when it is none of them."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise UsageError(f"cannot write {path}: the name must end in {', '.join(FORMATS)}")
    return suffix


def check_kept_names(names: Sequence[str]) -> tuple[str, ...]:
    """The columns to keep, each once; UsageError when one would stand twice in the result."""
    for name in names:
        if name in OWN_COLUMNS:
            raise UsageError(f"a kept column cannot be named {name!r}: the result has its own")
    return tuple(dict.fromkeys(names))


class JsonLines:
    """`{"event": 0, "rule": "r1", "score": null, ...}`, a line for each match."""

    def __init__(self, stream: BinaryIO, names: pa.StringArray, columns: Sequence[KeptColumn]) -> None:
        self._stream = stream
        self._names = names
        self._place = np.full(len(names), -1, np.int32)
        self._rules: list[bytes] = []
        self._packed = packed_bytes(self._rules)
        self._columns = [(column.name, json.dumps(column.name, ensure_ascii=False)) for column in columns]

    def write(self, batch: MatchedEvents) -> None:
        """Write the lines of a batch, some _BYTES_AT_ONCE at a time."""
        self._learn(batch.rule)
        heads = [f'{{"event": {event}, "rule": '.encode() for event in batch.event.tolist()]
        ends = self._ends(batch)
        middles: list[bytes] = []
        if batch.score is None:
            ends = [_SCORE + _NULL + end for end in ends]
        else:
            scores = batch.score.tolist()
            middles = [_SCORE + (_NULL if score != score else repr(score).encode()) for score in scores]
        event = np.repeat(np.arange(len(heads), dtype=np.int32), np.diff(batch.start))
        rule = self._place[batch.rule]
        if len(event) < FEW_LINES:
            for match, (head, name) in enumerate(zip(event.tolist(), rule.tolist(), strict=True)):
                middle = middles[match] if middles else b""
                self._stream.write(b"".join((heads[head], self._rules[name], middle, ends[head])))
            return
        from tocsin.arrays.byte_copy import WORD  # only here: the loop brings the compiler
        from tocsin.matches.kernels.match_lines import LineParts, measure_lines, write_lines

        parts = LineParts(
            event, rule, *packed_bytes(heads), *self._packed, *packed_bytes(middles), *packed_bytes(ends)
        )
        first = 0
        while first < len(event):
            last, size = measure_lines(parts, first, _BYTES_AT_ONCE)
            lines = np.empty(size + WORD, np.uint8)
            write_lines(parts, first, last, lines)
            self._stream.write(lines[:size].data)
            first = last

    def _learn(self, rules: Ints) -> None:
        """The ids of rules as JSON, each when it first matches: most of millions of rules never do."""
        new = np.unique(rules[self._place[rules] < 0])
        if len(new):
            self._place[new] = np.arange(len(self._rules), len(self._rules) + len(new), dtype=np.int32)
            names = self._names.take(pa.array(new)).to_pylist()
            self._rules += [json.dumps(name, ensure_ascii=False).encode() for name in names]
            self._packed = packed_bytes(self._rules)

    def _ends(self, batch: MatchedEvents) -> list[bytes]:
        """What follows the score in the lines of each event."""
        texts = []
        for name, key in self._columns:
            values = json_texts(batch.kept[name]) if name in batch.kept else [None] * len(batch.event)
            texts.append([f", {key}: {value or 'null'}" for value in values])
        if not texts:
            return [b"}\n"] * len(batch.event)
        return [f"{''.join(row)}}}\n".encode() for row in zip(*texts, strict=True)]

    def finish(self) -> None:
        """Everything to the stream."""
        self._stream.flush()


class Csv:
    """Comma-separated values: null is empty, every string in quotes."""

    def __init__(self, stream: BinaryIO, names: pa.StringArray, columns: Sequence[KeptColumn]) -> None:
        from tocsin.conditions.matching import MATCH_SCHEMA

        self._rows = _Rows(names, columns)
        fields = [
            pa.field(column.name, csv_column(pa.nulls(0, column.field.type)).type) for column in columns
        ]
        self._schema = pa.schema([*MATCH_SCHEMA, *fields])
        self._writer = pa_csv.CSVWriter(stream, self._schema)

    def write(self, batch: MatchedEvents) -> None:
        """Write the rows of a batch."""
        for rows in self._rows.of(batch, csv_column):
            self._writer.write_batch(rows)

    def finish(self) -> None:
        """Everything to the stream."""
        self._writer.close()


class SafeCsv(Csv):
    """CSV that a spreadsheet opens as text: what it would take for a formula has an apostrophe before it."""

    def write(self, batch: MatchedEvents) -> None:
        """Write the rows of a batch."""
        for rows in self._rows.of(batch, csv_column):
            self._writer.write_batch(without_formulas(rows))


def without_formulas(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Strings that start with = + - @, a tab or a carriage return, after an apostrophe; numbers stay."""
    columns = [
        pc.replace_substring_regex(column, _FORMULA, r"'\1") if pa.types.is_string(column.type) else column
        for column in rows.columns
    ]
    return pa.RecordBatch.from_arrays(columns, schema=rows.schema)


class Parquet:
    """A Parquet file; kept columns have their types."""

    def __init__(self, stream: BinaryIO, names: pa.StringArray, columns: Sequence[KeptColumn]) -> None:
        from tocsin.conditions.matching import MATCH_SCHEMA

        self._rows = _Rows(names, columns)
        schema = pa.schema([*MATCH_SCHEMA, *(column.field for column in columns)])
        self._writer = pq.ParquetWriter(stream, schema, compression="zstd")
        self._waiting: list[pa.RecordBatch] = []
        self._bytes = 0

    def write(self, batch: MatchedEvents) -> None:
        """Take the rows of a batch, and write a row group when there are enough."""
        for rows in self._rows.of(batch):
            self._waiting.append(rows)
            self._bytes += rows.nbytes
            if self._bytes >= _BYTES_AT_ONCE:
                self._write_group()

    def finish(self) -> None:
        """Everything to the stream, with the file's footer."""
        self._write_group()
        self._writer.close()

    def _write_group(self) -> None:
        if self._waiting:
            group = pa.Table.from_batches(self._waiting)
            self._writer.write_table(group, row_group_size=max(1, group.num_rows))
        self._waiting, self._bytes = [], 0


class _Rows:
    """Turns events with many rules each into rows."""

    def __init__(self, names: pa.StringArray, columns: Sequence[KeptColumn]) -> None:
        self._names = names
        self._id_bytes = row_bytes(names)
        self._columns = columns

    def of(
        self, batch: MatchedEvents, shape: Callable[[pa.Array], pa.Array] = lambda values: values
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a batch, some _BYTES_AT_ONCE at a time; `shape` is applied to the kept columns."""
        from tocsin.conditions.matching import MATCH_SCHEMA, score_column

        count = len(batch.event)
        kept = [shape(converted(column, batch.kept.get(column.name), count)) for column in self._columns]
        event_of_row = np.repeat(np.arange(count), np.diff(batch.start))
        weights = BYTES_OF_ROW + self._id_bytes[batch.rule]
        for values in kept:
            weights += row_bytes(values)[event_of_row]
        schema = pa.schema(
            [
                *MATCH_SCHEMA,
                *(pa.field(c.name, values.type) for c, values in zip(self._columns, kept, strict=True)),
            ]
        )
        for first, last in cuts(weights, _BYTES_AT_ONCE):
            events = event_of_row[first:last]
            arrays = [
                pa.array(batch.event[events]),
                self._names.take(pa.array(batch.rule[first:last])),
                score_column(None if batch.score is None else batch.score[first:last], len(events)),
                *(values.take(pa.array(events)) for values in kept),
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


Output = JsonLines | Csv | Parquet
FORMATS: dict[str, type[Output]] = {".jsonl": JsonLines, ".csv": Csv, ".parquet": Parquet}


def output_of(suffix: str, safe_csv: bool) -> type[Output]:
    """What writes a format; CSV without formulas where that is asked for."""
    return SafeCsv if safe_csv and suffix == ".csv" else FORMATS[suffix]
