"""Walking over the tree of a rule, and copying it with changes.

The parser lets no tree be higher than HEIGHT, so that whatever works on one may recurse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import Any

from tocsin.datalog.language.syntax import (
    Aggregate,
    Anonymous,
    Argument,
    Atom,
    Body,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Negation,
    Operation,
    Place,
    Positive,
    Truth,
    Variable,
)

HEIGHT = 200
"""How many parts of a rule may stand within one another."""

Node = Argument | Body


def parts_of(node: Node) -> tuple[Node, ...]:
    """The parts that stand directly within a part."""
    return _PARTS[type(node)](node)


_PARTS: Mapping[type[Node], Callable[[Any], tuple[Node, ...]]] = {
    **dict.fromkeys((Variable, Anonymous, Constant, Truth), lambda _: ()),
    **dict.fromkeys((Positive, Negation), attrgetter("atom.arguments")),
    **dict.fromkeys((Conjunction, Disjunction), attrgetter("parts")),
    Operation: attrgetter("operands"),
    Comparison: attrgetter("left", "right"),
    Aggregate: lambda each: (each.body,) if each.value is None else (each.value, each.body),
}


def walk(*nodes: Node) -> Iterator[Node]:
    """The parts and all that is within them, in the order of the text."""
    waiting = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(parts_of(node)))


def walk_outside_aggregates(*nodes: Node) -> Iterator[Node]:
    """The same, with each aggregate itself but nothing within it."""
    waiting = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Aggregate):
            waiting.extend(reversed(parts_of(node)))


def variables_in(*nodes: Node) -> Iterator[Variable]:
    """Every variable within the parts, each time it is written."""
    return (node for node in walk(*nodes) if isinstance(node, Variable))


def variables_outside(*nodes: Node) -> Iterator[Variable]:
    """Those among them that stand in no aggregate."""
    return (node for node in walk_outside_aggregates(*nodes) if isinstance(node, Variable))


def too_high(*nodes: Node) -> Place | None:
    """Where a tree gets higher than HEIGHT, or None."""
    waiting = [(node, 1) for node in nodes]
    while waiting:
        node, height = waiting.pop()
        if height > HEIGHT:
            return place_of(node)
        waiting.extend((part, height + 1) for part in parts_of(node))
    return None


def place_of(node: Node) -> Place:
    """Where a part is written."""
    while isinstance(node, Conjunction | Disjunction):
        node = node.parts[0]
    return node.atom.place if isinstance(node, Positive) else node.place


class Rewriter:
    """Copies a tree. What a subclass overrides is changed on the way, the rest is as it was.

    `operation` and `aggregate` get the part as it was and its parts as they have become.
    """

    def variable(self, variable: Variable) -> Argument:
        """What a variable becomes."""
        return variable

    def anonymous(self, anonymous: Anonymous) -> Argument:
        """What a `_` becomes."""
        return anonymous

    def constant(self, constant: Constant) -> Argument:
        """What a constant becomes."""
        return constant

    def operation(self, operation: Operation, operands: tuple[Argument, ...]) -> Argument:
        """What an operation becomes."""
        return Operation(operation.functor, operands, operation.place, operation.type)

    def aggregate(self, aggregate: Aggregate) -> Argument:
        """What an aggregate becomes."""
        return self.copied(aggregate)

    def copied(self, aggregate: Aggregate) -> Aggregate:
        """An aggregate with its parts as they have become."""
        value = None if aggregate.value is None else self.argument(aggregate.value)
        body = self.body(aggregate.body)
        return Aggregate(aggregate.function, value, body, aggregate.place, aggregate.type)

    def relation(self, name: str) -> str:
        """What the name of a relation becomes."""
        return name

    def argument(self, argument: Argument) -> Argument:
        """An argument's copy."""
        if isinstance(argument, Variable):
            return self.variable(argument)
        if isinstance(argument, Constant):
            return self.constant(argument)
        if isinstance(argument, Anonymous):
            return self.anonymous(argument)
        if isinstance(argument, Operation):
            return self.operation(argument, tuple(map(self.argument, argument.operands)))
        return self.aggregate(argument)

    def atom(self, atom: Atom) -> Atom:
        """An atom's copy."""
        return Atom(self.relation(atom.relation), tuple(map(self.argument, atom.arguments)), atom.place)

    def body(self, body: Body) -> Body:
        """A body's copy."""
        if isinstance(body, Positive):
            return Positive(self.atom(body.atom))
        if isinstance(body, Negation):
            return Negation(self.atom(body.atom), body.place)
        if isinstance(body, Comparison):
            return Comparison(body.operator, self.argument(body.left), self.argument(body.right), body.place)
        if isinstance(body, Conjunction):
            return Conjunction(tuple(map(self.body, body.parts)))
        if isinstance(body, Disjunction):
            return Disjunction(tuple(map(self.body, body.parts)))
        return body
