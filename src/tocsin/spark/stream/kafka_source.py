"""Topics of Kafka as a source of events: the value of a record is one JSON object.

Spark's connector for Kafka is a package of its own. It is there when Spark was started with it, by
`spark.jars.packages` or `spark.jars`. An event's place is its topic, partition and offset: `orders/3/1207`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from tocsin.errors import UsageError
from tocsin.events import JSON, FieldPlan
from tocsin.spark.stream.match_task import Events, Finder, Rejected
from tocsin.spark.stream.source import Search, Source
from tocsin.tables import BLANKS, member_text, parse_lines

CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"
"""The one that is tested (tests/kafka); the newest that Maven's central repository has for Spark 4.3."""


class KafkaAddress(NamedTuple):
    """What a URI names. The options are those of Spark's connector, and may hold passwords."""

    servers: str
    topics: str
    options: dict[str, str]

    @staticmethod
    def of(uri: str) -> KafkaAddress:
        """`kafka://host:9092,host:9092/topic?option=value`; UsageError without a server or a topic."""
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


@dataclass(frozen=True)
class KafkaSource(Source):
    """Topics of one cluster."""

    address: KafkaAddress

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

    def found(self, batch: DataFrame, search: Search) -> DataFrame:
        """One pass over the records."""
        records = batch.select("topic", "partition", "offset", "value")
        return search.found(records, (), self.check(search.wanted, search.rules), _look)


def _look(finder: Finder, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """In a worker: the found rows of batches with the columns topic, partition, offset and value."""
    for batch in batches:
        topic, partition, offset, value = (column.to_pylist() for column in batch.columns)
        spots = list(zip(topic, partition, offset, strict=True))
        places = ["/".join(map(str, spot)) for spot in spots]
        ordinals = [f"{name}/{part:010d}/{at:020d}" for name, part, at in spots]
        filled = [row for row, data in enumerate(value) if data is not None and data.strip(BLANKS)]
        read = parse_lines([value[row] for row in filled])
        yield from finder.rejected(
            Rejected(places[filled[row]], ordinals[filled[row]], reason, text)
            for row, reason, text in read.rejects
        )
        empty = sorted({*range(len(value))} - {*filled})
        yield from finder.rejected(
            Rejected(places[row], ordinals[row], "the record has no value") for row in empty
        )
        rows = [filled[row] for row in read.rows]
        columns = {}
        for name in finder.columns:
            texts = [member_text(*event, name) for event in zip(read.objects, read.lines, strict=True)]
            columns[name] = pa.ExtensionArray.from_storage(JSON, pa.array(texts, pa.large_string()))
        events = Events(
            FieldPlan(finder.fields).batch(read.objects),
            pa.array([places[row] for row in rows], pa.string()),
            pa.array([ordinals[row] for row in rows], pa.string()),
            columns,
        )
        yield from finder.rows(events)
