"""Alerts to a topic of Kafka, at least once: the value is the alert as JSON, the key its id.

Spark's connector writes them, from the workers. A batch that is done again writes the same alerts again under
the same keys, so that a compacted topic, or a reader that remembers ids, has each of them once.
"""

from __future__ import annotations

from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from tocsin.errors import TocsinError, UsageError
from tocsin.spark.failures import reason_of
from tocsin.spark.sinks.sink import Sink
from tocsin.spark.stream.kafka_source import KafkaAddress, check_connector
from tocsin.spark.stream.match_columns import json_lines


class KafkaSink(Sink):
    """A topic."""

    exactly_once = False

    def __init__(self, address: KafkaAddress) -> None:
        self._address = address

    @staticmethod
    def of(uri: str) -> KafkaSink:
        """`kafka://host:9092/topic?kafka.security.protocol=SSL`: options are those of Spark's connector."""
        address = KafkaAddress.of(uri)
        if "," in address.topics:
            raise UsageError(f"{address}: alerts go to one topic")
        return KafkaSink(address)

    @property
    def name(self) -> str:
        """Servers and topic."""
        return str(self._address)

    def identity(self) -> dict[str, Any]:
        """The topic; servers may move."""
        return {"kind": "kafka", "topic": self._address.topics}

    def open(self, session: SparkSession, stream: str, schema: StructType) -> None:  # noqa: ARG002
        """UsageError when Spark has no connector for Kafka."""
        check_connector(session)

    def write(self, alerts: DataFrame, batch: int) -> None:
        """Write the alerts of a batch; TocsinError when Kafka does not take them."""
        records = json_lines(alerts, "alert").withColumnRenamed("alert", "key")
        writer = (
            records.write.format("kafka")
            .options(**self._address.options)
            .option("kafka.bootstrap.servers", self._address.servers)
            .option("topic", self._address.topics)
        )
        try:
            writer.save()
        except (PySparkException, Py4JError) as error:
            raise TocsinError(
                f"{self.name} does not take alerts of batch {batch}: {reason_of(str(error))}"
            ) from error
