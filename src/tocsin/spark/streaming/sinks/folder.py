"""Alerts into a folder of Parquet files or JSON lines, exactly once.

    alerts/
      batch=0/part-....parquet
      batch=2/part-....parquet        batch 1 had no alerts
      .writing-3-5f0c.../             being written; left behind only by a process that was killed

A batch is written to a hidden folder, which then gets its name by one rename: whoever reads `alerts/` as a
table, with Spark, pyarrow or anything that leaves out hidden names, sees a batch whole or not at all.
When the folder of a batch is there, the batch was written before, and nothing is done.
"""

from __future__ import annotations

import re
import shutil
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from tocsin.errors import InputError, UsageError
from tocsin.spark.paths import to_write
from tocsin.spark.streaming.checkpoint import sync_folder
from tocsin.spark.streaming.found_rows import json_lines, plain_kept

FORMATS = ("parquet", "jsonl")
_WRITING = ".writing-"
_NO_MARK = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}


@dataclass(frozen=True, slots=True)
class FolderSink:
    """A folder, which the driver and all workers must be able to write to."""

    folder: Path
    format: str = "parquet"
    exactly_once: bool = True

    @staticmethod
    def of(uri: str) -> FolderSink:
        """`alerts`, `alerts?format=jsonl`, `parquet:alerts`, `jsonl:alerts` or `file:///alerts`."""
        found = re.fullmatch(r"(?:(parquet|jsonl|file):(?://(?=/))?)?([^?]+)(?:\?(.*))?", uri, re.I | re.S)
        if found is None:
            raise UsageError(f"{uri!r} names no folder")
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

    def open(self, session: SparkSession, stream: str, schema: StructType) -> None:  # noqa: ARG002
        """Make the folder, see whether it can be written to, and clear away what was left unfinished."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            probe = self.folder / f"{_WRITING}{uuid.uuid4().hex}"
            probe.mkdir()
            probe.rmdir()
            for left in self.folder.glob(f"{_WRITING}*"):
                shutil.rmtree(left, ignore_errors=True)
        except OSError as error:
            raise InputError(f"{self.folder}: cannot be written to: {error.strerror}") from error

    def write(self, alerts: DataFrame, batch: int) -> None:
        """Write a batch, unless it is there."""
        final = self.folder / f"batch={batch}"
        if final.exists():
            return
        draft = self.folder / f"{_WRITING}{batch}-{uuid.uuid4().hex}"
        if self.format == "jsonl":
            json_lines(alerts).write.options(**_NO_MARK).text(to_write(draft))
        else:
            # Of the session that Spark has made for this query: times that every reader takes for instants.
            alerts.sparkSession.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
            rows = plain_kept(alerts).drop("batch")  # the folder's name says it
            rows.write.options(**_NO_MARK).parquet(to_write(draft))
        self._settle(draft, final)

    def close(self) -> None:
        """Nothing is open."""

    def _settle(self, draft: Path, final: Path) -> None:
        """Give a finished folder its name, unless nothing is in it."""
        is_empty = _has_no_lines if self.format == "jsonl" else _has_no_rows
        for file in list(draft.iterdir()):
            if file.name.startswith((".", "_")) or is_empty(file):
                file.unlink()
            elif self.format == "jsonl":
                file.rename(file.with_suffix(".jsonl"))
        if any(draft.iterdir()):
            draft.rename(final)
            sync_folder(self.folder)
        else:
            draft.rmdir()


def _has_no_lines(file: Path) -> bool:
    return file.stat().st_size == 0


def _has_no_rows(file: Path) -> bool:
    import pyarrow.parquet as pq

    rows: int = pq.read_metadata(file).num_rows
    return rows == 0
