"""What a source of events is to a stream."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField

from tocsin.spark.stream.batch_counts import TallyAccumulator
from tocsin.spark.stream.found_rows import Wanted
from tocsin.spark.stream.rule_version import RuleVersion
from tocsin.spark.stream.task_output import Onward


class Source(Protocol):
    """Where events come from. It lives on the driver, as long as the stream.

    Everything that `found` gives has to depend on the batch's DataFrame, the rules and `wanted` alone: a
    batch that is done again must give the same rows.
    """

    @property
    def name(self) -> str:
        """What a person calls it; without passwords."""

    @property
    def carried(self) -> Sequence[StructField]:
        """Columns of its own that found rows have; a part of an alert's id."""

    @property
    def joins(self) -> bool:
        """Whether it knows what tables hold, so that triggers over several of them can be done."""

    def identity(self) -> dict[str, Any]:
        """What must be the same when the stream is started again from its checkpoint; JSON, no passwords."""

    def check(self, wanted: Wanted, rules: RuleVersion) -> Sequence[StructField]:
        """The fields of the kept columns. Called before the stream starts, and again for each new version.

        UsageError or InputError when something is wanted, or named by rules, that the source cannot give.
        """

    def stream(self, session: SparkSession, checkpoint: Path) -> DataFrame:
        """The streaming DataFrame. `checkpoint / "source"` is a folder that the source may use."""

    def found(
        self, batch: DataFrame, rules: RuleVersion, wanted: Wanted, tally: TallyAccumulator, onward: Onward
    ) -> DataFrame:
        """What becomes of the found rows of a batch (see found_rows.py), by one pass over it.

        Events, matches, rejects and the fields that were there are counted in `tally` by the tasks.
        """

    def committed(self, batch: int) -> None:
        """Told when all before this batch is done for good."""
