"""The sources and sinks of a stream by their URIs. Of a source any streaming DataFrame will do, too.

scheme         source                           sink
file           folder that files are put into   folder of Parquet files           exactly once
parquet jsonl                                   folder, and its format            exactly once
kafka          records, JSON objects            topic                             at least once
postgresql     changes of tables                table                             exactly once
console                                         standard output, JSON lines       at least once
https                                           webhook                           at least once

visits/   kafka://host:9092/topic   postgresql://user@host/db?tables=...   console:   https://host/path
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from tocsin.errors import UsageError

if TYPE_CHECKING:
    from tocsin.spark.sinks.sink import Sink
    from tocsin.spark.stream.source import Source

_FOLDER, _POSTGRES = "sinks.folder_sink.FolderSink", "sinks.postgres_sink.PostgresSink"
SINKS = {
    "parquet": _FOLDER,
    "jsonl": _FOLDER,
    "file": _FOLDER,
    "console": "sinks.console_sink.ConsoleSink",
    "postgresql": _POSTGRES,
    "postgres": _POSTGRES,
    "kafka": "sinks.kafka_sink.KafkaSink",
    "https": "sinks.webhook_sink.WebhookSink",
    "http": "sinks.webhook_sink.WebhookSink",
}
SOURCES = {
    "file": "stream.folder_source.FolderSource",
    "kafka": "stream.kafka_source.KafkaSource",
    "postgresql": "postgres.postgres_source.PostgresSource",
    "postgres": "postgres.postgres_source.PostgresSource",
}
"""Each a class of this package, whose `of` takes the URI."""


def source_of(given: DataFrame | str) -> Source:
    """The source that is meant; UsageError when there is none such."""
    if isinstance(given, DataFrame):
        from tocsin.spark.stream.frame_source import TableSource

        return TableSource.of(given)
    source: Source = _made("source", SOURCES, given)
    return source


def sink_of(uri: str) -> Sink:
    """The sink that a URI names; UsageError when there is none."""
    sink: Sink = _made("sink", SINKS, "console:" if uri == "-" else uri)
    return sink


def _made(what: str, known: dict[str, str], uri: str) -> Any:
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):", uri)
    scheme = found[1].lower() if found else "file"
    if scheme not in known:
        raise UsageError(f"there is no {what} {scheme!r}: choose one of {', '.join(known)}, or name a folder")
    module, _, name = known[scheme].rpartition(".")
    return getattr(import_module(f"tocsin.spark.{module}"), name).of(uri)
