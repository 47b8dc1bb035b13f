"""A guard against tests that never end. It is no measurement: a machine may be as slow as it likes."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

HANGING = 300
"""Seconds after which something that takes one or two is taken to hang."""


@contextmanager
def not_hanging() -> Iterator[None]:
    """Fail instead of waiting for ever."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError("this never ends")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(HANGING)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
