"""The order in which relations can be worked out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from tocsin.datalog.language.sources import Problems
from tocsin.datalog.language.syntax import Aggregate, Negation, Place, Positive, Rule
from tocsin.datalog.language.tree_walk import Node, parts_of


def components_in_order(edges: Mapping[str, Collection[str]]) -> tuple[frozenset[str], ...]:
    """The strongly connected components of a graph, each behind all that it leads to.

    `edges` says for each node which ones it leads to (depends on); one that only others name is a node too.
    The order is the same for the same order of `edges`. Tarjan's algorithm, without recursion.
    """
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_nodes: list[str] = []
    open_at: dict[str, int] = {}
    found: list[frozenset[str]] = []
    for root in edges:
        if root in numbers:
            continue
        path: list[tuple[str, Iterator[str]]] = []
        entering: str | None = root
        while entering is not None or path:
            if entering is not None:
                numbers[entering] = lowest[entering] = len(numbers)
                open_at[entering] = len(open_nodes)
                open_nodes.append(entering)
                path.append((entering, iter(edges.get(entering, ()))))
                entering = None
            node, targets = path[-1]
            for target in targets:
                if target not in numbers:
                    entering = target
                    break
                if target in open_at:
                    lowest[node] = min(lowest[node], numbers[target])
            if entering is not None:
                continue
            path.pop()
            if path:
                parent = path[-1][0]
                lowest[parent] = min(lowest[parent], lowest[node])
            if lowest[node] == numbers[node]:
                found.append(frozenset(open_nodes[open_at[node] :]))
                del open_nodes[open_at[node] :]
                for member in found[-1]:
                    del open_at[member]
    return tuple(found)


class Use(NamedTuple):
    """A relation that stands in a body; `strictly` when all of it must be known first, and why."""

    relation: str
    place: Place
    strictly: str | None


def uses_of(rule: Rule) -> Iterator[Use]:
    """The relations of a rule's body and of the aggregates in its heads."""
    waiting: list[tuple[Node, str | None]] = [(part, None) for part in rule.parts]
    while waiting:
        node, strictly = waiting.pop()
        if isinstance(node, Negation):
            yield Use(node.atom.relation, node.atom.place, strictly or "negation")
        elif isinstance(node, Positive):
            yield Use(node.atom.relation, node.atom.place, strictly)
        elif isinstance(node, Aggregate):
            strictly = "aggregate"
        waiting.extend((part, strictly) for part in parts_of(node))


def stratify(
    relations: Iterable[str], rules: Iterable[Rule], problems: Problems
) -> tuple[frozenset[str], ...]:
    """The relations in an order in which they can be worked out, recursive ones together.

    A relation that needs the absence, or all, of one that depends on it is a problem.
    """
    edges: dict[str, dict[str, None]] = {name: {} for name in relations}
    strict: list[tuple[str, Use]] = []
    for rule in rules:
        for use in uses_of(rule):
            for head in rule.heads:
                edges[head.relation][use.relation] = None
                if use.strictly:
                    strict.append((head.relation, use))
    strata = components_in_order(edges)
    stratum_of = {name: number for number, members in enumerate(strata) for name in members}
    for name, use in strict:
        if stratum_of[name] == stratum_of[use.relation]:
            problems.add(use.place, _reason(name, use, edges))
    return strata


def _reason(head: str, use: Use, edges: Mapping[str, Collection[str]]) -> str:
    first = f"!{use.relation}" if use.strictly == "negation" else f"an aggregate over {use.relation}"
    cycle = [head, first, *_way(use.relation, head, edges)[1:]]
    shown = " -> ".join(cycle if len(cycle) <= 12 else [*cycle[:11], "...", cycle[-1]])
    kind = "a negation" if use.strictly == "negation" else "an aggregate"
    return f"the program is not stratified: '{head}' depends on itself through {kind} ({shown})"


def _way(start: str, end: str, edges: Mapping[str, Collection[str]]) -> list[str]:
    """A shortest way from one node to another, both included."""
    came_from: dict[str, str | None] = {start: None}
    waiting = [start]
    for node in waiting:
        if node == end:
            break
        for target in edges[node]:
            if target not in came_from:
                came_from[target] = node
                waiting.append(target)
    way: list[str] = []
    at: str | None = end
    while at is not None:
        way.append(at)
        at = came_from[at]
    return way[::-1]
