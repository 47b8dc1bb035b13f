"""The memory of a large job: 5,000,000 events of 20 fields against 100,000 rules, files in and Parquet out.

    python -m benchmarks.pipeline.memory                    into the documents
    python -m benchmarks.pipeline.memory --only command     some jobs; of the others what is known stays
    python -m benchmarks.pipeline.memory --quick            few events: tries the script, keeps nothing

Memory is the most that was seen of the proportional set sizes of the driver's Python, Spark's Java process
and the workers, added up; somebody looks twice a second. Each job runs in a process of its own, on
`local[2]`, in a session as ts.session makes it:

    library    ts.match, from Parquet to Parquet
    command    tocsin match --out FOLDER on the same files
    packed     the same from a fifth of the events as .jsonl.gz, which nobody can read but from the beginning
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
from benchmarks.measuring import machine_facts, say
from benchmarks.pipeline.processes import peak_memory, spending
from benchmarks.pipeline.workload import FIELDS, rules, write_events, write_packed
from benchmarks.tables import markdown, write_into

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "pipeline-memory.json"
DOCUMENTS = (ROOT / "docs" / "performance.md",)

EVENTS, QUICK_EVENTS, FILES = 5_000_000, 50_000, 20
PACKED_SHARE, PACKED_FILES = 5, 4
RULES, CLAUSES = 100_000, 6
JOBS = ("library", "command", "packed")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pipeline.memory", description="how much memory matching takes"
    )
    parser.add_argument("--quick", action="store_true", help="few events; nothing is written")
    parser.add_argument("--only", nargs="+", choices=JOBS, default=JOBS, help="which jobs")
    parser.add_argument("--step", choices=("make", *JOBS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    events = QUICK_EVENTS if options.quick else EVENTS
    if options.step is not None:
        print(json.dumps(_do(options.step, options.folder, events)))
        return 0
    results: dict[str, Any] = {}
    if not options.quick and RESULTS.exists():
        results = json.loads(RESULTS.read_text())
    results["machine"] = machine_facts()
    with tempfile.TemporaryDirectory() as folder:
        for step in ("make", *options.only):
            say(step)
            command = [sys.executable, "-m", "benchmarks.pipeline.memory", "--step", step, "--folder", folder]
            done = subprocess.run(
                [*command, *["--quick"] * options.quick],
                check=True,
                stdout=subprocess.PIPE,
                text=True,
                cwd=ROOT,
            )
            results[step] = json.loads(done.stdout.splitlines()[-1])
    generated = {"pipeline-memory": table(results)}
    if not options.quick:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        write_into(DOCUMENTS, generated)
    print(generated["pipeline-memory"])
    return 0


def _do(step: str, folder: Path, events: int) -> dict[str, Any]:
    if step == "make":
        return _make(folder, events)
    source, out = folder / ("packed" if step == "packed" else "events"), folder / f"out-{step}"
    with peak_memory() as peak, spending() as spent:
        if step == "library":
            _match(folder, source, out)
        else:
            _run(folder, source, out)
    written = ds.dataset(out)
    return {
        "events": events // PACKED_SHARE if step == "packed" else events,
        "bytes in": _size(source),
        "matches": written.count_rows(),
        "bytes out": _size(out),
        "memory": peak.bytes,
        "looks": peak.looks,
        "seconds": spent.seconds,
        "processor": spent.processor,
    }


def _make(folder: Path, events: int) -> dict[str, Any]:
    import tocsin

    write_events(folder / "events", events, FILES)
    write_packed(folder / "packed", events // PACKED_SHARE, PACKED_FILES)
    index: Any = tocsin.build(rules(RULES, CLAUSES))
    index.save(folder / "rules.tocsin")
    return {"rules": len(index)}


def _match(folder: Path, source: Path, out: Path) -> None:
    import tocsin.spark as ts

    spark = ts.session("local[2]")
    events = spark.read.parquet(str(source))
    ts.match(events, folder / "rules.tocsin", keep=["id"]).write.parquet(str(out))
    spark.stop()


def _run(folder: Path, source: Path, out: Path) -> None:
    """The command in this process: its session is the one that runs already."""
    import tocsin.spark as ts
    from tocsin.cli import main as tocsin

    spark = ts.session("local[2]")
    code = tocsin(
        ["match", str(folder / "rules.tocsin"), "--events", str(source), "--out", f"{out}/", "--keep", "id"]
    )
    spark.stop()
    if code:
        raise SystemExit(code)


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir() if not file.name.startswith((".", "_")))


NAMES = {
    "library": "`ts.match`",
    "command": "`tocsin match`",
    "packed": "from `.jsonl.gz`",
}


def table(results: dict[str, Any]) -> str:
    """What the jobs were, and what they took."""
    jobs = {name: results[step] for step, name in NAMES.items() if step in results}
    found = list(jobs.values())

    def row(name: str, text: Callable[[dict[str, Any]], str]) -> tuple[str, list[str]]:
        return name, [text(each) for each in found]

    rows = [
        row(f"events of {FIELDS} fields", lambda each: f"{each['events']:,}"),
        row("their files", lambda each: f"{each['bytes in'] / 1e6:,.0f} MB"),
        row("matches", lambda each: f"{each['matches']:,} ({each['matches'] / each['events']:.0f} an event)"),
        row("their files, Parquet", lambda each: f"{each['bytes out'] / 1e6:,.0f} MB"),
        row("**most memory**, all processes", lambda each: f"{each['memory'] / 1e9:.2f} GB"),
        row("seconds, starting Spark included", lambda each: f"{each['seconds']:,.0f}"),
        row("processor seconds, all processes", lambda each: f"{each['processor']:,.0f}"),
        row("events a second", lambda each: f"{each['events'] / each['seconds']:,.0f}"),
    ]
    return markdown([f"{results['make']['rules']:,} rules, `local[2]`", *jobs], rows)


if __name__ == "__main__":
    sys.exit(main())
