"""From few rules to many: nodes, nodes touched, and time when matches are only counted."""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmarks.atree_workloads import Built, Sizes, asked_of, built_of
from benchmarks.measuring import say, timed

from tocsin.lab import abe_gen


def growth(sizes: Sizes) -> list[dict[str, Any]]:
    """One row for each number of rules."""
    rows = []
    for count in sizes.growth:
        setting = abe_gen.Setting(expressions=count)
        built = built_of(setting)
        asked = asked_of(abe_gen.events(setting, sizes.events), min(100, sizes.single_events))
        cells = asked.cells(built)
        per_event = built.matcher.match_batch(cells, write=False).per_event
        say(f"  {count:,} rules: matching is timed")
        counted = timed(lambda: built.matcher.match_batch(cells, write=False), sizes.repeat, asked.length)  # noqa: B023
        rows.append(
            {
                "rules": count,
                "matches": float(per_event.mean()),
                "nodes_a_rule": built.compiled.plane_count / count,
                "touched_a_rule": float(np.mean([touched(built, row) for row in asked.rows])) / count,
                "counted": counted.best,
            }
        )
    return rows


def touched(built: Built, row: dict[str, Any]) -> int:
    """Nodes that matching one event by itself looks at: leaves that hold, and what they wake."""
    stamps = built.stamps_after(row)
    now = stamps.now[0]
    leaves = built.compiled.plane_count - len(built.compiled.graph.is_and)
    return int(np.count_nonzero(stamps.true[:leaves] == now) + np.count_nonzero(stamps.queued == now))
