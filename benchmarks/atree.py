"""The A-Tree at full strength: every figure that docs/performance.md gives of it, measured in one run.

    python -m benchmarks.atree --abe FOLDER              everything; FOLDER holds abe100k and abe1m
    python -m benchmarks.atree --only scan,growth        some parts; the others keep their figures
    python -m benchmarks.atree --quick                   small sizes: tries the script, keeps nothing

Each part's figures are written to benchmarks/results/atree.json as soon as it is done, and from there
into the documents that have a place for them. Times are the processor time of this one process on one
core, the best of several repetitions; only builds and changes of rules are by the clock. Before times
count, the ways of matching are held to one answer.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from benchmarks.atree_building import build_phases, memory
from benchmarks.atree_growth import growth
from benchmarks.atree_live import live_updates
from benchmarks.atree_matching import against_scan, known_counts, low_selectivity
from benchmarks.atree_organising import organising
from benchmarks.atree_tables import PLOT, growth_plot, tables
from benchmarks.atree_workloads import QUICK, Sizes
from benchmarks.measuring import machine_facts, say
from benchmarks.tables import write_into

import tocsin
from tocsin.warmup import warm_up

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "atree.json"
DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "performance.md")

PARTS: dict[str, Callable[[Sizes], Any]] = {
    "scan": against_scan,
    "selectivity": low_selectivity,
    "live": live_updates,
    "build": build_phases,
    "organise": organising,
    "memory": memory,
    "growth": growth,
}
"""In this order the rules of the default setting are built once for the first three."""

FOLDER_PART = "counts"


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    warnings.simplefilter("ignore", tocsin.TocsinWarning)  # rules that name fields of no event are meant
    pa.set_cpu_count(1)
    warm_up()
    sizes = QUICK if options.quick else Sizes()
    results: dict[str, Any] = {}
    if RESULTS.exists() and not options.quick:
        results = json.loads(RESULTS.read_text())
    for name in options.only:
        say(name)
        start = time.perf_counter()
        figures = known_counts(sizes, options.abe) if name == FOLDER_PART else PARTS[name](sizes)
        results[name] = {"machine": machine_facts(), "figures": figures}
        say(f"  done in {time.perf_counter() - start:.0f} s")
        if not options.quick:
            _keep(results)
    for text in tables(results).values():
        print(f"\n{text}")
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    names = [*PARTS, FOLDER_PART]
    parser = argparse.ArgumentParser("python -m benchmarks.atree", description="how fast the A-Tree is")
    parser.add_argument("--abe", type=Path, metavar="FOLDER", help="rules with known counts")
    parser.add_argument("--only", metavar="PART,...", help=f"of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is written")
    options = parser.parse_args(arguments)
    if options.only is None:
        options.only = names if options.abe else list(PARTS)
    else:
        options.only = options.only.split(",")
    if unknown := set(options.only) - set(names):
        parser.error(f"there is no part {', '.join(sorted(unknown))}: choose of {', '.join(names)}")
    if FOLDER_PART in options.only and options.abe is None:
        parser.error(f"the part {FOLDER_PART} needs --abe FOLDER")
    return options


def _keep(results: dict[str, Any]) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    write_into(DOCUMENTS, tables(results))
    if "growth" in results:
        (ROOT / "docs" / PLOT).write_text(growth_plot(results["growth"]["figures"]))


if __name__ == "__main__":
    sys.exit(main())
