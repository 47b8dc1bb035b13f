"""Building: how fast from a Parquet column, phase by phase, and how much memory an index takes.

Phases are by the clock, as index.stats() tells them.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from benchmarks.atree_matching import written
from benchmarks.atree_workloads import Built, Sizes, asked_of
from benchmarks.measuring import say, timed

from tocsin.conditions.graph import compile_rules
from tocsin.rules import Rules
from tocsin_lab import abe_gen

SIXTEEN = (0.5, 0.5, 0.0, 0.0, 0.0)
"""Operators with which every expression of the default depth has sixteen predicates on average."""


def build_phases(sizes: Sizes) -> dict[str, Any]:
    """Seconds by phase, with unique nodes."""
    settings = {
        "sixteen": abe_gen.Setting(expressions=sizes.expressions, operators=SIXTEEN),
        "default": abe_gen.Setting(expressions=sizes.expressions),
    }
    return {name: _build(setting, min(3, sizes.repeat)) for name, setting in settings.items()}


def memory(sizes: Sizes) -> dict[str, Any]:
    """Bytes of the index of advertisements: in memory, by part, and on disk."""
    setting = abe_gen.AdsSetting(expressions=sizes.advertisements)
    forest = abe_gen.forest_of(setting)
    shape = abe_gen.shape_of(forest)
    say(f"  {shape.rules:,} advertisements are made")
    built = Built(abe_gen.rules_of(forest))
    stats = built.index.stats()
    asked = asked_of(abe_gen.events(setting, sizes.events), sizes.single_events)
    cells = asked.cells(built)
    counts = built.matcher.match_batch(cells, write=False).per_event
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ads.tocsin"
        built.index.save(path)
        file_bytes = path.stat().st_size
    return {
        "rules": shape.rules,
        "distinct_rules": shape.distinct_rules,
        "mean_predicates": shape.mean_predicates,
        "most_predicates": shape.most_predicates,
        "distinct_predicates": shape.distinct_predicates,
        "uses": list(shape.uses),
        "matches": float(counts.mean()),
        "bytes_matching": stats.bytes_matching,
        "bytes_texts": stats.bytes_texts,
        "file_bytes": file_bytes,
        "seconds": stats.seconds,
        "blocks": timed(lambda: written(built, cells), sizes.repeat, asked.length).best,
        "single": timed(
            lambda: [built.index.match(row) for row in asked.rows], sizes.repeat, len(asked.rows)
        ).best,
    }


def _build(setting: abe_gen.Setting, repeat: int) -> dict[str, Any]:
    forest = abe_gen.forest_of(setting)
    predicates = abe_gen.shape_of(forest).mean_predicates
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.parquet"
        pq.write_table(abe_gen.rules_of(forest), path)
        del forest
        say(f"  {setting.expressions:,} rules of {predicates:.1f} predicates are built from Parquet")
        tries = [_once(path) for _ in range(repeat)]
    best = min(tries, key=lambda each: float(each["all"]))
    return {"rules": setting.expressions, "mean_predicates": predicates, **best}


def _once(path: Path) -> dict[str, Any]:
    start = time.perf_counter()
    rules = Rules.of(pq.read_table(path))
    loaded = time.perf_counter()
    compiled = compile_rules(rules)
    end = time.perf_counter()
    return {
        "all": end - start,
        "phases": {"parquet": loaded - start, **compiled.facts},
        "nodes": compiled.plane_count,
    }
