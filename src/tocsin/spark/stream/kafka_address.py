"""Topics of Kafka, `kafka://host:9092,host:9092/topic?option=value`, and Spark's connector for them."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tocsin.errors import UsageError

CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"
"""The one that is tested (tests/kafka); the newest that Maven's central repository has for Spark 4.3."""


class KafkaAddress(NamedTuple):
    """What a URI names. The options are those of Spark's connector, and may hold passwords."""

    servers: str
    topics: str
    options: dict[str, str]

    @staticmethod
    def of(uri: str) -> KafkaAddress:
        """UsageError when it names no server or no topic."""
        parts = urlsplit(uri)
        topics = parts.path.strip("/")
        if not parts.netloc or not topics or "/" in topics:
            raise UsageError(f"kafka://{parts.netloc}{parts.path}: expected kafka://HOST:PORT/TOPIC")
        return KafkaAddress(parts.netloc, topics, dict(parse_qsl(parts.query, keep_blank_values=True)))

    def __str__(self) -> str:
        return f"kafka://{self.servers}/{self.topics}"


def check_connector(session: SparkSession) -> None:
    """UsageError when Spark was started without its connector for Kafka. Nothing is asked of any server."""
    reader = session.readStream.format("kafka").options(subscribe="none")
    try:
        reader.option("kafka.bootstrap.servers", "localhost:1").load()
    except AnalysisException as error:
        raise UsageError(
            f"Spark has no connector for Kafka here: give it with --packages {CONNECTOR},"
            " or as files with --jars; in Python, start the session with spark.jars.packages or spark.jars"
        ) from error
