"""The sources by what a user gives: a DataFrame, or a URI.

visits/                                 a folder that files are put into
kafka://host:9092/topic                 records of Kafka, whose values are JSON objects
postgresql://user@host/db?tables=...    changes of tables
a streaming DataFrame                   any other source that Spark has
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pyspark.sql import DataFrame

from tocsin.errors import UsageError
from tocsin.spark.stream.source import Source


def source_of(given: DataFrame | str) -> Source:
    """The source that is meant; UsageError when there is none such."""
    if isinstance(given, DataFrame):
        from tocsin.spark.stream.frame_source import TableSource

        return TableSource.of(given)
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):", given)
    scheme = found[1].lower() if found else "file"
    if scheme not in _MAKERS:
        known = ", ".join(_MAKERS)
        raise UsageError(f"there is no source {scheme!r}: choose one of {known}, or name a folder")
    return _MAKERS[scheme](given)


def _folder(uri: str) -> Source:
    from tocsin.spark.stream.folder_source import FolderSource

    return FolderSource.of(uri)


def _kafka(uri: str) -> Source:
    from tocsin.spark.stream.kafka_source import KafkaSource

    return KafkaSource.of(uri)


def _postgres(uri: str) -> Source:
    from tocsin.spark.postgres.postgres_source import PostgresSource

    return PostgresSource.of(uri)


_MAKERS: dict[str, Callable[[str], Source]] = {
    "file": _folder,
    "kafka": _kafka,
    "postgresql": _postgres,
    "postgres": _postgres,
}
