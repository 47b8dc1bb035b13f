"""What a caller gets beside the kernel: `match_table`, blocks of few events, threads, and files of matches.

    python -m benchmarks.door --abe FOLDER           everything; FOLDER holds abe100k and abe1m
    python -m benchmarks.door --only blocks,files    some parts; the others keep their figures
    python -m benchmarks.door --quick                small sizes: tries the script, keeps nothing

*The kernel* is a block of events that are cells already, and gives numbers of rules. Times are the processor
time of this process, best of several, but for threads, which are by the clock: that wants a quiet machine.
First calls are made in processes of their own, after another one has touched as much memory and given it
back: else what is measured is how a virtual machine gets its memory.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.folders import events_in, rules_in, table_of
from benchmarks.measuring import machine_facts, say, timed
from benchmarks.pipeline.workload import events as payments
from benchmarks.pipeline.workload import rules as payment_rules
from benchmarks.tables import machine_note, markdown, write_into

import tocsin
from tocsin.cli import main as command
from tocsin.events import batch_of_table
from tocsin.warmup import warm_up

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "door.json"
DOCUMENTS = (ROOT / "docs" / "performance.md",)
FOLDERS = ("abe100k", "abe1m")
THREADED_EVENTS = 18_000
PATTERN_RULES, TEXT_FIELDS = 3_747, 35
BLOCKS = (1, 16, 256, 4_096)


class Sizes:
    """How much is measured."""

    def __init__(self, quick: bool) -> None:
        self.repeat = 2 if quick else 7
        self.pattern_rules = 300 if quick else PATTERN_RULES
        self.payments = 2_000 if quick else 50_000
        self.payment_rules = 2_000 if quick else 100_000


def main() -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.door", description="what a caller gets")
    parser.add_argument("--abe", type=Path, metavar="FOLDER", help="abe100k and abe1m are in it")
    parser.add_argument("--only", metavar="PART,...", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is written")
    parser.add_argument("--first", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", tocsin.TocsinWarning)
    pa.set_cpu_count(1)
    warm_up()
    if options.first is not None:
        print(_first_call(*options.first))
        return 0
    results: dict[str, Any] = {}
    if RESULTS.exists() and not options.quick:
        results = json.loads(RESULTS.read_text())
    for name in options.only.split(",") if options.only else PARTS:
        if name in NEED_FOLDER and options.abe is None:
            say(f"{name} needs --abe FOLDER")
            continue
        say(name)
        results[name] = PARTS[name](Sizes(options.quick), options.abe)
    results["machine"] = machine_facts()
    text = table(results)
    if not options.quick:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        write_into(DOCUMENTS, {"door": text})
    print(text)
    return 0


def kernel_of(index: Any, events: pa.Table) -> Callable[[], int]:
    """The kernel's work for events: blocks of cells, written down as numbers of rules."""
    matcher = index.version.layers[0].matcher
    cells = batch_of_table(events, matcher.fields)
    return lambda: sum(len(found.rule) for found in matcher.match_slices(cells))


def tables(sizes: Sizes, folder: Path) -> dict[str, Any]:
    """match_table beside the kernel, in microseconds an event, the first calls too."""
    found = {}
    for name in FOLDERS:
        events = table_of(events_in(folder / name))
        with tempfile.TemporaryDirectory() as made:
            saved, rows = f"{made}/rules.tocsin", f"{made}/events.parquet"
            index: Any = tocsin.build(rules_in(folder / name))
            index.save(saved)
            pq.write_table(events, rows)
            ways: dict[str, Callable[[], object]] = {
                "kernel": kernel_of(index, events),
                "table": lambda index=index, events=events: index.match_table(events, threads=1),
                "count": lambda index=index, events=events: index.match_table(events, threads=1, count=True),
            }
            taken = {way: timed(work, sizes.repeat, events.num_rows).best * 1e6 for way, work in ways.items()}
            del index, ways
            for way in ("kernel", "table"):
                _touch_memory()
                arguments = ["--first", way, made]
                done = subprocess.run(
                    [sys.executable, "-m", "benchmarks.door", *arguments],
                    check=True,
                    stdout=subprocess.PIPE,
                    text=True,
                    cwd=ROOT,
                )
                taken[f"first {way}"] = float(done.stdout.split()[-1]) / events.num_rows * 1e6
        found[name] = taken
    return found


def _touch_memory() -> None:
    program = "import numpy; numpy.ones(3 << 27)"
    subprocess.run([sys.executable, "-c", program], check=True)


def _first_call(way: str, folder: str) -> float:
    index: Any = tocsin.open(f"{folder}/rules.tocsin")
    events = pq.read_table(f"{folder}/events.parquet").combine_chunks()
    work = kernel_of(index, events) if way == "kernel" else lambda: index.match_table(events, threads=1)
    return timed(work, 1).best


def threads(sizes: Sizes, folder: Path) -> dict[str, float]:
    """How many times as fast two threads are as one, by the clock, on abe1m."""
    index: Any = tocsin.build(rules_in(folder / FOLDERS[1]))
    some = table_of(events_in(folder / FOLDERS[1]))
    times = -(-THREADED_EVENTS // some.num_rows)
    events = pa.concat_tables([some] * times).combine_chunks().slice(0, THREADED_EVENTS)

    def read(number: int) -> None:
        for _ in index.match_table(events.to_reader(), threads=number):
            pass

    ways: dict[str, Callable[[int], object]] = {
        "counted": lambda number: index.match_table(events, count=True, threads=number),
        "a table": lambda number: index.match_table(events, threads=number),
        "a stream": read,
    }
    return {way: _clock(work, 1, sizes) / _clock(work, 2, sizes) for way, work in ways.items()}


def _clock(work: Callable[[int], object], number: int, sizes: Sizes) -> float:
    taken = []
    for _ in range(min(3, sizes.repeat)):
        start = time.perf_counter()
        work(number)
        taken.append(time.perf_counter() - start)
    return min(taken)


def blocks(sizes: Sizes, _folder: Path | None) -> dict[str, Any]:
    """Microseconds an event by how many come at once, against thousands of patterns on 35 fields."""
    source = random.Random(3)
    fields = [f"f{number}" for number in range(TEXT_FIELDS)]
    parts = [
        first + last for first in ("power", "cmd", "net", "reg") for last in ("shell", "svc", "ad", "exe")
    ]
    rules = [(f"r{number}", _pattern_rule(source, fields, parts)) for number in range(sizes.pattern_rules)]
    rows = [
        {field: " ".join(source.choice(parts) for _ in range(3)) for field in fields}
        for _ in range(max(BLOCKS))
    ]
    index: Any = tocsin.build(rules)
    events = pa.Table.from_pylist(rows)
    found: dict[str, Any] = {"kernel": timed(kernel_of(index, events), sizes.repeat, len(rows)).best * 1e6}
    for size in BLOCKS:
        some = [events.slice(first, size) for first in range(0, min(len(rows), 64 * size), size)]
        lists = [rows[first : first + size] for first in range(0, min(len(rows), 64 * size), size)]
        count = size * len(some)
        found[str(size)] = {
            "table": timed(
                lambda some=some: [index.match_table(each, threads=1) for each in some], sizes.repeat, count
            ).best
            * 1e6,
            "many": timed(
                lambda lists=lists: [index.match_many(each) for each in lists], sizes.repeat, count
            ).best
            * 1e6,
        }
    found["callers"] = _callers(index, rows[:1_000], sizes)
    return found


def _pattern_rule(source: random.Random, fields: Sequence[str], parts: Sequence[str]) -> str:
    """Like a rule of detection: four fifths of what is asked concerns three fields."""

    def clause() -> str:
        field = source.choice(fields[:3] if source.random() < 0.8 else fields)
        word = " ".join(source.choice(parts) for _ in range(source.randint(1, 2)))
        shape = source.choice(("{0} ilike '%{1}%'", "{0} ilike '%{1}'", "{0} ilike '{1}%'", "{0} = '{1}'"))
        return shape.format(field, f"{word}{source.randrange(400)}" if source.random() < 0.9 else word)

    groups = [" or ".join(clause() for _ in range(source.randint(1, 4))) for _ in range(source.randint(1, 3))]
    return " and ".join(f"({group})" for group in groups)


def _callers(index: Any, rows: Sequence[Any], sizes: Sizes) -> float:
    """Processor time of eight threads that call match at the same time, beside one's."""
    alone = timed(lambda: [index.match(row) for row in rows], sizes.repeat).best
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(index.match, rows[:64]))
        pieces = [rows[first::8] for first in range(8)]
        together = timed(
            lambda: list(pool.map(lambda piece: [index.match(row) for row in piece], pieces)), sizes.repeat
        ).best
    return together / alone


def files(sizes: Sizes, _folder: Path | None) -> dict[str, float]:
    """`tocsin match` without Spark from Parquet, many matches an event: microseconds an event."""
    events = payments(0, sizes.payments)
    index: Any = tocsin.build(payment_rules(sizes.payment_rules, 6))
    found: dict[str, float] = {
        "kernel": timed(lambda: index.match_table(events, threads=1), sizes.repeat, events.num_rows).best
        * 1e6
    }
    counts = index.match_table(events, count=True).per_event
    found["matches"] = float(np.mean(counts.to_numpy()))
    with tempfile.TemporaryDirectory() as folder:
        index.save(f"{folder}/rules.tocsin")
        pq.write_table(events, f"{folder}/events.parquet")
        for suffix in ("jsonl", "csv", "parquet"):
            arguments = [f"{folder}/rules.tocsin", "--events", f"{folder}/events.parquet", "--no-spark"]
            found[suffix] = (
                timed(
                    lambda arguments=arguments, suffix=suffix: command(
                        ["match", *arguments, "--out", f"{folder}/out.{suffix}"]
                    ),
                    min(3, sizes.repeat),
                    events.num_rows,
                ).best
                * 1e6
            )
    return found


PARTS: dict[str, Callable[[Sizes, Any], Any]] = {
    "tables": tables,
    "threads": threads,
    "blocks": blocks,
    "files": files,
}
NEED_FOLDER = ("tables", "threads")


def table(results: dict[str, Any]) -> str:
    """A row for each way, its time beside the kernel's."""
    rows: list[tuple[str, list[str]]] = []

    def add(title: str, kernel: float, taken: float) -> None:
        rows.append((title, [f"{kernel:.3g} µs", f"{taken:.3g} µs", f"{taken / kernel:.2f}"]))

    for name, found in results.get("tables", {}).items():
        add(f"`{name}`: `match_table`", found["kernel"], found["table"])
        add(f"`{name}`: `match_table(count=True)`", found["kernel"], found["count"])
        add(f"`{name}`: the first call of a process", found["first kernel"], found["first table"])
    if "blocks" in results:
        found = results["blocks"]
        for size in BLOCKS:
            add(f"patterns, {size:,} at once: `match_table`", found["kernel"], found[str(size)]["table"])
            add(f"patterns, {size:,} at once: `match_many`", found["kernel"], found[str(size)]["many"])
    if "files" in results:
        found = results["files"]
        for suffix in ("jsonl", "csv", "parquet"):
            title = f"`tocsin match` to .{suffix}, {found['matches']:.0f} matches an event"
            add(title, found["kernel"], found[suffix])
    text = markdown(["for each event", "the kernel", "the caller", "times the kernel's"], rows)
    if "threads" in results:
        said = ", ".join(f"{way} {ratio:.2f}" for way, ratio in results["threads"].items())
        text += f"\n\nTwo threads, times as fast as one (`abe1m`, {THREADED_EVENTS:,} events): {said}."
    if "blocks" in results:
        text += (
            "\n\nEight threads that call `index.match` at the same time take"
            f" {results['blocks']['callers']:.2f} times the processor time of one that makes the same calls."
        )
    return f"{text}\n\n{machine_note(results['machine'])}"


if __name__ == "__main__":
    sys.exit(main())
