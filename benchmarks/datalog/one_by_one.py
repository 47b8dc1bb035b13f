"""One tuple at a time from Python: the second half of `near` when all else is loaded, then out again.

What each insert and each delete reports is read, on both sides.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.datalog.by_hand import CanUse, Pair
from benchmarks.measuring import say

import tocsin
from tocsin_lab.yield_index import Workload
from tocsin_lab.yield_index.yield_workloads import Rows

HEAD = "canuse"
LIVE = "near"


def one_by_one(workload: Workload, rounds: int) -> dict[str, Any]:
    """Seconds a change, the median of some rounds; both sides take turns."""
    say(f"  {workload.tuples:,} tuples, {len(workload.halves()[1]):,} one by one")
    loaded, arriving = workload.halves()
    base = {**workload.relations, LIVE: loaded}
    pairs = [tuple(row) for row in arriving.tolist()]
    taken: dict[str, list[float]] = {"insert": [], "delete": [], "hand insert": [], "hand delete": []}
    counts: dict[str, int] = {}
    for number in range(rounds + 1):
        seconds, found = _both(workload, base, pairs)
        if found["insert"] != found["hand insert"] or found["delete"] != found["hand delete"]:
            sys.exit("tocsin and the dictionaries written by hand differ")
        counts = {name: len(each) for name, each in found.items()}
        if number:  # the first round warms up
            for name, each in seconds.items():
                taken[name].append(each / len(pairs))
    return {
        "arriving": len(pairs),
        "new": counts["insert"],
        **{name: statistics.median(each) for name, each in taken.items()},
    }


def _both(
    workload: Workload, base: dict[str, Rows], pairs: list[Pair]
) -> tuple[dict[str, float], dict[str, set[Pair]]]:
    engine = tocsin.Program.parse(workload.program).start()
    hand = CanUse()
    for name, rows in base.items():
        engine.load(name, table(rows))
        for row in rows.tolist():
            hand.insert(name, tuple(row))
    seconds, found = {}, {}
    works: dict[str, Callable[[Pair], Iterable[Any]]] = {
        "insert": lambda pair: changes.added[HEAD] if (changes := engine.insert(LIVE, pair)) else (),
        "hand insert": lambda pair: hand.insert(LIVE, pair),
        "delete": lambda pair: changes.removed[HEAD] if (changes := engine.delete(LIVE, pair)) else (),
        "hand delete": lambda pair: hand.delete(LIVE, pair),
    }
    for name, work in works.items():
        seconds[name], found[name] = _timed(work, pairs)
    return seconds, found


def _timed(work: Callable[[Pair], Iterable[Any]], pairs: list[Pair]) -> tuple[float, set[Pair]]:
    """Processor time of all changes, and the tuples that they reported."""
    found: list[Pair] = []
    gc.collect()
    start = time.process_time()
    for pair in pairs:
        found += work(pair)
    return time.process_time() - start, set(found)


def table(rows: Rows) -> Any:
    """Rows as an Arrow table."""
    import pyarrow as pa

    return pa.table({f"c{column}": rows[:, column] for column in range(rows.shape[1])})
