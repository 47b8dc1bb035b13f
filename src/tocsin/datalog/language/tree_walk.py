"""Walking over the tree of a rule, and copying it with changes.

The parser lets no tree be higher than HEIGHT, so that whatever works on one may recurse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import Any

from tocsin.datalog.language import syntax

HEIGHT = 200
"""How many parts of a rule may stand within one another."""

Node = syntax.Argument | syntax.Body


def parts_of(node: Node) -> tuple[Node, ...]:
    """The parts that stand directly within a part."""
    return _PARTS[type(node)](node)


_PARTS: Mapping[type[Node], Callable[[Any], tuple[Node, ...]]] = {
    **dict.fromkeys((syntax.Variable, syntax.Anonymous, syntax.Constant, syntax.Truth), lambda _: ()),
    **dict.fromkeys((syntax.Positive, syntax.Negation), attrgetter("atom.arguments")),
    **dict.fromkeys((syntax.Conjunction, syntax.Disjunction), attrgetter("parts")),
    syntax.Operation: attrgetter("operands"),
    syntax.Comparison: attrgetter("left", "right"),
    syntax.Aggregate: lambda each: (each.body,) if each.value is None else (each.value, each.body),
}


def walk(*nodes: Node, closed: type[Node] | tuple[()] = ()) -> Iterator[Node]:
    """The parts and all that is within them, but for the `closed` ones, in the order of the text."""
    waiting = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, closed):
            waiting.extend(reversed(parts_of(node)))


def walk_outside_aggregates(*nodes: Node) -> Iterator[Node]:
    """The same, with each aggregate itself but nothing within it."""
    return walk(*nodes, closed=syntax.Aggregate)


def variables_in(*nodes: Node) -> Iterator[syntax.Variable]:
    """Every variable within the parts, each time it is written."""
    return (node for node in walk(*nodes) if isinstance(node, syntax.Variable))


def variables_outside(*nodes: Node) -> Iterator[syntax.Variable]:
    """Those among them that stand in no aggregate."""
    return (node for node in walk_outside_aggregates(*nodes) if isinstance(node, syntax.Variable))


def too_high(*nodes: Node) -> syntax.Place | None:
    """Where a tree gets higher than HEIGHT, or None."""
    waiting = [(node, 1) for node in nodes]
    while waiting:
        node, height = waiting.pop()
        if height > HEIGHT:
            return place_of(node)
        waiting.extend((part, height + 1) for part in parts_of(node))
    return None


def place_of(node: Node) -> syntax.Place:
    """Where a part is written."""
    while isinstance(node, syntax.Conjunction | syntax.Disjunction):
        node = node.parts[0]
    return node.atom.place if isinstance(node, syntax.Positive) else node.place


class Rewriter:
    """Copies a tree. What a subclass overrides is changed on the way, the rest is as it was.

    `operation` and `aggregate` get the part as it was and its parts as they have become.
    """

    def variable(self, variable: syntax.Variable) -> syntax.Argument:
        """What a variable becomes."""
        return variable

    def simple(self, argument: syntax.Constant | syntax.Anonymous) -> syntax.Argument:
        """What a constant or a `_` becomes."""
        return argument

    def operation(
        self, operation: syntax.Operation, operands: tuple[syntax.Argument, ...]
    ) -> syntax.Argument:
        """What an operation becomes."""
        return syntax.Operation(operation.functor, operands, operation.place, operation.type)

    def aggregate(self, aggregate: syntax.Aggregate) -> syntax.Argument:
        """What an aggregate becomes."""
        return self.copied(aggregate)

    def copied(self, aggregate: syntax.Aggregate) -> syntax.Aggregate:
        """An aggregate with its parts as they have become."""
        value = None if aggregate.value is None else self.argument(aggregate.value)
        body = self.body(aggregate.body)
        return syntax.Aggregate(aggregate.function, value, body, aggregate.place, aggregate.type)

    def relation(self, name: str) -> str:
        """What the name of a relation becomes."""
        return name

    def argument(self, argument: syntax.Argument) -> syntax.Argument:
        """An argument's copy."""
        if isinstance(argument, syntax.Variable):
            return self.variable(argument)
        if isinstance(argument, syntax.Constant | syntax.Anonymous):
            return self.simple(argument)
        if isinstance(argument, syntax.Operation):
            return self.operation(argument, tuple(map(self.argument, argument.operands)))
        return self.aggregate(argument)

    def atom(self, atom: syntax.Atom) -> syntax.Atom:
        """An atom's copy."""
        arguments = tuple(map(self.argument, atom.arguments))
        return syntax.Atom(self.relation(atom.relation), arguments, atom.place)

    def body(self, body: syntax.Body) -> syntax.Body:
        """A body's copy."""
        if isinstance(body, syntax.Positive):
            return syntax.Positive(self.atom(body.atom))
        if isinstance(body, syntax.Negation):
            return syntax.Negation(self.atom(body.atom), body.place)
        if isinstance(body, syntax.Comparison):
            left, right = self.argument(body.left), self.argument(body.right)
            return syntax.Comparison(body.operator, left, right, body.place)
        if isinstance(body, syntax.Conjunction | syntax.Disjunction):
            return type(body)(tuple(map(self.body, body.parts)))
        return body


class Putting(Rewriter):
    """Puts other arguments in the place of variables."""

    def __init__(self, other: Callable[[syntax.Variable], syntax.Argument]) -> None:
        self._other = other

    def variable(self, variable: syntax.Variable) -> syntax.Argument:
        """What stands in its place."""
        return self._other(variable)
