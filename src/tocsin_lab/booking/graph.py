"""An exchange as a directed graph: who sells visits to whom, and which."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from tocsin.conditions.language import parse_condition, print_condition
from tocsin.errors import RuleError, each_error, raise_all


class Role(Enum):
    """What a node does: publishers only sell, advertisers only buy, intermediaries do both."""

    PUBLISHER = "publisher"
    INTERMEDIARY = "intermediary"
    ADVERTISER = "advertiser"


@dataclass(frozen=True)
class Edge:
    """`seller` sells `buyer` the visits that satisfy `when`."""

    seller: str
    buyer: str
    when: str = "true"

    def __str__(self) -> str:
        return f"{self.seller} -> {self.buyer}"


@dataclass(frozen=True)
class Graph:
    """A graph that graph_of has checked: every edge leads from one of its nodes to another, and no path
    comes back to where it was. Conditions are good, and free of comments, so that they can be put
    side by side.
    """

    roles: Mapping[str, Role]
    edges: tuple[Edge, ...]

    @cached_property
    def conditions(self) -> Mapping[tuple[str, str], str]:
        """The condition of each edge, by seller and buyer."""
        return {(edge.seller, edge.buyer): edge.when for edge in self.edges}

    @cached_property
    def buyers(self) -> Mapping[str, Sequence[str]]:
        """The nodes that each node sells to, in the order of the edges."""
        found: dict[str, list[str]] = {name: [] for name in self.roles}
        for edge in self.edges:
            found[edge.seller].append(edge.buyer)
        return found

    def shortest_paths(self, start: str) -> dict[str, tuple[str, ...]]:
        """A path with the fewest edges from a node to each that it reaches, itself included.

        Of several such paths it is the one whose edges were given first.
        """
        paths: dict[str, tuple[str, ...]] = {start: (start,)}
        waiting = deque([start])
        while waiting:
            node = waiting.popleft()
            for buyer in self.buyers[node]:
                if buyer not in paths:
                    paths[buyer] = (*paths[node], buyer)
                    waiting.append(buyer)
        return paths


def graph_of(roles: Mapping[str, Role], edges: Sequence[Edge], file: str | None = None) -> Graph:
    """Check nodes and edges; RuleError, or RuleErrors with everything that is wrong with them."""
    errors: list[RuleError] = []
    good: dict[tuple[str, str], Edge] = {}
    for edge in edges:
        problems = _problems_of_ends(edge, roles)
        if (edge.seller, edge.buyer) in good:
            problems.append("the edge is there twice: join their conditions by 'or'")
        errors.extend(RuleError(f"edge {edge}: {problem}", file=file) for problem in problems)
        try:
            when = print_condition(parse_condition(edge.when))
        except RuleError as error:
            errors.extend(_placed(each, edge, file) for each in each_error(error))
            continue
        if not problems:
            good[edge.seller, edge.buyer] = Edge(edge.seller, edge.buyer, when)
    graph = Graph(dict(roles), tuple(good.values()))
    circle = _circle(graph)
    if circle:
        errors.append(RuleError(f"visits are sold in a circle: {' -> '.join(circle)}", file=file))
    raise_all(errors)
    return graph


def _problems_of_ends(edge: Edge, roles: Mapping[str, Role]) -> list[str]:
    problems = [f"there is no node '{name}'" for name in (edge.seller, edge.buyer) if name not in roles]
    if roles.get(edge.seller) is Role.ADVERTISER:
        problems.append(f"'{edge.seller}' is an advertiser and sells nothing")
    if roles.get(edge.buyer) is Role.PUBLISHER:
        problems.append(f"'{edge.buyer}' is a publisher and buys nothing")
    return problems


def _placed(error: RuleError, edge: Edge, file: str | None) -> RuleError:
    """What is wrong with a condition, by the name of its edge: a JSON file's lines are no use for it."""
    return RuleError(f"edge {edge}: {error.reason}", file=file, excerpt=error.excerpt, caret=error.caret)


def _circle(graph: Graph) -> list[str]:
    """The nodes of a path that comes back to its start, that node at both ends; none when there is none.

    A walk in depth: nodes on the way down are in `way`, and one that is met there again closes a circle.
    """
    left: set[str] = set()
    for start in graph.roles:
        if start in left:
            continue
        way = {start: iter(graph.buyers[start])}
        while way:
            node, buyers = next(reversed(way.items()))
            buyer = next(buyers, None)
            if buyer is None:
                left.add(node)
                del way[node]
            elif buyer in way:
                nodes = list(way)
                return [*nodes[nodes.index(buyer) :], buyer]
            elif buyer not in left:
                way[buyer] = iter(graph.buyers[buyer])
    return []
