"""Alerts written out: JSON lines, CSV or Parquet, a row for each alert in the order they came.

event   the number, from 0 over all input, of the record whose insertion fired it
table   the table it was inserted into
rule    the trigger
score   null without free text
text    the alert's text, null without one
rows    the rows by alias: an object in JSON lines, its JSON text in tables
"""

from __future__ import annotations

import json
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from tocsin.events import json_text
from tocsin.matches import without_formulas
from tocsin.watches.alerts import Alert

ALERT_SCHEMA = pa.schema(
    [
        ("event", pa.int64()),
        ("table", pa.string()),
        ("rule", pa.string()),
        ("score", pa.float64()),
        ("text", pa.string()),
        ("rows", pa.string()),
    ]
)
_AT_ONCE = 10_000


class AlertLines:
    """A line of JSON for each alert."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, event: int, table: str, alert: Alert) -> None:
        """Write one alert."""
        members = {
            "event": event,
            "table": table,
            "rule": alert.rule,
            "score": alert.score,
            "text": alert.text,
        }
        line = f'{json.dumps(members, ensure_ascii=False)[:-1]}, "rows": {json_text(alert.rows)}}}\n'
        self._stream.write(line.encode("utf-8", "backslashreplace"))

    def finish(self) -> None:
        """Everything to the stream."""
        self._stream.flush()


class AlertTable:
    """A CSV or Parquet file of alerts."""

    def __init__(self, stream: BinaryIO, suffix: str, safe_csv: bool) -> None:
        self._is_safe_csv = safe_csv and suffix == ".csv"
        self._writer: pa_csv.CSVWriter | pq.ParquetWriter = (
            pa_csv.CSVWriter(stream, ALERT_SCHEMA)
            if suffix == ".csv"
            else pq.ParquetWriter(stream, ALERT_SCHEMA, compression="zstd")
        )
        self._waiting: list[tuple[object, ...]] = []

    def write(self, event: int, table: str, alert: Alert) -> None:
        """Take one alert, and write those that wait when there are enough."""
        self._waiting.append((event, table, alert.rule, alert.score, alert.text, json_text(alert.rows)))
        if len(self._waiting) >= _AT_ONCE:
            self._write_waiting()

    def finish(self) -> None:
        """Everything to the stream."""
        self._write_waiting()
        self._writer.close()

    def _write_waiting(self) -> None:
        if self._waiting:
            columns = zip(ALERT_SCHEMA, zip(*self._waiting, strict=True), strict=True)
            arrays = [pa.array(values, field.type) for field, values in columns]
            rows = pa.RecordBatch.from_arrays(arrays, schema=ALERT_SCHEMA)
            self._writer.write_batch(without_formulas(rows) if self._is_safe_csv else rows)
        self._waiting = []


def alert_writer(stream: BinaryIO, suffix: str, safe_csv: bool = False) -> AlertLines | AlertTable:
    """The writer of a format: .jsonl, .csv (perhaps without formulas) or .parquet."""
    return AlertLines(stream) if suffix == ".jsonl" else AlertTable(stream, suffix, safe_csv)
