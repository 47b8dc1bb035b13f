"""Which files of tocsin a rule, an event, a table, a text and a fact pass: printed as JSON, by way.

    NUMBA_DISABLE_JIT=1 python tests/docs/ways_taken.py FOLDER

With the compiler on, what kernels call is not seen.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa

import tocsin

SOURCE = str(Path(tocsin.__file__).parent) + "/"
RULES = """id,when
adult,"state in ('WA', 'CA') and not (age < 18 or vip)"
golfer,"contains(body, '""David Lee"", golf, trop*', 0.5)"
"""
EVENT = {"state": "CA", "age": 31, "vip": False, "body": "David Lee played golf for a trophy"}
PROGRAM = """
.decl near(x: number, y: number)
.decl close(x: number, y: number)
.input near
.output close
close(x, z) :- near(x, y), near(y, z).
"""


def passed(work: Callable[[], object], seen: set[str]) -> None:
    """Do some work, and note the files whose functions it called."""

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(SOURCE):
            seen.add(code.co_filename.removeprefix(SOURCE))

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)


def main(folder: Path) -> None:
    """Go each of the ways."""
    warnings.simplefilter("ignore")
    ways: dict[str, set[str]] = {"A rule": set(), "An event": set(), "A table": set(), "A fact": set()}
    (folder / "rules.csv").write_text(RULES)

    def rule() -> None:
        tocsin.build(tocsin.read_rules(folder / "rules.csv")).save(folder / "rules.tocsin")

    def fact() -> None:
        engine = tocsin.Program.parse(PROGRAM).start()
        engine.insert("near", (1, 2))
        list(engine.insert("near", (2, 3)).added["close"])

    passed(rule, ways["A rule"])
    index = tocsin.open(folder / "rules.tocsin")
    passed(lambda: list(index.match(EVENT)), ways["An event"])
    passed(lambda: index.match_table(pa.Table.from_pylist([EVENT, EVENT])), ways["A table"])
    passed(fact, ways["A fact"])
    ways["A text"] = ways["A rule"] | ways["An event"]
    print(json.dumps({name: sorted(files) for name, files in ways.items()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
