"""What it costs to read events from files: JSON lines, CSV and Parquet, beside readers that only parse.

    python -m benchmarks.reading              100,000 events of 20 fields
    python -m benchmarks.reading --quick      few: tries the script, keeps nothing

Of CSV both passes count: the one that finds types over the whole input, and the one that reads. Every value
has to be found before times count. The table goes into docs/performance.md.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.json as pa_json
import pyarrow.parquet as pq
from benchmarks.measuring import machine_facts, say, timed
from benchmarks.tables import machine_note, markdown, write_into

from tocsin.events import plan_slices, read_slice

Row = dict[str, Any]
_WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
_REFERRERS = ["", "https://example.org/start", "https://example.com/shop?item="]


def event(source: random.Random, number: int) -> Row:
    """A visit: eleven texts, five integers, three floats and two Booleans, some 450 bytes of JSON."""
    return {
        "event_id": number,
        "time": f"2026-03-{1 + number % 28:02d}T{number % 24:02d}:{number % 60:02d}:{number * 7 % 60:02d}Z",
        "host": f"host-{source.randrange(500):03d}.example.org",
        "user": f"user{source.randrange(20_000)}",
        "country": source.choice(["NO", "SE", "FI", "DK", "DE"]),
        "channel": source.choice(["web", "app", "api"]),
        "action": f"{source.choice(_WORDS)}_{source.choice(_WORDS)}",
        "status": source.choice([200, 200, 200, 404, 500]),
        "bytes": source.randrange(10**6),
        "duration": round(source.expovariate(1 / 50), 3),
        "score": source.random(),
        "amount": round(source.uniform(0, 10_000), 2),
        "vip": source.random() < 0.1,
        "mobile": source.random() < 0.5,
        "age": source.randrange(18, 90),
        "port": source.randrange(65_536),
        "referrer": source.choice(_REFERRERS) + str(source.randrange(1_000)),
        "path": "/" + "/".join(source.choice(_WORDS) for _ in range(3)),
        "city": source.choice(["Bergen", "Troms\u00f8", "Malm\u00f6", "\u00c5rhus", "Kiel"]),
        "agent": f"Mozilla/5.0 (X11; Linux x86_64) client {source.randrange(40)}",
    }


def write_files(folder: Path, events: list[Row]) -> None:
    """The same events in three formats."""
    with (folder / "e.jsonl").open("w") as stream:
        stream.writelines(json.dumps(each) + "\n" for each in events)
    with (folder / "e.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(events[0]))
        writer.writeheader()
        writer.writerows(events)
    pq.write_table(pa.Table.from_pylist(events), folder / "e.parquet")


def read(file: Path, names: list[str]) -> int:
    """Read all events of a file, with the cells of these fields; how many cells that gives."""
    fields = [(name,) for name in names]
    cells = 0
    for piece in plan_slices(file):
        for chunk in read_slice(piece, fields):
            cells += sum(len(column.present) for column in chunk.events.columns.values())
    return cells


def check(folder: Path, events: list[Row]) -> None:
    """AssertionError where a format does not give every value that there is."""
    names = list(events[0])
    values = sum(value is not None for row in events for value in row.values())
    empty = sum(value == "" for row in events for value in row.values())
    for ending, expected in (("jsonl", values), ("csv", values - empty), ("parquet", values)):
        found = read(folder / f"e.{ending}", names)
        if found != expected:
            raise AssertionError(f"e.{ending}: {found:,} values of {expected:,}")


def measured(folder: Path, events: list[Row], repeat: int) -> list[tuple[str, list[str]]]:
    """The rows of the table: microseconds of an event, with all fields and with three."""
    wanted = [list(events[0]), ["country", "amount", "age"]]

    def micros(work: Callable[[], object]) -> str:
        return f"{timed(work, repeat, len(events)).best * 1e6:.2f}"

    lines = (folder / "e.jsonl").read_bytes().splitlines()
    rows = []
    for title, ending in (
        ("JSON lines", "jsonl"),
        ("CSV, typed over all of it", "csv"),
        ("Parquet", "parquet"),
    ):
        file = folder / f"e.{ending}"
        rows.append((title, [micros(partial(read, file, names)) for names in wanted]))
        say(f"{title}: {rows[-1][1]}")
    one = pa_json.ReadOptions(use_threads=False)
    rows.append(("`json.loads` of each line", [micros(lambda: [json.loads(line) for line in lines]), ""]))
    rows.append(
        ("`pyarrow.json`, one thread", [micros(lambda: pa_json.read_json(folder / "e.jsonl", one)), ""])
    )
    alone = pa_csv.ReadOptions(use_threads=False)
    rows.append(("`pyarrow.csv`, one thread", [micros(lambda: pa_csv.read_csv(folder / "e.csv", alone)), ""]))
    return rows


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few events; keeps nothing")
    quick = parser.parse_args().quick
    source = random.Random(7)
    events = [event(source, number) for number in range(2_000 if quick else 100_000)]
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, events)
        check(folder, events)
        rows = measured(folder, events, 1 if quick else 3)
    table = markdown(["microseconds an event", "20 fields", "3 of them"], rows)
    if quick:
        say(table)
        return
    write_into([Path("docs/performance.md")], {"reading": f"{table}\n\n{machine_note(machine_facts())}"})


if __name__ == "__main__":
    main()
