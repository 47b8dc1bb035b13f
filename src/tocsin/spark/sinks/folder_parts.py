"""In a worker: rows as a file of a folder of alerts.

An attempt at a task writes under a name that no other has, and tells it when the file is whole and on the
disk. The file is hidden (`.name`) until the driver, which knows whose attempt counts, gives it its name: one
that was given up and still writes shows nothing to any reader. Without rows there is no file.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.types import StringType, StructType

from tocsin.spark.stream.alert_values import plain_text
from tocsin.spark.stream.match_columns import ALERTS, DICTIONARY, FOUND, KEPT, REJECTS
from tocsin.spark.stream.source import Onward

ROWS_OF_GROUP = 1 << 17
BYTES_OF_GROUP = 32 << 20
"""Rows, or bytes of them in memory, that are enough for a row group."""

_REPORT = pa.schema([("name", pa.string())])


def write_part(
    batches: Iterable[pa.RecordBatch],
    folder: str,
    file_format: str,
    names: Sequence[str],
    texts: Collection[str] = (),
) -> Iterator[pa.RecordBatch]:
    """Write the rows under these names of columns; the name of the file, unless there are none.

    JSON lines are one column of texts. The columns `texts` of a table hold JSON texts, and get plain ones.
    """
    with LinePart(folder) if file_format == "jsonl" else ParquetPart(folder) as part:
        for batch in batches:
            if isinstance(part, LinePart):
                part.write(batch.column(0).to_pylist())
            else:
                columns = zip(names, batch.columns, strict=True)
                part.write(
                    pa.RecordBatch.from_pydict(
                        {name: plain_texts(each) if name in texts else each for name, each in columns}
                    )
                )
    if part.name is not None:
        yield pa.RecordBatch.from_pylist([{"name": part.name}], schema=_REPORT)


def plain_texts(column: pa.Array) -> pa.Array:
    """JSON texts as plain text: a string as it is, everything else as JSON writes it."""
    coded = column.dictionary_encode()
    texts = pa.array(map(plain_text, coded.dictionary.to_pylist()), pa.string())
    return texts.take(coded.indices)


def hidden(name: str) -> str:
    """The name of a file that readers of the folder leave out."""
    return f".{name}"


class _Part:
    """A file in the making; `name` is its name once there is something in it."""

    ending: str

    def __init__(self, folder: str) -> None:
        self.name: str | None = None
        self._folder = Path(folder)
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        if failure is None:
            self._finish()
        if self._file is not None:
            with self._file:
                self._file.flush()
                os.fsync(self._file.fileno())

    def _finish(self) -> None:
        """Write what stands behind all rows."""

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            self.name = f"part-{uuid.uuid4().hex}.{self.ending}"
            self._file = (self._folder / hidden(self.name)).open("xb")
        return self._file


class ParquetPart(_Part):
    """Rows of one schema. They are held until there are enough for a row group, which is read as a whole."""

    ending = "parquet"

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self._writer: pq.ParquetWriter | None = None
        self._held: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def write(self, rows: pa.RecordBatch) -> None:
        """Write some rows."""
        if rows.num_rows:
            self._held.append(rows)
            self._rows += rows.num_rows
            self._bytes += rows.nbytes
        if self._rows >= ROWS_OF_GROUP or self._bytes >= BYTES_OF_GROUP:
            self._write_group()

    def _write_group(self) -> None:
        if self._held:
            group = pa.Table.from_batches(self._held)
            if self._writer is None:
                self._writer = pq.ParquetWriter(self._opened(), group.schema)
            self._writer.write_table(group, row_group_size=len(group))
            self._held = []
            self._rows = self._bytes = 0

    def _finish(self) -> None:
        self._write_group()
        if self._writer is not None:
            self._writer.close()


class LinePart(_Part):
    """Texts, each a line."""

    ending = "jsonl"

    def write(self, lines: Iterable[str]) -> None:
        """Write some lines."""
        for line in lines:
            self._opened().write(f"{line}\n".encode())


@dataclass(frozen=True, slots=True)
class FoundParts(Onward):
    """The rows of a batch into the drafts of two folders, by the tasks that find them. Made to be pickled.

        found rows ──> matches ──> DRAFT OF ALERTS/.part-....parquet
                  └──> rejects ──> DRAFT OF REJECTS/.part-....jsonl        Spark gets the names of both

    For a stream with one folder as its sink, whose matches all are sent, this is all there is to do: rows
    need not go to Java and back. The files hold what alerts_of and rejects_of of stream/match_columns.py say.

    texts        the columns of alerts that hold JSON texts
    dictionary   the version of the dictionaries, of a stream that learns
    """

    alerts: str
    rejects: str
    version: int
    batch: int
    texts: frozenset[str]
    dictionary: int | None = None

    def schema(self, found: StructType) -> StructType:  # noqa: ARG002
        """Of each task the names of its files, null where it has none."""
        return StructType().add("alerts", StringType()).add("rejects", StringType())

    def rows(self, found: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """In a worker: write the files, and give their names."""
        with ParquetPart(self.alerts) as alerts, LinePart(self.rejects) as rejects:
            for rows in found:
                told = rows.column("alert")
                if told.null_count < len(told):
                    alerts.write(self._alerts(rows.filter(told.is_valid())))
                if told.null_count:
                    rejects.write(self._lines(rows.filter(told.is_null())))
        yield pa.RecordBatch.from_pydict(
            {"alerts": pa.array([alerts.name], pa.string()), "rejects": pa.array([rejects.name], pa.string())}
        )

    def _alerts(self, matches: pa.RecordBatch) -> pa.RecordBatch:
        """Without the batch, which the folder's name says."""
        columns: dict[str, pa.Array] = {}
        of_batch = {"version": self.version} | (
            {} if self.dictionary is None else {DICTIONARY.name: self.dictionary}
        )
        for name in (*ALERTS.names, *list(of_batch)[1:], *matches.schema.names[len(FOUND) :]):
            if name in of_batch:
                columns[name] = pa.repeat(pa.scalar(of_batch[name], pa.int64()), matches.num_rows)
            elif name != "batch":
                own = name.removeprefix(KEPT)
                column = matches.column(name)
                columns[own] = plain_texts(column) if own in self.texts else column
        return pa.RecordBatch.from_pydict(columns)

    def _lines(self, rejects: pa.RecordBatch) -> Iterator[str]:
        place, reason, text = (rejects.column(name).to_pylist() for name in ("key", "reject", "raw"))
        for values in zip(place, reason, text, strict=True):
            line = dict(zip(REJECTS.names, (self.batch, *values), strict=True))
            yield json.dumps(line, ensure_ascii=False, separators=(",", ":"))
