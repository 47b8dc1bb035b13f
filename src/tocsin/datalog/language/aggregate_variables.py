"""The aggregates of a rule: which variables are the rule's, and copies of them with other names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from tocsin.datalog.language.alternatives import Literal, alternatives_of
from tocsin.datalog.language.groundedness import grounded
from tocsin.datalog.language.syntax import (
    Aggregate,
    Argument,
    Comparison,
    Conjunction,
    Disjunction,
    Rule,
    Variable,
)
from tocsin.datalog.language.tree_walk import Node, Rewriter, variables_in, walk, walk_outside_aggregates

OWN_MARK = "'"
"""What a name that was made has in it, and no name that can be written."""


class Names:
    """Makes names that stand nowhere else in a rule."""

    def __init__(self) -> None:
        self._made = 0

    def fresh(self, name: str) -> str:
        """A new name that tells which one it stands for."""
        self._made += 1
        return f"{written(name)}{OWN_MARK}{self._made}"


def written(name: str) -> str:
    """The name in the program that a name stands for."""
    return name.split(OWN_MARK)[0]


def aggregates_in(*nodes: Node) -> list[Aggregate]:
    """The aggregates within the parts, without those within other aggregates."""
    return [node for node in walk_outside_aggregates(*nodes) if isinstance(node, Aggregate)]


def variables_outside(*nodes: Node) -> Iterator[Variable]:
    """The variables within the parts that stand in no aggregate."""
    return (node for node in walk_outside_aggregates(*nodes) if isinstance(node, Variable))


def has_disjunction(aggregate: Aggregate) -> bool:
    """Whether an aggregate's body has alternatives."""
    return any(isinstance(node, Disjunction) for node in walk(aggregate.body))


def shared_variables(aggregate: Aggregate, literals: Sequence[Literal], given: Collection[str]) -> set[str]:
    """The variables of an aggregate that are the rule's.

    They have a value outside of it, and are not both bound by its body and part of its own value.
    """
    known = grounded(literals, given, lambda other, _known: other is not aggregate)
    known &= {variable.name for variable in variables_in(aggregate)}
    if aggregate.value is not None and not has_disjunction(aggregate):
        body = alternatives_of(aggregate.body)[0]
        own = grounded(body, (), lambda _aggregate, _known: True)
        known -= own & {variable.name for variable in variables_in(aggregate.value)}
    return known


class Renaming(Rewriter):
    """Gives variables other names."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def variable(self, variable: Variable) -> Argument:
        """The variable with its other name, if it has one."""
        name = self._names.get(variable.name)
        return variable if name is None else Variable(name, variable.place, variable.type, variable.located)


class Replacing(Rewriter):
    """Puts other arguments in the place of aggregates, by identity."""

    def __init__(self, arguments: Mapping[int, Argument]) -> None:
        self._arguments = arguments

    def aggregate(self, aggregate: Aggregate) -> Argument:
        """What stands in its place, or the aggregate itself."""
        return self._arguments.get(id(aggregate), aggregate)


def literal_with(rewriter: Rewriter, literal: Literal) -> Literal:
    """A literal's copy."""
    copy = rewriter.body(literal)
    if isinstance(copy, Conjunction | Disjunction):
        raise AssertionError("a literal stays one")
    return copy


def without_head_aggregates(rule: Rule) -> Rule:
    """The rule with each aggregate of its heads moved to its body: `h(x, n) :- b(x), n = count : ...`."""
    arguments = [argument for head in rule.heads for argument in head.arguments]
    results = {
        id(aggregate): Variable(f"{aggregate.function}{OWN_MARK}h{number}", aggregate.place)
        for number, aggregate in enumerate(aggregates_in(*arguments))
    }
    if not results:
        return rule
    equations = [
        Comparison("=", results[id(aggregate)], aggregate, aggregate.place)
        for aggregate in aggregates_in(*arguments)
    ]
    replacing = Replacing(results)
    heads = tuple(replacing.atom(head) for head in rule.heads)
    return Rule(heads, Conjunction((rule.body, *equations)), rule.place, rule.text)
