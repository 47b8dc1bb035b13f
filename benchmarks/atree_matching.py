"""Matching: beside the best scan, on rules with known counts, and on events that match little."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.atree_workloads import Asked, Built, Sizes, asked_of, built_of
from benchmarks.folders import counts_in, events_in, rules_in, table_of
from benchmarks.measuring import say, timed
from benchmarks.scan import Scan
from numpy.typing import NDArray

from tocsin.events import EventBatch
from tocsin_lab import abe_gen

OTHER_ENGINE = {"abe100k": 0.31e-3, "abe1m": 5.6e-3}
"""Seconds an event of the C engine that the counts are of, as the folders' README tells."""

THINNED_PAIRS = 5

TABLE_EVENTS = 2_048
"""Events whose matches are written as one table: of all of them it would take gigabytes."""


def against_scan(sizes: Sizes) -> dict[str, Any]:
    """Blocks and single events beside the scan, on the default setting."""
    setting = abe_gen.Setting(expressions=sizes.expressions)
    built = built_of(setting)
    asked = asked_of(abe_gen.events(setting, sizes.events), sizes.single_events)
    say("  the scan is prepared")
    scan = Scan(built.compiled, abe_gen.listed_fields(setting), asked.rows)
    prepared = [scan.prepare(row) for row in asked.rows[: sizes.scanned_events]]
    expected = [scan.match(event).tolist() for event in prepared]
    counts = _agreed(built, asked)
    for row, numbers in zip(asked.rows, expected, strict=False):
        if built.index.match(row).numbers.tolist() != numbers:
            sys.exit(f"the scan and the index differ on {row}")
    say("  matching is timed")
    return {
        **_matching(built, asked, counts, sizes.repeat),
        "scan": timed(lambda: [scan.match(event) for event in prepared], sizes.repeat, len(prepared)).best,
        "scanned_events": len(prepared),
    }


def known_counts(sizes: Sizes, folder: Path) -> dict[str, Any]:
    """The folders of rules whose matches another engine counted."""
    found = {}
    for name, other in OTHER_ENGINE.items():
        if not (folder / name).is_dir():
            continue
        built = Built(rules_in(folder / name))
        rows, known = events_in(folder / name), counts_in(folder / name)
        asked = Asked(table_of(rows), rows[: sizes.single_events])
        counts = _agreed(built, asked)
        if counts.tolist() != known:
            sys.exit(f"{name}: the counts are not those of the folder")
        say(f"  {name}: exactly the {sum(known):,} matches; matching is timed")
        found[name] = {**_matching(built, asked, counts, sizes.repeat), "other_engine": other}
    return found


def low_selectivity(sizes: Sizes) -> dict[str, Any]:
    """The same rules, and events of which five pairs are left."""
    setting = abe_gen.Setting(expressions=sizes.expressions)
    built = built_of(setting)
    whole = abe_gen.events(setting, sizes.events)
    found = {}
    for name, made in (("whole", whole), ("thinned", abe_gen.thinned(whole, THINNED_PAIRS))):
        asked = asked_of(made, sizes.single_events)
        found[name] = _matching(built, asked, _agreed(built, asked), sizes.repeat)
    return found


def written(built: Built, cells: EventBatch) -> int:
    """Match a batch and write down the numbers of the rules of each event; how many."""
    return sum(len(found.rule) for found in built.matcher.match_slices(cells))


def _agreed(built: Built, asked: Asked) -> NDArray[np.int64]:
    """The number of matches for each event, after single events and blocks gave the same."""
    found = built.matcher.match_batch(asked.cells(built))
    first = 0
    for row, count in zip(asked.rows, found.per_event.tolist(), strict=False):
        if not np.array_equal(built.index.match(row).numbers, found.rule[first : first + count]):
            sys.exit(f"blocks and single events differ on {row}")
        first += count
    return found.per_event


def _matching(built: Built, asked: Asked, counts: NDArray[np.int64], repeat: int) -> dict[str, Any]:
    """Seconds an event, each way."""
    cells, rows, length = asked.cells(built), asked.rows, asked.length
    door: Any = built.index
    some = asked.table.slice(0, TABLE_EVENTS)
    return {
        "rules": built.count,
        "events": length,
        "matches": float(counts.mean()),
        "blocks": timed(lambda: written(built, cells), repeat, length).best,
        "pass": timed(lambda: built.matcher.match_batch(cells, write=False), repeat, length).best,
        "table": timed(lambda: door.match_table(some, threads=1), repeat, some.num_rows).best,
        "single": timed(lambda: [door.match(row) for row in rows], repeat, len(rows)).best,
    }
