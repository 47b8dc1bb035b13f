"""Of what Spark says when something fails, the one line that tells it."""

from __future__ import annotations

import pytest

from tocsin.errors import TocsinError
from tocsin.spark.failures import on_spark, reason_of


def test_of_a_failure_what_happened_is_told() -> None:
    python = (
        "Traceback (most recent call last):\n  raise ValueError('x')\ntocsin.errors.EventError: bad text\n"
    )
    assert reason_of(f"job aborted\n{python}\n\tat org.apache.Spark.run") == "EventError: bad text"
    java = (
        "An error occurred.\n: org.X: stopped\n\tat a.B\nCaused by: java.io.IOException: no space\n\tat c.D"
    )
    assert reason_of(java) == "IOException: no space"
    assert reason_of("first\n\tat a.B") == "first"
    assert reason_of("") == "no reason given"


def test_of_an_executor_that_was_lost_it_is_told() -> None:
    lost = "Job aborted: Task 0 failed 4 times: ExecutorLostFailure (executor 3) Reason: exited with code 137"
    java = f"An error occurred while calling o1.collect.\n: org.apache.spark.SparkException: {lost}\n\tat a.B"
    assert reason_of(java) == f"SparkException: {lost}"


def test_when_java_has_ended_that_is_told() -> None:
    def ask() -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    with pytest.raises(TocsinError, match="Spark could not match the events: its Java process has ended"):
        on_spark(ask, "match the events")


def test_errors_that_say_nothing_but_their_name_and_causes_that_are_no_errors() -> None:
    assert reason_of("job aborted\nTraceback:\n  File x\nMemoryError\n\tat a.B") == "MemoryError"
    assert reason_of("stopped\n\tat a.B\nCaused by: org.X: no leader\n\tat c.D") == "org.X: no leader"
    wrapped = "org.apache.spark.SparkException: Job aborted.\n\tat a.B"
    assert reason_of(wrapped) == "SparkException: Job aborted."


def test_of_what_spark_says_the_line_that_tells_something() -> None:
    spark = """org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing rows to file:/x.
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.taskFailedWhileWritingRowsError(Errors.scala:1)
Caused by: java.io.IOException: No space left on device
\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)
\t... 17 more"""
    assert reason_of(spark) == "IOException: No space left on device"
    python = """An exception was thrown from the Python worker.
Traceback (most recent call last):
  File "x.py", line 1, in f
tocsin.errors.InputError: there is no column
"""
    assert reason_of(python) == "InputError: there is no column"
    assert reason_of("here") == "here"
    assert reason_of("") == "no reason given"


def test_what_stands_around_a_reason_is_left_out() -> None:
    query = "[STREAM_FAILED] Query [id = 1-2, runId = 3-4] terminated with exception: "
    assert reason_of(f"{query}Expected earliest, got soon SQLSTATE: XXKST") == "Expected earliest, got soon"
    assert reason_of(f"{query} SQLSTATE: XXKST") == "no reason given"
    topic = "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: no such topic SQLSTATE: XXKST"
    assert reason_of(query + topic) == "UnknownTopicOrPartitionException: no such topic"
    thread = (
        'Exception in thread "main" java.lang.RuntimeException: [unresolved dependency: a#b;1: not found]'
    )
    assert reason_of(f"{thread}\n\tat a.B") == "RuntimeException: [unresolved dependency: a#b;1: not found]"
