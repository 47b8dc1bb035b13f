"""How many lines of the kernels the tests run with the compiler off: `make coverage` writes it down.

Compiled lines leave no trace, so a quick part of the tests runs with NUMBA_DISABLE_JIT=1. What is slow that
way is left out: the figure is a floor.
"""

from __future__ import annotations

import io
import os
import re
import sys
from pathlib import Path

import coverage
import pytest

DOCUMENT = Path("SECURITY.md")
MARKS = re.compile("(<!-- generated: kernel coverage -->\n).*?(<!-- end -->)", re.DOTALL)
TESTS = ["tests/kernels", "tests/papers", "tests/index", "tests/contract/test_stated_cases.py"]


def main() -> int:
    """Run, measure, write; 1 when a test fails."""
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        sys.exit("the compiler is on: run make coverage")
    measured = coverage.Coverage(source=["tocsin.kernels"], data_file=None)
    measured.start()
    code = pytest.main(["-q", "-m", "not spark and not slow", *TESTS])
    measured.stop()
    total = measured.report(file=io.StringIO())
    text = f"  With the compiler off, the tests run {total:.0f} % of the kernels' lines (`make coverage`).\n"
    written, count = MARKS.subn(rf"\g<1>{text}\g<2>", DOCUMENT.read_text())
    if not count:
        sys.exit(f"{DOCUMENT} has no place for the figure")
    DOCUMENT.write_text(written)
    print(text, end="")
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
