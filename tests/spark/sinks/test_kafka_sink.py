from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.kafka.jars import POM

from tocsin.errors import UsageError
from tocsin.spark.stream.kafka_source import CONNECTOR
from tocsin.spark.stream.match_columns import ALERTS
from tocsin.spark.stream.schemes import sink_of

ROOT = Path(__file__).parents[3]


def test_addresses() -> None:
    sink = sink_of("kafka://one:9092,two:9092/alerts?kafka.sasl.jaas.config=secret")
    assert (sink.name, sink.exactly_once) == ("kafka://one:9092,two:9092/alerts", False)
    assert sink.identity() == {"kind": "kafka", "topic": "alerts"}
    for wrong in ("kafka://h:1", "kafka:///alerts", "kafka://h:1/a/b", "kafka://h:1/a,b"):
        with pytest.raises(UsageError):
            sink_of(wrong)


def test_without_the_connector(spark: SparkSession) -> None:
    with pytest.raises(UsageError, match="no connector for Kafka") as caught:
        sink_of("kafka://localhost:9092/alerts").open(spark, "stream", ALERTS)
    assert CONNECTOR in str(caught.value)


def test_the_connector_that_is_named_is_the_one_that_is_tested() -> None:
    group, artifact, version = CONNECTOR.split(":")
    pom = re.sub(r"\s+", "", POM.read_text())
    assert f"<groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>" in pom
    for document in ("docs/streaming.md", "src/tocsin/cli/stream.py"):
        assert set(re.findall(rf"{artifact}:([\d.]+)", (ROOT / document).read_text())) == {version}
