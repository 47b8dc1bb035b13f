"""What a sink of alerts is to a stream; stream/schemes.py has those there are."""

from __future__ import annotations

from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType


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
        spark/stream/match_columns.py; its JSON texts are marked (`is_json`).
        """

    def write(self, alerts: DataFrame, batch: int) -> None:
        """Write the alerts of a batch. It may have been written before, whole or in part.

        `alerts` can be read several times; every time it has the same rows.
        """

    def close(self) -> None:
        """Called when the stream ends. Most have nothing open between batches."""
        return
