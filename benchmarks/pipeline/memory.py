"""The memory of a large job: 5,000,000 events of 20 fields against 100,000 rules, from Parquet to Parquet.

    python -m benchmarks.pipeline.memory             into the documents
    python -m benchmarks.pipeline.memory --quick     few events: tries the script, keeps nothing

Memory is the most that was seen of the proportional set sizes of the driver's Python, Spark's Java process
and the workers, added up; somebody looks twice a second. The job runs in a process of its own, on `local[2]`,
in a session as ts.session makes it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
from benchmarks.measuring import machine_facts, say
from benchmarks.pipeline.processes import peak_memory, spending
from benchmarks.pipeline.workload import FIELDS, rules, write_events
from benchmarks.tables import markdown, write_into

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "pipeline-memory.json"
DOCUMENTS = (ROOT / "docs" / "performance.md",)

EVENTS, QUICK_EVENTS, FILES = 5_000_000, 50_000, 20
RULES, CLAUSES = 100_000, 6
STEPS = ("make", "match", "count")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pipeline.memory", description="how much memory ts.match takes"
    )
    parser.add_argument("--quick", action="store_true", help="few events; nothing is written")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.step is not None:
        print(json.dumps(_do(options.step, options.folder, QUICK_EVENTS if options.quick else EVENTS)))
        return 0
    results: dict[str, Any] = {"machine": machine_facts()}
    with tempfile.TemporaryDirectory() as folder:
        for step in STEPS:
            say(step)
            command = [sys.executable, "-m", "benchmarks.pipeline.memory", "--step", step, "--folder", folder]
            done = subprocess.run(
                [*command, *["--quick"] * options.quick],
                check=True,
                stdout=subprocess.PIPE,
                text=True,
                cwd=ROOT,
            )
            results |= json.loads(done.stdout.splitlines()[-1])
    generated = {"pipeline-memory": table(results)}
    if not options.quick:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        write_into(DOCUMENTS, generated)
    print(generated["pipeline-memory"])
    return 0


def _do(step: str, folder: Path, events: int) -> dict[str, Any]:
    if step == "make":
        return _make(folder, events)
    if step == "match":
        return _match(folder)
    out = ds.dataset(folder / "out")
    return {"matches": out.count_rows(), "bytes out": sum(Path(file).stat().st_size for file in out.files)}


def _make(folder: Path, events: int) -> dict[str, Any]:
    import tocsin

    write_events(folder / "events", events, FILES)
    index: Any = tocsin.build(rules(RULES, CLAUSES))
    index.save(folder / "rules.tocsin")
    size = sum(file.stat().st_size for file in (folder / "events").iterdir())
    return {"events": events, "rules": len(index), "bytes in": size}


def _match(folder: Path) -> dict[str, Any]:
    import tocsin.spark as ts

    with peak_memory() as peak, spending() as spent:
        spark = ts.session("local[2]")
        events = spark.read.parquet(str(folder / "events"))
        ts.match(events, folder / "rules.tocsin", keep=["id"]).write.parquet(str(folder / "out"))
        spark.stop()
    return {
        "memory": peak.bytes,
        "looks": peak.looks,
        "seconds": spent.seconds,
        "processor": spent.processor,
    }


def table(results: dict[str, Any]) -> str:
    """What the job was, and what it took."""
    matches = f"{results['matches']:,} ({results['matches'] / results['events']:.0f} an event)"
    matches = f"{results['matches']:,} ({results['matches'] / results['events']:.0f} an event)"
    rows = [
        ("events", [f"{results['events']:,} of {FIELDS} fields, {_parquet(results['bytes in'])}"]),
        ("rules", [f"{results['rules']:,}"]),
        ("matches", [f"{matches}, {_parquet(results['bytes out'])}"]),
        ("**most memory**, all processes", [f"{results['memory'] / 1e9:.2f} GB"]),
        ("seconds, starting Spark included", [f"{results['seconds']:,.0f}"]),
        ("processor seconds, all processes", [f"{results['processor']:,.0f}"]),
        ("events a second", [f"{results['events'] / results['seconds']:,.0f}"]),
    ]
    return markdown(["`ts.match` on `local[2]`", ""], rows)


def _parquet(size: int) -> str:
    return f"{size / 1e6:,.0f} MB of Parquet"


if __name__ == "__main__":
    sys.exit(main())
