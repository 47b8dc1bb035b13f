"""From few rules to many: nodes, nodes touched, and time when matches are only counted."""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmarks.atree_workloads import Asked, Built, Sizes, asked_of
from benchmarks.measuring import say, timed

from tocsin.events import FieldPlan
from tocsin_lab import abe_gen


def growth(sizes: Sizes) -> list[dict[str, Any]]:
    """One row for each number of rules: so many of the first of one workload, over the same pools."""
    setting = abe_gen.Setting(expressions=sizes.growth[-1], pools_for=sizes.expressions)
    say(f"  {setting.expressions:,} rules are made")
    rules = abe_gen.rules(setting)
    asked = asked_of(abe_gen.events(setting, sizes.events), min(100, sizes.single_events))
    return [_grown(Built(rules.slice(0, count)), asked, sizes.repeat) for count in sizes.growth]


def _grown(built: Built, asked: Asked, repeat: int) -> dict[str, Any]:
    cells = asked.cells(built)
    per_event = built.matcher.match_batch(cells, write=False).per_event
    return {
        "rules": built.count,
        "matches": float(per_event.mean()),
        "nodes_a_rule": built.compiled.plane_count / built.count,
        "touched_a_rule": float(np.mean([touched(built, row) for row in asked.rows])) / built.count,
        "counted": timed(lambda: built.matcher.match_batch(cells, write=False), repeat, asked.length).best,
    }


def touched(built: Built, row: dict[str, Any]) -> int:
    """Nodes that matching one event by itself looks at: those that hold, and the ANDs that were asked."""
    index = built.compiled
    holds = built.matcher.frequencies(FieldPlan(built.matcher.fields).batch([row])) > 0
    wakes = np.diff(index.links.link_start)[: index.plane_count]
    woken = index.links.link[: wakes.sum()][np.repeat(holds, wakes)]
    inner = np.count_nonzero(np.unique(woken) < index.plane_count)
    leaves = np.count_nonzero(holds[: index.leaf_count])
    falsehoods = np.count_nonzero(
        (holds & (wakes > 0))[index.leaf_count : index.plane_count - len(index.graph.is_and)]
    )
    return int(inner + leaves + falsehoods)
