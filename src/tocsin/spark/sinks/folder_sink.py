"""Alerts into a folder of Parquet files or JSON lines, exactly once.

    alerts/
      _stream.json                    the id of the stream whose batches these are
      batch=0/part-....parquet
      batch=2/part-....parquet        batch 1 had no alerts
      .writing-3-5f0c.../             being written; left behind only by a process that was killed

A batch is written to a hidden folder, which then gets its name by one rename: whoever reads `alerts/` as a
table, with Spark, pyarrow or anything that leaves out hidden names, sees a batch whole or not at all.
When the folder of a batch is there, the batch was written before, and nothing is done. So a folder belongs to
one stream: the batches of another one have the same numbers, and would be taken for written.
"""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T  # noqa: N812

from tocsin.errors import InputError, UsageError
from tocsin.spark.event_columns import by_place, types_within
from tocsin.spark.file_urls import to_write
from tocsin.spark.sinks.folder_parts import hidden, write_part
from tocsin.spark.sinks.sink import Sink
from tocsin.spark.stream.checkpoint import read_json, write_json
from tocsin.spark.stream.match_columns import is_json, json_lines
from tocsin.storage import sync_file, sync_folder

FORMATS = ("parquet", "jsonl")
_WRITING = ".writing-"
_OWNER = "_stream.json"
_PLAIN = (
    *(T.NumericType, T.StringType, T.BooleanType, T.BinaryType),
    *(T.DateType, T.TimestampType, T.TimestampNTZType, T.StructType, T.MapType, T.ArrayType),
)
_NO_MARK = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}


@dataclass(frozen=True, slots=True)
class Draft:
    """The folder of a batch in the making, and the place where it will be."""

    folder: Path
    final: Path

    def settle(self, names: Iterable[str]) -> None:
        """Show the files of these names that tasks have written, and no others; then the folder, if filled.

        Other hidden files are what attempts that were given up have left behind.
        """
        for name in names:
            (self.folder / hidden(name)).rename(self.folder / name)
        for left in self.folder.glob(".*"):
            left.unlink(missing_ok=True)
        if any(self.folder.iterdir()):
            sync_folder(self.folder)
            self.folder.rename(self.final)
            sync_folder(self.final.parent)
        else:
            self.folder.rmdir()


@dataclass(slots=True)
class FolderSink(Sink):
    """A folder, which the driver and all workers must be able to write to.

    stream   the id of the stream that has opened it
    """

    folder: Path
    format: str = "parquet"
    exactly_once: bool = True
    stream: str | None = None
    _schema: T.StructType | None = None

    @staticmethod
    def of(uri: str) -> FolderSink:
        """`alerts`, `alerts?format=jsonl`, `parquet:alerts`, `jsonl:alerts` or `file:///alerts`."""
        found = re.fullmatch(r"(?:(parquet|jsonl|file):(?://(?=/))?)?+([^?]+)(?:\?(.*))?", uri, re.I | re.S)
        if found is None:
            raise UsageError(f"{uri!r} does not name a folder")
        options = {name: values[-1] for name, values in parse_qs(found[3] or "").items()}
        scheme = (found[1] or "").lower()
        chosen = options.pop("format", scheme if scheme in FORMATS else "parquet")
        if options or chosen not in FORMATS:
            raise UsageError(f"{uri!r}: after the folder there can be ?format={' or ?format='.join(FORMATS)}")
        return FolderSink(Path(found[2]).absolute(), chosen)

    @property
    def name(self) -> str:
        """The folder and its format."""
        return f"{self.folder} ({self.format})"

    def identity(self) -> dict[str, Any]:
        """Folder and format."""
        return {"kind": "folder", "folder": str(self.folder), "format": self.format}

    def open(self, session: SparkSession, stream: str, schema: T.StructType) -> None:  # noqa: ARG002
        """Make the folder, see whether it can be written to, and clear away what was left unfinished.

        UsageError when it holds batches of another stream.
        """
        self._schema = schema
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            probe = self.folder / f"{_WRITING}{uuid.uuid4().hex}"
            probe.mkdir()
            probe.rmdir()
            self._take(stream)
            for left in self.folder.glob(f"{_WRITING}*"):
                shutil.rmtree(left, ignore_errors=True)
        except OSError as error:
            raise InputError(f"{self.folder}: cannot be written to: {error.strerror}") from error

    def _take(self, stream: str) -> None:
        """Note whose folder it is, if it is nobody's or still empty."""
        if self._owner() != stream:
            if any(self.folder.glob("batch=*")):
                raise UsageError(
                    f"{self.folder} holds batches of another stream, which have the same numbers:"
                    " give another folder"
                )
            write_json(self.folder / _OWNER, {"stream": stream})
        self.stream = stream

    def _owner(self) -> str | None:
        known = read_json(self.folder / _OWNER)
        return None if known is None else known.get("stream")

    def write(self, alerts: DataFrame, batch: int) -> None:
        """Write a batch, unless it is there."""
        draft = self.draft(batch)
        if draft is None:
            return
        if self.format == "jsonl":
            draft.settle(self._written(json_lines(alerts), draft))
            return
        rows = alerts.drop("batch")  # the folder's name says it
        if _is_plain(rows.schema):
            draft.settle(self._written(rows, draft))
        else:
            # In the session that Spark has made for this query: times that all readers take for instants.
            rows.sparkSession.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
            rows.write.mode("append").options(**_NO_MARK).parquet(to_write(draft.folder))
            self._keep_rows(draft.folder)
            draft.settle([])

    @property
    def takes_parts(self) -> bool:
        """Whether tasks can write its files of what they find, without the help of Spark."""
        return self.format == "parquet" and self._schema is not None and _is_plain(self._schema)

    @property
    def json_columns(self) -> frozenset[str]:
        """The columns of alerts that come as JSON texts."""
        return frozenset(field.name for field in self._schema or () if is_json(field))

    def draft(self, batch: int) -> Draft | None:
        """Begin to write a batch; None when it is there. UsageError when the folder is now another's."""
        if self.stream is not None and self._owner() != self.stream:
            raise UsageError(f"{self.folder}: another stream has begun to write here")
        final = self.folder / f"batch={batch}"
        if final.exists():
            return None
        draft = Draft(self.folder / f"{_WRITING}{batch}-{uuid.uuid4().hex}", final)
        draft.folder.mkdir()
        return draft

    def _written(self, rows: DataFrame, draft: Draft) -> list[str]:
        """Each task writes a file: that takes a small part of the time that Spark's own way to files does.

        Columns go by their places, since mapInArrow does not take every name. JSON texts become plain ones.
        """
        texts = frozenset(field.name for field in rows.schema if is_json(field))
        folder, file_format, names = str(draft.folder), self.format, rows.columns
        task = partial(write_part, folder=folder, file_format=file_format, names=names, texts=texts)
        return [report.name for report in by_place(rows).mapInArrow(task, "name string").collect()]

    @staticmethod
    def _keep_rows(draft: Path) -> None:
        """Of what Spark has written keep the files with rows, and see to it that they are on the disk."""
        for file in list(draft.iterdir()):
            if file.name.startswith((".", "_")) or pq.read_metadata(file).num_rows == 0:
                file.unlink()
            else:
                sync_file(file)  # Spark leaves that to the system


def _is_plain(data_type: T.DataType) -> bool:
    """Whether others write a type to Parquet as Spark does."""
    return all(isinstance(part, _PLAIN) for part in types_within(data_type))
