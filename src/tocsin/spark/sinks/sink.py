"""What a sink of alerts is to a stream, and the sinks by their URIs.

alerts/                                folder of Parquet files         exactly once
parquet:alerts/   jsonl:alerts/        folder, and its format          exactly once
console:                               standard output, JSON lines     at least once
postgresql://user@host/db?table=alerts                                exactly once
kafka://host:9092/topic                                               at least once
https://host/path                      webhook                         at least once
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from tocsin.errors import UsageError


class Sink(Protocol):
    """Where alerts go. It lives on the driver, as long as the stream."""

    @property
    def name(self) -> str:
        """What a person calls it; without passwords."""

    @property
    def exactly_once(self) -> bool:
        """Whether a batch that is written again leaves nothing twice."""

    def identity(self) -> dict[str, Any]:
        """What must be the same when the stream is started again from its checkpoint; JSON, no passwords."""

    def open(self, session: SparkSession, stream: str, schema: StructType) -> None:
        """Called before the first batch: make what is missing, and raise for what cannot work.

        `stream` is the random id of the stream, the same after a restart. `schema` is that of alerts, see
        spark/stream/found_rows.py; its JSON texts are marked (`is_json`).
        """

    def write(self, alerts: DataFrame, batch: int) -> None:
        """Write the alerts of a batch. It may have been written before, whole or in part.

        `alerts` can be read several times; every time it has the same rows.
        """

    def close(self) -> None:
        """Called when the stream ends."""


def sink_of(uri: str) -> Sink:
    """The sink that a URI names; UsageError when there is none."""
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):", uri)
    scheme = found[1].lower() if found else "parquet" if uri != "-" else "console"
    if scheme not in _MAKERS:
        raise UsageError(f"there is no sink {scheme!r}: choose one of {', '.join(_MAKERS)}, or name a folder")
    return _MAKERS[scheme](uri)


def _folder(uri: str) -> Sink:
    from tocsin.spark.sinks.folder_sink import FolderSink

    return FolderSink.of(uri)


def _console(uri: str) -> Sink:
    from tocsin.spark.sinks.console_sink import ConsoleSink

    return ConsoleSink.of(uri)


def _postgres(uri: str) -> Sink:
    from tocsin.spark.sinks.postgres_sink import PostgresSink

    return PostgresSink.of(uri)


def _kafka(uri: str) -> Sink:
    from tocsin.spark.sinks.kafka_sink import KafkaSink

    return KafkaSink.of(uri)


def _webhook(uri: str) -> Sink:
    from tocsin.spark.sinks.webhook_sink import WebhookSink

    return WebhookSink.of(uri)


_MAKERS: dict[str, Callable[[str], Sink]] = {
    "parquet": _folder,
    "jsonl": _folder,
    "file": _folder,
    "console": _console,
    "postgresql": _postgres,
    "postgres": _postgres,
    "kafka": _kafka,
    "https": _webhook,
    "http": _webhook,
}
