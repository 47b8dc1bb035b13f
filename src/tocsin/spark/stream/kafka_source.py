"""Topics of Kafka as a source of events: the value of a record is one JSON object.

Spark's connector for Kafka is a package of its own. It is there when Spark was started with it, by
`spark.jars.packages` or `spark.jars`. An event's place is its topic, partition and offset: `orders/3/1207`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField

from tocsin.spark.stream.batch_counts import TallyAccumulator
from tocsin.spark.stream.found_rows import Wanted, found_schema, json_field
from tocsin.spark.stream.kafka_address import KafkaAddress, check_connector
from tocsin.spark.stream.rule_version import RuleVersion
from tocsin.spark.stream.task_output import Onward


@dataclass(frozen=True, slots=True)
class KafkaSource:
    """Topics of one cluster."""

    address: KafkaAddress
    carried: Sequence[StructField] = ()
    joins: bool = False

    @staticmethod
    def of(uri: str) -> KafkaSource:
        """`kafka://host:9092,host:9092/topic,topic?startingOffsets=earliest`.

        What stands behind the question mark are options of Spark's connector.
        """
        return KafkaSource(KafkaAddress.of(uri))

    @property
    def name(self) -> str:
        """Servers and topics."""
        return str(self.address)

    def identity(self) -> dict[str, Any]:
        """The topics; servers may move."""
        return {"kind": "kafka", "topics": sorted(self.address.topics.split(","))}

    def check(self, wanted: Wanted, rules: RuleVersion) -> Sequence[StructField]:  # noqa: ARG002
        """Records may hold any fields: what is kept of them are JSON texts."""
        return [json_field(name) for name in wanted.keep]

    def stream(self, session: SparkSession, checkpoint: Path) -> DataFrame:  # noqa: ARG002
        """The records. UsageError when Spark has no connector for Kafka."""
        check_connector(session)
        return (
            session.readStream.format("kafka")
            .options(**self.address.options)
            .option("kafka.bootstrap.servers", self.address.servers)
            .option("subscribe", self.address.topics)
            .load()
        )

    def found(
        self, batch: DataFrame, rules: RuleVersion, wanted: Wanted, tally: TallyAccumulator, onward: Onward
    ) -> DataFrame:
        """One pass over the records."""
        records = batch.select("topic", "partition", "offset", "value")
        schema = found_schema(self.carried, self.check(wanted, rules))
        return records.mapInArrow(_task(rules, wanted, tally, onward), onward.schema(schema))

    def committed(self, batch: int) -> None:
        """Spark keeps track of the offsets."""


def _task(rules: RuleVersion, wanted: Wanted, tally: TallyAccumulator, onward: Onward) -> Any:
    def find(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from tocsin.spark.stream.match_task import Finder
        from tocsin.spark.stream.record_task import rows_of_records

        finder = Finder(rules, wanted, pa.schema([(name, pa.string()) for name in wanted.keep]))
        for batch in batches:
            yield from rows_of_records(finder, batch)
        tally.add(finder.tally)

    return lambda batches: onward.rows(find(batches))
