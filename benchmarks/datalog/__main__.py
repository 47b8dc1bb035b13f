"""Rules over several relations: every figure that docs/performance.md gives of them, measured in one run.

    python -m benchmarks.datalog             everything, and into the documents
    python -m benchmarks.datalog --quick     small sizes: tries the script, keeps nothing
    python -m benchmarks.datalog --changes   only the single changes of closures; the other figures are kept

UC of the Yield-index paper, sparse as the paper's and dense: one tuple at a time beside dictionaries that
are written by hand for this one rule, and all at once beside DuckDB where it is installed (the extra
`peers`). RG of the same paper: its closure implicit and written out, beside semi-naive evaluation and DuckDB.
Single changes of closures, and deletions beside loading anew.
One core; processor time, medians.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from benchmarks.datalog.bulk import bulk
from benchmarks.datalog.changes import changes_read, deletions
from benchmarks.datalog.closure import closures
from benchmarks.datalog.one_by_one import one_by_one
from benchmarks.datalog.tables import tables
from benchmarks.measuring import machine_facts, say
from benchmarks.tables import write_into

from tocsin.warmup import warm_up
from tocsin_lab.yield_index import can_use
from tocsin_lab.yield_index.yield_workloads import UC_DENSE_VALUES, UC_VALUES

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "datalog.json"
DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "performance.md")

TUPLES, QUICK_TUPLES, QUICK_FACTOR = 100_000, 1_000, 20


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.datalog", description="how fast programs are")
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is written")
    parser.add_argument("--changes", action="store_true", help="only single changes of closures")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="rounds of each measurement")
    options = parser.parse_args(arguments)
    pa.set_cpu_count(1)
    if not options.changes:  # their first round warms up
        warm_up()
    tuples, factor = (QUICK_TUPLES, QUICK_FACTOR) if options.quick else (TUPLES, 1)
    results: dict[str, Any] = {"machine": machine_facts(), "data": {}}
    if options.changes:
        results = json.loads(RESULTS.read_text())
    else:
        for name, values in (("UC", UC_VALUES), ("dense UC", UC_DENSE_VALUES)):
            say(name)
            workload = can_use(tuples, values // factor)
            results["data"][name] = {
                "one by one": one_by_one(workload, options.rounds),
                "bulk": bulk(workload, options.rounds),
            }
        results["closures"] = closures(factor, options.rounds)
    results["changes read"] = changes_read(factor, options.rounds)
    results["deletions"] = deletions(factor, options.rounds)
    written = tables(results)
    if not options.quick:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        write_into(DOCUMENTS, written)
    for text in written.values():
        print(f"\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
