"""What the first use costs where nothing is compiled yet, and what code for the common level costs beside it.

    python -m benchmarks.cold_start            both
    python -m benchmarks.cold_start --only first

Each use is a process of its own, with a cache of machine code of its own. The tables go into
docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

from benchmarks.measuring import machine_facts, say
from benchmarks.spine import DOCUMENTS
from benchmarks.tables import machine_note, markdown, write_into

from tocsin.arrays.code_levels import common_level, has_level

ROUNDS = 3

FIRST = """
import json, time
from time import process_time
taken = {}
def step(name, before=[0.0]):
    taken[name] = process_time() - before[0]
    before[0] = process_time()
import pyarrow as pa
import tocsin
step("import")
index = tocsin.build([("a", "x = 1")])
step("tocsin.build")
index.match({"x": 1})
step("index.match")
index.match_table(pa.table({"x": [1, 2]}))
step("index.match_table")
print(json.dumps(taken))
"""

STEADY = """
import json
from benchmarks.measuring import timed
from benchmarks.spine import exchange_workload, random_workload
import tocsin
taken = {}
for work in (exchange_workload(100_000), random_workload(100_000)):
    index = tocsin.build(work.rules)
    table, some = work.table, work.events[:200]
    counted = timed(lambda: index.match_table(table, count=True, threads=1), 7, len(table))
    taken[work.name + ", counted in blocks"] = counted.best
    single = timed(lambda: [index.match(event) for event in some], 7, len(some))
    taken[work.name + ", one event at a time"] = single.best
print(json.dumps(taken))
"""


def main() -> None:
    """Measure and write down."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=["first", "level"], help="one of the two")
    only = parser.parse_args().only
    if only != "level":
        write_into(DOCUMENTS, {"cold-start": first_use()})
    if only != "first":
        write_into(DOCUMENTS, {"level": level_beside_native()})


def first_use() -> str:
    """Processor seconds with an empty cache, and with what that left; `tocsin warm` by the clock."""
    with tempfile.TemporaryDirectory() as cache:
        say("nothing is compiled")
        cold = _run(FIRST, NUMBA_CACHE_DIR=cache)
        say("the same is compiled")
        warm = _run(FIRST, NUMBA_CACHE_DIR=cache)
    with tempfile.TemporaryDirectory() as cache:
        say("tocsin warm")
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "tocsin", "warm"], env={**os.environ, "NUMBA_CACHE_DIR": cache}, check=True
        )
        everything = time.perf_counter() - start
    rows = [(f"`{name}`", [f"{cold[name]:.1f} s", f"{warm[name]:.2f} s"]) for name in cold]
    rows.append(("in all", [f"{sum(cold.values()):.1f} s", f"{sum(warm.values()):.2f} s"]))
    found = markdown(["processor time of the first use", "nothing compiled yet", "compiled before"], rows)
    clock = f"`tocsin warm` compiled all loops in {everything:.0f} s of the clock on {os.cpu_count()} cores."
    print(found, clock, sep="\n")
    return f"{found}\n\n{clock} {machine_note(machine_facts())}"


def level_beside_native() -> str:
    """Steady matching by code for the level and by code for this processor, in turns."""
    level = common_level()
    if level is None or not has_level():
        return "This processor has no common level that machine code is made for."
    settings = {"level": {"NUMBA_CPU_NAME": level.name, "NUMBA_CPU_FEATURES": level.features}, "native": {}}
    best: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(ROUNDS):
            for name, setting in settings.items():
                say(f"code for the {'level' if name == 'level' else 'processor'}")
                for work, seconds in _run(STEADY, NUMBA_CACHE_DIR=f"{cache}/{name}", **setting).items():
                    known = best.setdefault(work, {})
                    known[name] = min(seconds, known.get(name, seconds))
    rows = [
        (
            work,
            [
                f"{1e6 * of['native']:.3g} µs",
                f"{1e6 * of['level']:.3g} µs",
                f"{of['level'] / of['native']:.2f}",
            ],
        )
        for work, of in best.items()
    ]
    found = markdown(["100,000 rules, an event", "this processor's own", level.name, "ratio"], rows)
    print(found)
    return f"{found}\n\n{machine_note(machine_facts())}"


def _run(script: str, **environment: str) -> dict[str, Any]:
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, Any] = json.loads(process.stdout)
    return found


if __name__ == "__main__":
    main()
