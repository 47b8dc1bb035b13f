"""What an index consists of, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tocsin.index.compiled import CompiledIndex, Texts


@dataclass(frozen=True, slots=True)
class Statistics:
    """Print it for a table; the attributes are for programs.

    levels[d] is the number of inner nodes of level d + 1; `uses` how often a node (leaf or inner) is
    used on average by another or by a rule. bytes_matching counts what matching needs;
    bytes_texts what explanations and rule() need.
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
            ("built in", ", ".join(f"{phase} {value:.2f} s" for phase, value in self.seconds.items())),
        ]
        return "\n".join(f"{name:<14}{value}" for name, value in rows)


def statistics_of(index: CompiledIndex) -> Statistics:
    """Count."""
    graph = index.graph
    ands = int(np.count_nonzero(graph.is_and))
    used = index.plane_count
    texts = {name: _bytes(getattr(index, name)) for name in ("rule_text", "leaf_text")}
    texts["metadata"] = index.metadata.nbytes
    parts = ("graph", "leaves", "ranges", "links", "literals", "bounds", "patterns", "rule_id")
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
        bytes_matching={name: _bytes(getattr(index, name)) for name in parts},
        bytes_texts=texts,
        seconds=dict(index.facts),
    )


def _bytes(part: Texts | tuple[np.ndarray, ...]) -> int:
    return sum(array.nbytes for array in part)


def _size(parts: dict[str, int]) -> str:
    total = sum(parts.values())
    largest = ", ".join(f"{name} {value / 1e6:.1f}" for name, value in parts.items() if value * 50 > total)
    return f"{total / 1e6:.1f} MB ({largest})"
