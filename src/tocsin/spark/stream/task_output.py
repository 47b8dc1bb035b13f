"""What a task does with the rows that it has found, before Spark sees anything of them.

events ──> found rows ──> HandedOn                     found rows ──> Spark, and so to sinks of any kind
                     └──> FoundParts                   files; Spark sees their names alone
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pyspark.sql.types import StructType

if TYPE_CHECKING:
    import pyarrow as pa


class Onward(Protocol):
    """Small, and made to be pickled."""

    def schema(self, found: StructType) -> StructType:
        """The columns of what comes out, given those of found rows."""

    def rows(self, found: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """In a worker: what comes out."""


@dataclass(frozen=True, slots=True)
class HandedOn:
    """The found rows as they are."""

    def schema(self, found: StructType) -> StructType:
        """The same."""
        return found

    def rows(self, found: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same."""
        return found


HANDED_ON = HandedOn()
