"""What a journal costs: an insert into an engine, a row into a watch, without one and with each kind of sync.

    python -m benchmarks.journal [--changes 2000]

The table goes into docs/performance.md.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from benchmarks.measuring import say
from benchmarks.spine import DOCUMENTS
from benchmarks.tables import markdown, write_into

import tocsin

PROGRAM = """
.decl near(who: symbol, device: number)
.decl may(who: symbol, device: number)
.decl granted(who: symbol, device: number)
granted(w, d) :- near(w, d), may(w, d).
"""
RULES = [("both", "n >= 0 and contains(body, 'golf')")]
WAYS = {"no journal": None, '`sync="10 ms"`': "10 ms", '`sync="always"`': "always"}
_ROUNDS = 3

Change = Callable[[int], object]


def main() -> None:
    """Measure and write down."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--changes", type=int, default=2_000)
    changes = parser.parse_args().changes
    rows = []
    for way, sync in WAYS.items():
        say(way)
        rows.append(
            (way, [figure for door in (_engine, _watch) for figure in _measured(door, sync, changes)])
        )
    head = ["", "engine, by the clock", "processor time", "watch, by the clock", "processor time"]
    table = markdown(head, rows)
    write_into(DOCUMENTS, {"journal": table})
    print(table)


def _measured(
    door: Callable[[Path, str | None], AbstractContextManager[Change]], sync: str | None, changes: int
) -> list[str]:
    """Of a change, the best of some rounds."""
    clock, processor = [], []
    for _ in range(_ROUNDS):
        with tempfile.TemporaryDirectory() as folder, door(Path(folder) / "journal", sync) as change:
            for number in range(100):
                change(number)
            began, worked = time.perf_counter(), time.process_time()
            for number in range(100, 100 + changes):
                change(number)
            clock.append((time.perf_counter() - began) / changes)
            processor.append((time.process_time() - worked) / changes)
    return [f"{1e6 * min(taken):,.0f} µs" for taken in (clock, processor)]


@contextmanager
def _engine(folder: Path, sync: str | None) -> Iterator[Change]:
    kept = {} if sync is None else {"journal": folder, "sync": sync}
    engine = tocsin.Program.parse(PROGRAM).start(facts={"may": [("ada", 7)]}, **kept)
    yield lambda number: engine.insert("near", ("ada", number))
    engine.close()


@contextmanager
def _watch(folder: Path, sync: str | None) -> Iterator[Change]:
    kept = {} if sync is None else {"journal": folder, "sync": sync}
    watch = tocsin.watch(RULES, **kept)
    yield lambda number: watch.insert("t", {"n": number, "body": "a golf trophy"})
    watch.close()


if __name__ == "__main__":
    main()
