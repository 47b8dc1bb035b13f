"""Cases tried in a child process: whatever happens there, a crash or an endless loop, is told of here."""

from __future__ import annotations

import contextlib
import os
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence

from tocsin.errors import TocsinError

SECONDS = 60
"""A case that takes longer than this does not end."""


def failures(cases: Sequence[str], attempt: Callable[[int], object]) -> Iterator[str]:
    """Try every case, some in each child; what is said of those that fail otherwise than by a TocsinError.

    A child that dies is followed by another, which goes on behind the case that killed it.
    """
    done = 0
    while done < len(cases):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            _try_from(done, len(cases), attempt, write)
        os.close(write)
        current = done
        said = b""
        with os.fdopen(read, "rb", buffering=0) as pipe:
            while portion := pipe.read(65536):
                said += portion
        _, status = os.waitpid(child, 0)
        for line in said.decode("utf-8", "replace").split("\0"):
            if line.startswith("case "):
                current = int(line.removeprefix("case "))
            elif line:
                yield f"{cases[current]}: {line}"
        if os.WIFSIGNALED(status):
            yield f"{cases[current]}: died of {signal.Signals(os.WTERMSIG(status)).name}"
            done = current + 1
        else:
            done = len(cases)


def _try_from(first: int, last: int, attempt: Callable[[int], object], write: int) -> None:
    """In the child: say which case is tried, and what is wrong with it."""
    try:
        for case in range(first, last):
            os.write(write, f"\0case {case}\0".encode())
            signal.setitimer(signal.ITIMER_REAL, SECONDS)  # without a handler: that ends the child
            try:
                with contextlib.suppress(TocsinError):
                    attempt(case)
            except BaseException:
                os.write(write, traceback.format_exc(limit=-3).replace("\0", " ").encode() + b"\0")
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        os._exit(0)
