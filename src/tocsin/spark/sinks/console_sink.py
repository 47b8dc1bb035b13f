"""Alerts to standard output, as JSON lines; at least once."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from tocsin.errors import UsageError
from tocsin.printable import printable_json
from tocsin.spark.sinks.sink import Sink
from tocsin.spark.stream.match_columns import json_lines


@dataclass(frozen=True, slots=True)
class ConsoleSink(Sink):
    """The standard output of this process."""

    name: str = "standard output"
    exactly_once: bool = False

    @staticmethod
    def of(uri: str) -> ConsoleSink:
        """`console:`."""
        if uri != "console:":
            raise UsageError(f"{uri!r}: console: takes nothing behind it")
        return ConsoleSink()

    def identity(self) -> dict[str, Any]:
        """There is only one."""
        return {"kind": "console"}

    def open(self, session: SparkSession, stream: str, schema: StructType) -> None:
        """Nothing is needed."""

    def write(self, alerts: DataFrame, batch: int) -> None:  # noqa: ARG002
        """Write the lines, a partition in memory at a time."""
        for line in json_lines(alerts).toLocalIterator():
            sys.stdout.write(f"{printable_json(line.value)}\n")
        sys.stdout.flush()
