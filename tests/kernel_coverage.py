"""How many lines of the kernels the tests run with the compiler off: `make coverage` writes it down.

Compiled lines leave no trace, so a quick part of the tests runs with NUMBA_DISABLE_JIT=1. What is slow that
way is left after a while: the figure is a floor.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from traceback import walk_stack
from types import FrameType

import coverage
import pytest
from benchmarks.tables import markdown, write_into

DOCUMENT = Path("SECURITY.md")
MEASURING = str(Path(coverage.__file__).parent)
SECONDS = 0.5
"""Of the processor, for each test: then it is skipped."""


class Hurry:
    """Skips a test that takes too long; what it ran until then was run."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        signal.signal(signal.SIGVTALRM, self._skip)
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS, SECONDS)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def _skip(self, _signal: int, frame: FrameType | None) -> None:
        if not any(place.f_code.co_filename.startswith(MEASURING) for place, _ in walk_stack(frame)):
            pytest.skip("too slow without the compiler")  # else next time: coverage may hold its lock


def main() -> int:
    """Run, measure, write; 1 when a test fails."""
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        sys.exit("the compiler is on: run make coverage")
    if not sys.argv[1:]:
        sys.exit("no tests are named: run make coverage")
    measured = coverage.Coverage(include=["src/tocsin/arrays/*", "src/*/kernels/*"], data_file=None)
    measured.start()
    options = ["-q", "-m", "not spark and not slow", "-W", "ignore:overflow:RuntimeWarning"]
    code = pytest.main([*options, *sys.argv[1:]], plugins=[Hurry()])
    measured.stop()
    total = measured.report(file=io.StringIO())
    table = markdown(
        ["with the compiler off", "lines that the tests run"],
        [("`arrays/` and `*/kernels/`", [f"{total:.0f} %"])],
    )
    write_into([DOCUMENT], {"coverage": table})
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
