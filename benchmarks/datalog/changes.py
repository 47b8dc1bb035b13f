"""Single changes of closures: read where they are implicit and where they are written out; and deletions,
beside loading the same graph anew.

A closure is written out as soon as another rule looks at it, as one does here that derives nothing.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from typing import Any

from benchmarks.measuring import say

import tocsin
from tocsin.datalog.engine import Engine

Arc = tuple[int, int]

PROGRAM = """
.decl e(x: number, y: number)
.decl p(x: number, y: number)
.decl q(x: number, y: number)
.decl never(x: number)
.decl looked(x: number)
.output p
p(x, y) :- e(x, y).
{rule}
"""
LOOKING = "looked(x) :- p(x, x), never(x)."
RULES = {
    "linear": "p(x, z) :- e(x, y), p(y, z).",
    "non-linear": "p(x, z) :- p(x, y), p(y, z).",
    "mutual": "p(x, z) :- e(x, y), q(y, z). q(x, y) :- p(x, y).",
}
ARCS, CHANGES = 100_000, 200
DELETIONS = (
    ("linear", "chain", 1_000),
    ("linear", "random", 600),
    ("non-linear", "chain", 300),
    ("non-linear", "chain", 600),
    ("non-linear", "random", 100),
    ("mutual", "chain", 600),
)


def graph(shape: str, size: int) -> list[Arc]:
    """Arcs of a shape: chains of 20, a tree with four branches each, a sparse or a dense random graph."""
    drawn = random.Random(1)
    if shape == "chains of 20":
        return [(i, i + 1) for i in range(size) if i % 20 != 19]
    if shape == "tree":
        return [((i - 1) // 4, i) for i in range(1, size)]
    if shape == "chain":
        return [(i, i + 1) for i in range(size)]
    vertices = 2 * size if shape == "sparse random" else size
    count = size if shape == "sparse random" else 4 * size
    return list(dict.fromkeys((drawn.randrange(vertices), drawn.randrange(vertices)) for _ in range(count)))


def started(rule: str, *, is_implicit: bool) -> Engine:
    text = PROGRAM.format(rule=RULES[rule])
    return tocsin.Program.parse(text if is_implicit else f"{text}{LOOKING}\n").start(limit=10**9)


def changes_read(factor: int, rounds: int) -> dict[str, dict[str, Any]]:
    """Seconds for an arc that goes and comes back, every pair that the two changes report read."""
    found = {}
    for shape in ("chains of 20", "tree", "sparse random"):
        say(f"single arcs of a graph: {shape}")
        arcs = graph(shape, ARCS // factor)
        picked = random.Random(2).choices(arcs, k=CHANGES)
        taken: dict[str, Any] = {"arcs": len(arcs)}
        pairs = {}
        for name in ("implicit", "written out"):
            engine = started("linear", is_implicit=name == "implicit")
            engine.load("e", arcs)
            each = [_read(engine, picked) for _ in range(rounds + 1)]  # the first one warms up
            pairs[name] = each[0][1]
            taken[name] = statistics.median(seconds for seconds, _ in each[1:]) / (2 * len(picked))
        if pairs["implicit"] != pairs["written out"]:
            sys.exit("an implicit closure and one that is written out differ")
        found[shape] = {**taken, "pairs": pairs["implicit"] / (2 * len(picked))}
    return found


def _read(engine: Engine, picked: list[Arc]) -> tuple[float, int]:
    count = 0
    start = time.process_time()
    for arc in picked:
        for changes in (engine.delete("e", arc), engine.insert("e", arc)):
            count += sum(1 for side in (changes.added, changes.removed) for _ in side["p"])
    return time.process_time() - start, count


def deletions(factor: int, rounds: int) -> list[dict[str, Any]]:
    """Seconds to load a graph, to delete one arc in its middle, and to delete a tenth of its arcs."""
    found = []
    for rule, shape, size in DELETIONS:
        say(f"deletions: {rule}, {shape} of {size // factor}")
        arcs = graph(shape, size // factor)
        middle, tenth = arcs[len(arcs) // 2], [("-", "e", arc) for arc in arcs[::10]]
        taken: dict[str, list[float]] = {"load": [], "one": [], "tenth": []}
        for _ in range(rounds + 1):
            engine = started(rule, is_implicit=False)
            taken["load"].append(_seconds(lambda: engine.load("e", arcs)))  # noqa: B023
            pairs = engine.size("p")
            taken["one"].append(_seconds(lambda: engine.delete("e", middle)))  # noqa: B023
            engine.insert("e", middle)
            taken["tenth"].append(_seconds(lambda: engine.apply(tenth)))  # noqa: B023
        best = {name: min(seconds) for name, seconds in taken.items()}
        found.append({"rule": rule, "graph": f"{shape} of {size // factor:,}", "pairs": pairs, **best})
    return found


def _seconds(work: Any) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
