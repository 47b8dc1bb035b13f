"""Why Spark failed, in one line, out of what Java and Python say together."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from tocsin.errors import TocsinError

Result = TypeVar("Result")

_CAUSE = "Caused by: "
_ERROR = re.compile(r"([\w.$]*(?:Exception|Error)\w*)(?:: (.+))?")
"""A line that is the name of an error and what it says, as a traceback's last is; not a line of code."""
_WRAPPING = re.compile(
    r'^: |^Exception in thread "[^"]*" |'
    r"^\[STREAM_FAILED\] Query \[id = [^\]]*\] terminated with exception: | SQLSTATE: \w{5}$"
)
"""What Spark puts around what it says."""
_EMPTY_WORDS = (
    "StreamingQueryException",
    "SparkException",
    "Py4JException",
    "Py4JJavaError",
    "PythonException",
)


def reason_of(text: str) -> str:
    """The innermost error that says something: the last of those named that is not Spark's own wrapping."""
    stripped = (_WRAPPING.sub("", line.strip()) for line in text.splitlines())
    lines = [line for line in stripped if line]
    telling: list[str] = []
    wrapping: list[str] = []
    for line in lines:
        said = line.removeprefix(_CAUSE)
        match = _ERROR.fullmatch(said)
        if match is not None:
            name = match[1].rpartition(".")[2]
            shown = f"{name}: {match[2].strip()}" if match[2] else name
            (wrapping if name in _EMPTY_WORDS else telling).append(shown)
        elif said != line:
            telling.append(said)
    return (telling or wrapping or lines[:1] or ["no reason given"])[-1]


def on_spark(job: Callable[[], Result], aim: str) -> Result:
    """Do something on Spark, to an aim that completes "Spark could not"; its failure as an error of ours."""
    with spark_failures(aim):
        return job()


@contextlib.contextmanager
def spark_failures(aim: str) -> Iterator[None]:
    """The same of all that is done in a block."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise TocsinError(f"Spark could not {aim}: {reason_of(str(error))}") from error
    except ConnectionError as error:
        raise TocsinError(f"Spark could not {aim}: its Java process has ended") from error
