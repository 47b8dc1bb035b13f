"""What an index consists of, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import zip_longest
from typing import TypeVar

import numpy as np

from tocsin.arrays.packed import Texts
from tocsin.conditions.graph.compiled_index import CompiledIndex
from tocsin.conditions.graph.organisation import FULL, Organisation
from tocsin.display import Display, Displayed, Grid
from tocsin.printable import number_of

Number = TypeVar("Number", int, float)

GRAPH_ENGINE = "atree"
"""The engine that compiles rules into one shared graph."""


@dataclass(frozen=True, slots=True, repr=False)
class Statistics(Displayed):
    """Print it for a table; the attributes are for programs.

    levels[d] is the number of inner nodes of level d + 1; `uses` how often a node (leaf or inner) is
    used on average by another or by a rule. Only the engine atree has such a graph: with another these
    counts are 0. bytes_matching counts what matching needs; bytes_texts what explanations and rule() need.

    Rules that were inserted lie in layers beside the main index until a compaction. Then everything is
    the sum over the layers, with what two of them share counted twice; `waiting` rules are compiled
    but not in the main index, and `dead` ones still take room in it or beside it. There have been so
    many `compactions` since the index was built or opened. `disabled` rules are counted as rules, and
    match nothing.

    organisations   how nodes are put together, and why so: in the main index, or in each shard
    """

    rules: int
    predicates: int
    negated_predicates: int
    distinct_conditions: int
    bytes_matching: dict[str, int]
    bytes_texts: dict[str, int]
    seconds: dict[str, float]
    and_nodes: int = 0
    or_nodes: int = 0
    levels: tuple[int, ...] = ()
    edges: int = 0
    uses: float = 0.0
    waiting: int = 0
    dead: int = 0
    compactions: int = 0
    disabled: int = 0
    engine: str = GRAPH_ENGINE
    organisations: tuple[Organisation, ...] = ()

    @property
    def nodes(self) -> int:
        """Predicates, predicates that some rule wants negated, and inner nodes."""
        return self.predicates + self.negated_predicates + self.and_nodes + self.or_nodes

    def _disabled(self) -> str:
        return f", {self.disabled:,} disabled" if self.disabled else ""

    def __repr__(self) -> str:
        rules, nodes = number_of(self.rules, "rule"), number_of(self.nodes, "node")
        return f"<tocsin.Statistics: {rules}, {nodes}, engine {self.engine}>"

    def __str__(self) -> str:
        return "\n".join(f"{name:<14}{value}" for name, value in self._rows())

    def _display(self) -> Display:
        return Display(f"Index of {number_of(self.rules, 'rule')}", [("", Grid(("", ""), self._rows()))])

    def _rows(self) -> list[tuple[str, str]]:
        beside = f"{self.waiting:,} rules beside the main index"
        rows = [
            ("engine", self.engine),
            ("rules", f"{self.rules:,} ({self.distinct_conditions:,} distinct conditions){self._disabled()}"),
            ("changes", f"{beside}, {self.dead:,} dead, {self.compactions:,} compactions"),
            ("predicates", f"{self.predicates:,} ({self.negated_predicates:,} also negated)"),
            ("inner nodes", f"{self.and_nodes:,} and, {self.or_nodes:,} or"),
            ("by level", ", ".join(f"{count:,}" for count in self.levels) or "none"),
            ("organised", _organised(self.organisations)),
            ("sharing", f"each node is used {self.uses:.1f} times"),
            ("for matching", _size(self.bytes_matching)),
            ("for texts", _size(self.bytes_texts)),
            ("built in", _phases(self.seconds)),
        ]
        unsaid = (
            ["engine"] if self.engine == GRAPH_ENGINE else ["inner nodes", "by level", "organised", "sharing"]
        )
        if not (self.waiting or self.dead or self.compactions):
            unsaid.append("changes")
        return [(name, value) for name, value in rows if name not in unsaid]


def statistics_of(index: CompiledIndex) -> Statistics:
    """Count."""
    graph = index.graph
    ands = int(np.count_nonzero(graph.is_and))
    used = index.plane_count
    texts = {name: _bytes(getattr(index, name)) for name in ("rule_text", "leaf_text")}
    texts["metadata"] = index.metadata.nbytes
    return Statistics(
        rules=index.rule_count,
        predicates=index.leaf_count,
        negated_predicates=len(graph.false_leaf),
        and_nodes=ands,
        or_nodes=len(graph.is_and) - ands,
        levels=tuple(np.diff(graph.level_start).tolist()),
        edges=len(graph.child),
        distinct_conditions=len(np.unique(graph.root)),
        uses=(len(graph.child) + index.rule_count) / used if used else 0.0,
        bytes_matching=bytes_for_matching(index),
        bytes_texts=texts,
        seconds=dict(index.facts),
        organisations=(index.organisation,),
    )


def statistics_of_layers(layers: Sequence[Statistics], live: int, compactions: int) -> Statistics:
    """What all layers hold, with so many rules that are alive."""
    counts = [each.rules for each in layers]
    return replace(
        sum_of_statistics(layers),
        rules=live,
        waiting=sum(counts[1:]),
        dead=sum(counts) - live,
        compactions=compactions,
        organisations=layers[0].organisations,
    )


def sum_of_statistics(parts: Sequence[Statistics]) -> Statistics:
    """What several indexes hold together, with what two of them share counted twice."""
    return reduce(_sum, parts)


def _sum(one: Statistics, other: Statistics) -> Statistics:
    nodes = one.nodes + other.nodes
    return Statistics(
        rules=one.rules + other.rules,
        predicates=one.predicates + other.predicates,
        negated_predicates=one.negated_predicates + other.negated_predicates,
        and_nodes=one.and_nodes + other.and_nodes,
        or_nodes=one.or_nodes + other.or_nodes,
        levels=tuple(map(sum, zip_longest(one.levels, other.levels, fillvalue=0))),
        edges=one.edges + other.edges,
        distinct_conditions=one.distinct_conditions + other.distinct_conditions,
        uses=(one.uses * one.nodes + other.uses * other.nodes) / nodes if nodes else 0.0,
        bytes_matching=_sums(one.bytes_matching, other.bytes_matching),
        bytes_texts=_sums(one.bytes_texts, other.bytes_texts),
        seconds=_sums(one.seconds, other.seconds),
        engine=one.engine,
        organisations=one.organisations + other.organisations,
    )


def _sums(one: dict[str, Number], other: dict[str, Number]) -> dict[str, Number]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def _bytes(part: Texts | tuple[np.ndarray, ...]) -> int:
    return sum(array.nbytes for array in part)


def bytes_for_matching(index: CompiledIndex) -> dict[str, int]:
    """The memory that matching looks at, by part."""
    parts = ("graph", "leaves", "ranges", "links", "literals", "bounds", "patterns", "rule_id")
    return {name: _bytes(getattr(index, name)) for name in parts} | index.texts.bytes_of_parts()


def _size(parts: dict[str, int]) -> str:
    total = sum(parts.values())
    largest = ", ".join(f"{name} {value / 1e6:.1f}" for name, value in parts.items() if value * 50 > total)
    return f"{total / 1e6:.1f} MB ({largest})"


def _organised(parts: Sequence[Organisation]) -> str:
    if len(parts) == 1:
        return str(parts[0])
    full = sum(each.chosen == FULL for each in parts)
    return f"full in {full:,} of {len(parts):,} shards, {sum(each.spared for each in parts):,} edges fewer"


def _phases(seconds: dict[str, float]) -> str:
    return ", ".join(f"{phase} {value:.2f} s" for phase, value in seconds.items())
