"""Which variables of an aggregate are its own, and whether every variable of a rule has a value.

A variable within an aggregate is the rule's when it has a value outside of it; but one of the aggregate's
own value that its body binds is its own:

    p(x, n) :- q(x), n = sum y + x : { r(x, y) }.   two different x; y is the aggregate's
    p(x, n) :- q(x), n = sum y + x : { r(y, _) }.   one x
    p(x, n) :- q(x), n = sum y : { r(x, y) }.       one x

All others are the aggregate's own. Where such a name is used elsewhere in the rule too, it is renamed
here (to a name that nobody can write), so that afterwards equal names within a rule mean equal values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from tocsin.datalog.language.aggregate_variables import (
    Names,
    Renaming,
    Replacing,
    aggregates_in,
    has_disjunction,
    literal_with,
    shared_variables,
    variables_outside,
    written,
)
from tocsin.datalog.language.alternatives import Literal, alternatives_of, body_of
from tocsin.datalog.language.groundedness import grounded
from tocsin.datalog.language.problems import Problems
from tocsin.datalog.language.syntax import (
    Aggregate,
    Anonymous,
    Argument,
    Atom,
    Comparison,
    Operation,
    Variable,
)
from tocsin.datalog.language.tree_walk import Node, Rewriter, variables_in, walk
from tocsin.datalog.language.witnesses import with_witnesses


def scoped(
    heads: Sequence[Atom], literals: Sequence[Literal], problems: Problems
) -> tuple[tuple[Atom, ...], list[Literal]]:
    """One alternative of a rule with the own variables of aggregates renamed; notes what has no value."""
    return _RuleScope(heads, literals, problems).scoped()


class _RuleScope:
    """One alternative of a rule: all names in it, and those that are made."""

    def __init__(self, heads: Sequence[Atom], literals: Sequence[Literal], problems: Problems) -> None:
        self._heads = tuple(heads)
        self._literals = list(literals)
        self._problems = problems
        self._names = Names()
        self._blamed: set[str] = set()

    def scoped(self) -> tuple[tuple[Atom, ...], list[Literal]]:
        self._check_blanks()
        arguments = [argument for head in self._heads for argument in head.arguments]
        if not any(isinstance(node, Aggregate) for node in walk(*self._literals, *arguments)):
            known = grounded(self._literals, (), lambda _aggregate, _known: True)
            self._blame_unknown([*self._literals, *arguments], known)
            return self._heads, self._literals
        self._literals = [self._named_result(literal) for literal in self._literals]
        self._literals = with_witnesses(self._literals, arguments, self._names)
        total = Counter(variable.name for variable in variables_in(*self._literals, *arguments))
        new = self._in_scope(self._literals, arguments, frozenset(), total)
        heads = tuple(new.atom(head) for head in self._heads)
        return heads, [literal_with(new, literal) for literal in self._literals]

    def _in_scope(
        self,
        literals: Sequence[Literal],
        others: Sequence[Argument],
        given: Collection[str],
        total: Counter[str],
    ) -> Rewriter:
        """What replaces each aggregate that stands in these parts, at any depth of operations.

        `others` are arguments that bind nothing (of heads, or an aggregate's value), `given` the names that
        have a value from further out, `total` how often each name stands in the whole rule.
        """
        aggregates = aggregates_in(*literals, *others)
        shared = {id(aggregate): shared_variables(aggregate, literals, given) for aggregate in aggregates}
        known = grounded(literals, given, lambda aggregate, known: shared[id(aggregate)] <= known)
        self._blame_unknown([*literals, *others], known)
        return Replacing({id(each): self._inside(each, shared[id(each)], total) for each in aggregates})

    def _inside(self, aggregate: Aggregate, shared: Collection[str], total: Counter[str]) -> Aggregate:
        """The aggregate with its own names made its own, and those of the aggregates within it."""
        if has_disjunction(aggregate):
            self._problems.add(
                aggregate.place,
                "a disjunction within an aggregate is not supported: give it a relation with two rules",
            )
            return aggregate
        inside = Counter(variable.name for variable in variables_in(aggregate))
        own = {
            name: self._names.fresh(name)
            for name in inside
            if name not in shared and total[name] > inside[name]
        }
        renamed = Renaming(own).copied(aggregate)
        total = total.copy()
        for name, made in own.items():
            total[made] = inside[name]
            total[name] -= inside[name]
        literals = alternatives_of(renamed.body)[0]
        value = () if renamed.value is None else (renamed.value,)
        new = self._in_scope(literals, value, shared, total)
        return Aggregate(
            renamed.function,
            None if renamed.value is None else new.argument(renamed.value),
            body_of([[literal_with(new, literal) for literal in literals]]),
            renamed.place,
        )

    def _named_result(self, literal: Literal) -> Literal:
        """`_ = max x : ...` asks whether there is a result at all: as a variable that is used nowhere."""
        if not isinstance(literal, Comparison) or literal.operator != "=":
            return literal
        left, right = literal.left, literal.right
        if isinstance(left, Anonymous) and isinstance(right, Aggregate):
            left = Variable(self._names.fresh("_"), left.place)
        elif isinstance(right, Anonymous) and isinstance(left, Aggregate):
            right = Variable(self._names.fresh("_"), right.place)
        return Comparison("=", left, right, literal.place)

    def _blame_unknown(self, nodes: Sequence[Node], known: Collection[str]) -> None:
        within = {
            variable.name for aggregate in aggregates_in(*nodes) for variable in variables_in(aggregate)
        }
        for variable in variables_outside(*nodes):
            name = written(variable.name)
            if variable.name in known or name in self._blamed:
                continue
            self._blamed.add(name)
            where = " outside of the aggregate" if variable.name in within else ""
            self._problems.add(
                variable.place,
                f"'{name}' has no value{where}: it must stand in a positive atom, or equal what has a value",
            )

    def _check_blanks(self) -> None:
        """A `_` stands as an argument of a body's atom, and nowhere else."""
        for head in self._heads:
            for argument in head.arguments:
                if isinstance(argument, Anonymous):
                    self._problems.add(argument.place, "'_' has no value in a head")
        arguments = [argument for head in self._heads for argument in head.arguments]
        for node in walk(*self._literals, *arguments):
            if isinstance(node, Operation):
                blanks = [part for part in node.operands if isinstance(part, Anonymous)]
            elif isinstance(node, Aggregate):
                blanks = [node.value] if isinstance(node.value, Anonymous) else []
            elif isinstance(node, Comparison):
                sides = (node.left, node.right)
                asks = node.operator == "=" and any(isinstance(side, Aggregate) for side in sides)
                blanks = [] if asks else [side for side in sides if isinstance(side, Anonymous)]
            else:
                continue
            for blank in blanks:
                self._problems.add(blank.place, "'_' has no value here: give it a name")
