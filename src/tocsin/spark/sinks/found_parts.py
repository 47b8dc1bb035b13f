"""Found rows into files by the tasks that find them: alerts in Parquet, rejects as JSON lines.

    found rows ──> matches ──> DRAFT OF ALERTS/.part-....parquet
              └──> rejects ──> DRAFT OF REJECTS/.part-....jsonl        Spark gets the names of both

For a stream with one folder as its sink, whose matches all are sent, this is all there is to do: rows need
not go to Java and back. What the files hold is what alerts_of and rejects_of of found_rows.py say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.types import StringType, StructType

from tocsin.spark.stream.found_rows import ALERTS, FOUND, KEPT, REJECTS

if TYPE_CHECKING:
    import pyarrow as pa

REPORT = StructType().add("alerts", StringType()).add("rejects", StringType())
"""Of each task the names of its files, null where it has none."""


@dataclass(frozen=True, slots=True)
class FoundParts:
    """The rows of a batch into the drafts of two folders. Small, and made to be pickled.

    json   the columns of alerts that hold JSON texts
    """

    alerts: str
    rejects: str
    version: int
    batch: int
    json: frozenset[str]

    def schema(self, found: StructType) -> StructType:  # noqa: ARG002
        """The names of files."""
        return REPORT

    def rows(self, found: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """In a worker: write the files, and give their names."""
        import pyarrow as pa

        from tocsin.spark.sinks.folder_parts import LinePart, ParquetPart

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
        import pyarrow as pa

        from tocsin.spark.sinks.folder_parts import plain_texts

        columns: dict[str, pa.Array] = {}
        for name in (*ALERTS.names, *matches.schema.names[len(FOUND) :]):
            if name == "version":
                columns[name] = pa.repeat(pa.scalar(self.version, pa.int64()), matches.num_rows)
            elif name != "batch":
                own = name.removeprefix(KEPT)
                column = matches.column(name)
                columns[own] = plain_texts(column) if own in self.json else column
        return pa.RecordBatch.from_pydict(columns)

    def _lines(self, rejects: pa.RecordBatch) -> Iterator[str]:
        place, reason, text = (rejects.column(name).to_pylist() for name in ("key", "reject", "raw"))
        for values in zip(place, reason, text, strict=True):
            line = dict(zip(REJECTS.names, (self.batch, *values), strict=True))
            yield json.dumps(line, ensure_ascii=False, separators=(",", ":"))
