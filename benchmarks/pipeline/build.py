"""Building an index of millions of rules: on Spark, and in one process.

    python -m benchmarks.pipeline.build                      3,000,000 rules, and into the documents
    python -m benchmarks.pipeline.build --quick              few rules: tries the script, keeps nothing

The rules are those of the A-Tree paper's generator, in one Parquet file. Each build is a process of its own,
with all that it starts: Spark's Java process and its workers on `local[2]`, or nothing but itself. Memory is
the most that was seen of their proportional set sizes, added up.
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

from benchmarks.measuring import machine_facts, say
from benchmarks.pipeline.processes import peak_memory, spending
from benchmarks.tables import markdown, write_into
from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "pipeline-build.json"
DOCUMENTS = (ROOT / "docs" / "performance.md",)

RULES, QUICK_RULES = 3_000_000, 20_000
PARTS = 4
STEPS = ("make", "spark", "parts", "local")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pipeline.build", description="how fast ts.build is"
    )
    parser.add_argument("--quick", action="store_true", help="few rules; nothing is written")
    parser.add_argument("--rules", type=int, metavar="N", help=f"how many rules (default: {RULES:,})")
    parser.add_argument("--only", nargs="+", choices=STEPS[1:], default=STEPS[1:], help="which builds")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    rules = options.rules or (QUICK_RULES if options.quick else RULES)
    if options.step is not None:
        print(json.dumps(_do(options.step, rules, options.folder)))
        return 0
    results: dict[str, Any] = {"machine": machine_facts(), "rules": rules}
    with tempfile.TemporaryDirectory() as folder:
        for step in (STEPS[0], *options.only):
            say(step)
            results[step] = _in_a_process(step, rules, folder)
    generated = {"pipeline-build": table(results)}
    if not options.quick:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        write_into(DOCUMENTS, generated)
    print(generated["pipeline-build"])
    return 0


def _in_a_process(step: str, rules: int, folder: str) -> Any:
    command = [sys.executable, "-m", "benchmarks.pipeline.build", "--step", step, "--rules", str(rules)]
    done = subprocess.run(
        [*command, "--folder", folder], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    return json.loads(done.stdout.splitlines()[-1])


def _do(step: str, rules: int, folder: Path) -> dict[str, Any]:
    """One step, in this process."""
    if step == "make":
        return _make(rules, folder)
    with peak_memory() as peak, spending() as spent:
        found = (
            _build_here(folder)
            if step == "local"
            else _build_on_spark(folder, PARTS if step == "parts" else None)
        )
    if step != "local":
        SparkSession.active().stop()  # when nobody counts any more: stopped workers take their time with them
    return {"seconds": spent.seconds, "processor": spent.processor, "memory": peak.bytes, **found}


def _make(rules: int, folder: Path) -> dict[str, Any]:
    from tocsin_lab import abe_gen
    from tocsin_lab.abe_gen.files import write_rules
    from tocsin_lab.abe_gen.workloads import rule_batches

    forest = abe_gen.forest_of(abe_gen.Setting(expressions=rules))
    write_rules(rule_batches(forest), folder, ("parquet",), lambda _: None)
    return {"predicates": abe_gen.shape_of(forest).mean_predicates}


def _build_on_spark(folder: Path, shards: int | None) -> dict[str, Any]:
    import tocsin.spark as ts

    spark = ts.session("local[2]")
    rules = spark.read.parquet(str(folder / "rules.parquet"))
    built = ts.build(rules, folder / ("rules.tocsin" if shards is None else "parts.tocsin"), shards=shards)
    return {"nodes": built.nodes, "bytes": built.bytes, "phases": dict(built.seconds)}


def _build_here(folder: Path) -> dict[str, Any]:
    import tocsin

    index = tocsin.build(tocsin.read_rules(folder / "rules.parquet"))
    assert isinstance(index, tocsin.Index)
    index.save(folder / "local.tocsin")
    stats = index.stats()
    nodes = stats.and_nodes + stats.or_nodes
    return {"nodes": nodes, "bytes": (folder / "local.tocsin").stat().st_size, "phases": stats.seconds}


NAMES = {
    "spark": "`ts.build` on `local[2]`",
    "parts": f"`ts.build`, {PARTS} shards",
    "local": "`tocsin.build`",
}


def table(results: dict[str, Any]) -> str:
    """The builds side by side."""
    head = [f"{results['rules']:,} rules", "seconds", "processor seconds", "memory", "inner nodes", "index"]
    rows = [
        (
            name,
            (
                f"{found['seconds']:,.0f}",
                f"{found['processor']:,.0f}",
                f"{found['memory'] / 1e9:.1f} GB",
                f"{found['nodes']:,}",
                f"{found['bytes'] / 1e6:,.0f} MB",
            ),
        )
        for name, found in ((name, results[step]) for step, name in NAMES.items() if step in results)
    ]
    return markdown(head, rows)


if __name__ == "__main__":
    sys.exit(main())
