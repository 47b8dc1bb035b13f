"""Java started so that what it says while it fetches packages is heard first, and shown only if it matters.

Spark prints a page for packages that it has found, and several, with a stack trace, for those that it has
not. Here all of that is held back: thrown away when Java is up, and told in one line when it is not. From
then on everything that Java says goes on to standard error as if nothing stood between.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway

from tocsin.errors import TocsinError
from tocsin.spark.failures import reason_of

PACKAGES = "spark.jars.packages"
_MOST_HELD = 1 << 20
_STANDARD_ERROR = 2


def fetches_packages(settings: Mapping[str, str]) -> bool:
    """Whether Java is still to be started, and with packages to fetch."""
    return bool(settings.get(PACKAGES)) and SparkContext._gateway is None


def launch_quietly(settings: Mapping[str, str]) -> None:
    """Start Java for the session that comes next; TocsinError when it does not start."""
    conf = SparkConf()
    for name, value in settings.items():
        conf.set(name, value)
    read, write = os.pipe()
    relay = _Relay(read)
    relay.start()
    try:
        gateway = launch_gateway(conf, {"stderr": write})  # type: ignore[no-untyped-call]
    except PySparkException as error:
        os.close(write)
        relay.join()
        why = reason_of(relay.held)
        raise TocsinError(f"Spark did not start with the packages {settings[PACKAGES]}: {why}") from error
    os.close(write)
    relay.go_on()
    SparkContext._ensure_initialized(gateway=gateway)


class _Relay(threading.Thread):
    """Reads what is written to a pipe: holds it back at first, then passes it on to standard error."""

    def __init__(self, pipe: int) -> None:
        super().__init__(name="what Java says", daemon=True)
        self._pipe = pipe
        self._held = b""
        self._is_passing = False

    @property
    def held(self) -> str:
        """What was held back, from its end as much as is worth keeping."""
        return self._held.decode(errors="replace")

    def go_on(self) -> None:
        """Hold nothing back any more, and forget what was."""
        self._is_passing = True
        self._held = b""

    def run(self) -> None:
        """Until the last one who can write has ended."""
        with os.fdopen(self._pipe, "rb", buffering=0) as pipe:
            while data := pipe.read(1 << 16):
                if self._is_passing:
                    os.write(_STANDARD_ERROR, data)
                else:
                    self._held = (self._held + data)[-_MOST_HELD:]
