"""tocsin and the a-tree crate on the same rules: build, single events, and blocks that the crate has not.

    python -m benchmarks.peers.a_tree.compare            both workloads, 100,000 expressions each
    python -m benchmarks.peers.a_tree.compare --quick    small sizes: tries the script, keeps nothing

The rules use what both can say: no xor and no xnor, and a string in a list of values is written as
equalities, because the crate answers `in` on strings wrongly. The harness in Rust is built when this
is run, by cargo. When the crate takes longer than the limit for a build, the comparison is made with
the expressions that it got to. Times are processor time; results go to benchmarks/results/peers.json
and into the documents that have a place for them.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from benchmarks.atree_matching import written
from benchmarks.atree_workloads import Asked, Built
from benchmarks.folders import Row
from benchmarks.measuring import machine_facts, say, timed
from benchmarks.tables import machine_note, markdown, milliseconds, percent, times, write_into

import tocsin
from tocsin.warmup import warm_up
from tocsin_lab import abe_gen
from tocsin_lab.abe_gen.settings import Dimensions

ROOT = Path(__file__).resolve().parents[3]
HARNESS = Path(__file__).parent
RESULTS = ROOT / "benchmarks" / "results" / "peers.json"
DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "performance.md")

KINDS = ("integer",) * 6 + ("string",) * 2 + ("boolean", "list")
"""The kind of a field by the last digit of its number."""

_STRINGS_IN = re.compile(r"(d\d+) (not )?in \(('v\d+'(?:, 'v\d+')*)\)")
_LIST_IN = re.compile(r"(d\d*9) (not )?in \(")

DENSE = abe_gen.Setting(
    operators=(0.9, 0.08, 0.02, 0.0, 0.0),
    zipf=0.0,
    dimensions=Dimensions(30, 100, 0.6, 30, abe_gen.Mix(equal=0.25, one_of=0.25, ranges=0.5, none_of=0.0)),
)
"""Trees with little in common over fields that every event has; about 4 % match."""

SPARSE = abe_gen.Setting(operators=(0.45, 0.45, 0.1, 0.0, 0.0))
"""The default setting without xor and xnor."""

WORKLOADS = {"30 fields, all present": DENSE, "1,000 fields, 20 present": SPARSE}


class Peer(NamedTuple):
    """What the harness reports; seconds of the build, then matches and seconds for each event."""

    inserted: int
    build: float
    matches: list[int]
    seconds: list[float]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.peers.a_tree.compare")
    parser.add_argument("--expressions", type=int, default=100_000, metavar="N")
    parser.add_argument("--events", type=int, default=200, metavar="N", help="single events, both engines")
    parser.add_argument("--build-limit", type=float, default=900, metavar="SECONDS")
    parser.add_argument("--event-limit", type=float, default=60, metavar="SECONDS")
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is written")
    options = parser.parse_args(arguments)
    if options.quick:
        options.expressions, options.events, options.build_limit = 2_000, 50, 60
    warnings.simplefilter("ignore", tocsin.TocsinWarning)
    pa.set_cpu_count(1)
    warm_up()
    harness = build_harness()
    results: dict[str, Any] = {"machine": machine_facts(), "workloads": {}}
    for name, setting in WORKLOADS.items():
        results["workloads"][name] = compare(name, setting, harness, options)
        if not options.quick:
            RESULTS.parent.mkdir(exist_ok=True)
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")
            write_into(DOCUMENTS, {"peers": table(results)})
    print(table(results))
    return 0


def build_harness() -> Path:
    say("the harness is built by cargo")
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=HARNESS, check=True)
    return HARNESS / "target" / "release" / "a-tree-peer"


def compare(
    name: str, setting: abe_gen.Setting, harness: Path, options: argparse.Namespace
) -> dict[str, Any]:
    """The same rules and events through both."""
    setting = replace(setting, expressions=options.expressions)
    texts = [both_can_say(text) for text in abe_gen.rules(setting)["when"].to_pylist()]
    made = abe_gen.events(setting, max(4_096, options.events))
    rows = abe_gen.rows_of(abe_gen.first(made, options.events))
    say(f"{name}: {len(texts):,} expressions in the a-tree crate")
    peer = run_peer(harness, setting, texts, rows, options)
    rules = pa.table({"when": texts[: peer.inserted]})
    rules = rules.append_column("id", [[f"r{number}" for number in range(peer.inserted)]])
    say(f"{name}: {peer.inserted:,} expressions in tocsin")
    start = time.process_time()
    built = Built(rules)
    build = time.process_time() - start
    asked = Asked(abe_gen.table_of(made), rows[: len(peer.seconds)])
    cells = asked.cells(built)
    found = built.matcher.match_batch(cells).per_event
    single = [len(built.index.match(row)) for row in asked.rows]
    if found[: len(single)].tolist() != single or single != peer.matches:
        sys.exit(f"{name}: the engines differ: {single} matches here, {peer.matches} there")
    return {
        "rules": peer.inserted,
        "wanted": len(texts),
        "matches": float(found.mean()),
        "events": len(single),
        "peer_build": peer.build,
        "peer_event": sum(peer.seconds) / len(peer.seconds),
        "build": build,
        "blocks": timed(lambda: written(built, cells), 5, asked.length).best,
        "single": timed(lambda: [built.index.match(row) for row in asked.rows], 5, len(asked.rows)).best,
    }


def run_peer(
    harness: Path,
    setting: abe_gen.Setting,
    texts: Sequence[str],
    rows: Sequence[Row],
    options: argparse.Namespace,
) -> Peer:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fields = [f"{KINDS[number % 10]}\td{number}" for number in range(setting.dimensions.count)]
        for file, lines in (
            ("fields.txt", fields),
            ("rules.txt", [for_the_crate(text) for text in texts]),
            ("events.txt", [event_line(row) for row in rows]),
        ):
            (folder / file).write_text("".join(f"{line}\n" for line in lines))
        command = [str(harness), name, str(options.build_limit), str(options.event_limit)]
        answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    inserted, build, *events = answer.stdout.split()
    matches, seconds = [int(each) for each in events[::2]], [float(each) for each in events[1::2]]
    return Peer(int(inserted), float(build), matches, seconds)


def both_can_say(text: str) -> str:
    """A condition without lists of strings: equalities instead."""

    def equalities(found: re.Match[str]) -> str:
        field, negated, values = found.groups()
        either = " or ".join(f"{field} = {value}" for value in values.split(", "))
        return f"(not ({either}))" if negated else f"({either})"

    return _STRINGS_IN.sub(equalities, text)


def for_the_crate(text: str) -> str:
    """A condition in the crate's language, which has its own words for fields that hold lists."""
    return _LIST_IN.sub(lambda found: f"{found[1]} {'none' if found[2] else 'one'} of (", text)


def event_line(row: Row) -> str:
    """An event as the harness reads it."""
    return "\t".join(f"{name}\t{_value(value)}" for name, value in row.items())


def _value(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def table(results: dict[str, Any]) -> str:
    found = list(results["workloads"].values())
    rows = [
        ("expressions", [f"{each['rules']:,}" for each in found]),
        (
            "matches an event",
            [f"{each['matches']:,.0f} ({percent(each['matches'] / each['rules'])})" for each in found],
        ),
        ("a-tree crate, an event", [milliseconds(each["peer_event"]) for each in found]),
        ("tocsin, one event at a time", [milliseconds(each["single"]) for each in found]),
        ("tocsin, in blocks", [milliseconds(each["blocks"]) for each in found]),
        ("**single events are faster by**", [times(each["peer_event"], each["single"]) for each in found]),
        ("**blocks are faster by**", [times(each["peer_event"], each["blocks"]) for each in found]),
        ("a-tree crate, build", [f"{each['peer_build']:,.1f} s" for each in found]),
        ("tocsin, build", [f"{each['build']:,.2f} s" for each in found]),
        ("**the build is faster by**", [times(each["peer_build"], each["build"]) for each in found]),
    ]
    return f"{markdown(['', *results['workloads']], rows)}\n\n{machine_note(results['machine'])}"


if __name__ == "__main__":
    sys.exit(main())
