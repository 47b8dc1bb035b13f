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
from tocsin.conditions.live.snapshot import Version
from tocsin.text.compiled_texts import CompiledTexts

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class Statistics:
    """Print it for a table; the attributes are for programs.

    levels[d] is the number of inner nodes of level d + 1; `uses` how often a node (leaf or inner) is
    used on average by another or by a rule. bytes_matching counts what matching needs;
    bytes_texts what explanations and rule() need.

    Rules that were inserted lie in layers beside the main index until a compaction. Then everything is
    the sum over the layers, with what two of them share counted twice; `waiting` rules are compiled
    but not in the main index, and `dead` ones still take room in it or beside it.
    """

    rules: int
    predicates: int
    negated_predicates: int
    and_nodes: int
    or_nodes: int
    levels: tuple[int, ...]
    edges: int
    distinct_conditions: int
    uses: float
    bytes_matching: dict[str, int]
    bytes_texts: dict[str, int]
    seconds: dict[str, float]
    waiting: int = 0
    dead: int = 0

    @property
    def nodes(self) -> int:
        """Predicates, negated predicates and inner nodes."""
        return self.predicates + self.negated_predicates + self.and_nodes + self.or_nodes

    def __str__(self) -> str:
        levels = ", ".join(f"{count:,}" for count in self.levels) or "none"
        rows = [
            ("rules", f"{self.rules:,} ({self.distinct_conditions:,} distinct conditions)"),
            ("predicates", f"{self.predicates:,} ({self.negated_predicates:,} also negated)"),
            ("inner nodes", f"{self.and_nodes:,} and, {self.or_nodes:,} or"),
            ("by level", levels),
            ("sharing", f"each node is used {self.uses:.1f} times"),
            ("for matching", _size(self.bytes_matching)),
            ("for texts", _size(self.bytes_texts)),
            ("built in", _phases(self.seconds)),
        ]
        if self.waiting or self.dead:
            rows.insert(1, ("changes", f"{self.waiting:,} rules beside the main index, {self.dead:,} dead"))
        return _aligned(rows)


@dataclass(frozen=True, slots=True)
class EngineStatistics:
    """The same of an engine beside the A-Tree; print it for a table.

    literals are predicates, and negations of predicates that some rule asks for. bytes_matching counts
    what matching needs: looking predicates up, the engine's own arrays, and the ids.
    """

    engine: str
    rules: int
    literals: int
    bytes_matching: dict[str, int]
    seconds: dict[str, float]

    def __str__(self) -> str:
        rows = [
            ("engine", self.engine),
            ("rules", f"{self.rules:,}"),
            ("literals", f"{self.literals:,}"),
            ("for matching", _size(self.bytes_matching)),
            ("built in", _phases(self.seconds)),
        ]
        return _aligned(rows)


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
    )


def statistics_of_version(version: Version) -> Statistics:
    """Count what all layers of a version hold."""
    layers = version.settled().layers
    return replace(
        sum_of_statistics([statistics_of(each.compiled) for each in layers]),
        rules=version.live,
        waiting=sum(map(len, layers[1:])),
        dead=sum(map(len, layers)) - version.live,
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
    )


def _sums(one: dict[str, Number], other: dict[str, Number]) -> dict[str, Number]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def _bytes(part: Texts | tuple[np.ndarray, ...]) -> int:
    return sum(array.nbytes for array in part)


def bytes_for_matching(index: CompiledIndex) -> dict[str, int]:
    """The memory that matching looks at, by part."""
    parts = ("graph", "leaves", "ranges", "links", "literals", "bounds", "patterns", "rule_id")
    return {name: _bytes(getattr(index, name)) for name in parts} | bytes_of_texts(index.texts)


def bytes_of_texts(texts: CompiledTexts) -> dict[str, int]:
    """The memory that free text takes, by part; nothing where there is none."""
    if not len(texts.leaf) and not len(texts.base.words.group):
        return {}
    return {
        "queries": _bytes(texts.queries),
        "terms": _bytes(texts.terms),
        "trie": _bytes(texts.trie),
        "dictionary": _bytes(texts.base.words),
        "text_rules": _bytes(texts.rules),
    }


def _size(parts: dict[str, int]) -> str:
    total = sum(parts.values())
    largest = ", ".join(f"{name} {value / 1e6:.1f}" for name, value in parts.items() if value * 50 > total)
    return f"{total / 1e6:.1f} MB ({largest})"


def _phases(seconds: dict[str, float]) -> str:
    return ", ".join(f"{phase} {value:.2f} s" for phase, value in seconds.items())


def _aligned(rows: list[tuple[str, str]]) -> str:
    return "\n".join(f"{name:<14}{value}" for name, value in rows)
