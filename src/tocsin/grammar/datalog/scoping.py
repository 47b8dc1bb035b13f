"""Which variables of an aggregate are its own, and whether every variable of a rule has a value.

A variable within an aggregate is the rule's when it has a value outside of it; but one of the aggregate's
own value that its body binds is its own:

    p(x, n) :- q(x), n = sum y + x : { r(x, y) }.   two different x; y is the aggregate's
    p(x, n) :- q(x), n = sum y + x : { r(y, _) }.   one x
    p(x, n) :- q(x), n = sum y : { r(x, y) }.       one x

All others are the aggregate's own. Where such a name is used elsewhere in the rule too, it is renamed
here (to a name that nobody can write), so that afterwards equal names within a rule mean equal values.

A min or max may also say who has that value: a variable that has none outside of the aggregate

    oldest(who) :- n = max age : { person(who, age) }.

gets one from the assignments that reach it, as if there were a second `person(who, age), age = n`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from tocsin.grammar.datalog.alternatives import Literal, alternatives_of, body_of
from tocsin.grammar.datalog.grounding import grounded
from tocsin.grammar.datalog.problems import Problems
from tocsin.grammar.datalog.syntax import (
    Aggregate,
    Anonymous,
    Argument,
    Atom,
    Comparison,
    Conjunction,
    Disjunction,
    Negation,
    Operation,
    Positive,
    Rule,
    Variable,
)
from tocsin.grammar.datalog.walking import Node, Rewriter, variables_in, walk, walk_outside_aggregates

OWN_MARK = "'"
"""What a name that was made here has in it, and no name that can be written."""


def scoped(
    heads: Sequence[Atom], literals: Sequence[Literal], problems: Problems
) -> tuple[tuple[Atom, ...], list[Literal]]:
    """One alternative of a rule with the own variables of aggregates renamed; notes what has no value."""
    return _RuleScope(heads, literals, problems).scoped()


def without_head_aggregates(rule: Rule) -> Rule:
    """The rule with each aggregate of its heads moved to its body: `h(x, n) :- b(x), n = count : ...`."""
    arguments = [argument for head in rule.heads for argument in head.arguments]
    results = {
        id(aggregate): Variable(f"{aggregate.function}{OWN_MARK}h{number}", aggregate.place)
        for number, aggregate in enumerate(_aggregates_in(*arguments))
    }
    if not results:
        return rule
    equations = [
        Comparison("=", results[id(aggregate)], aggregate, aggregate.place)
        for aggregate in _aggregates_in(*arguments)
    ]
    replacing = _Replacing(results)
    heads = tuple(replacing.atom(head) for head in rule.heads)
    return Rule(heads, Conjunction((rule.body, *equations)), rule.place, rule.text)


class _RuleScope:
    """One alternative of a rule: all names in it, and those that are made."""

    def __init__(self, heads: Sequence[Atom], literals: Sequence[Literal], problems: Problems) -> None:
        self._heads = tuple(heads)
        self._literals = list(literals)
        self._problems = problems
        self._made = 0
        self._blamed: set[str] = set()

    def scoped(self) -> tuple[tuple[Atom, ...], list[Literal]]:
        self._check_blanks()
        arguments = [argument for head in self._heads for argument in head.arguments]
        if not any(isinstance(node, Aggregate) for node in walk(*self._literals, *arguments)):
            known = grounded(self._literals, (), lambda _aggregate, _known: True)
            self._blame_unknown([*self._literals, *arguments], known)
            return self._heads, self._literals
        self._literals = [self._named_result(literal) for literal in self._literals]
        self._export_witnesses(arguments)
        total = Counter(variable.name for variable in variables_in(*self._literals, *arguments))
        new = self._in_scope(self._literals, arguments, frozenset(), total)
        heads = tuple(new.atom(head) for head in self._heads)
        return heads, [_literal(new, literal) for literal in self._literals]

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
        aggregates = _aggregates_in(*literals, *others)
        shared = {id(aggregate): _shared(aggregate, literals, given) for aggregate in aggregates}
        known = grounded(literals, given, lambda aggregate, known: shared[id(aggregate)] <= known)
        self._blame_unknown([*literals, *others], known)
        return _Replacing({id(each): self._inside(each, shared[id(each)], total) for each in aggregates})

    def _inside(self, aggregate: Aggregate, shared: Collection[str], total: Counter[str]) -> Aggregate:
        """The aggregate with its own names made its own, and those of the aggregates within it."""
        if _has_disjunction(aggregate):
            self._problems.add(
                aggregate.place,
                "a disjunction within an aggregate is not supported: give it a relation with two rules",
            )
            return aggregate
        inside = Counter(variable.name for variable in variables_in(aggregate))
        own = {
            name: self._fresh(name) for name in inside if name not in shared and total[name] > inside[name]
        }
        renamed = _Renaming(own).copied(aggregate)
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
            body_of([[_literal(new, literal) for literal in literals]]),
            renamed.place,
        )

    def _export_witnesses(self, arguments: Sequence[Argument]) -> None:
        """Give the variables that only a min or max binds the values that reach it."""
        place = 0
        while place < len(self._literals):
            literal = self._literals[place]
            for aggregate in _aggregates_in(literal):
                literal = self._without_witnesses(literal, aggregate, arguments)
                self._literals[place] = literal
            place += 1

    def _without_witnesses(
        self, literal: Literal, aggregate: Aggregate, arguments: Sequence[Argument]
    ) -> Literal:
        known = grounded(self._literals, (), lambda _aggregate, _known: True)
        outside = {variable.name for variable in _variables_outside(*self._literals, *arguments)}
        inside = {variable.name for variable in _variables_outside(*_level(aggregate))}
        witnesses = (inside & outside) - known
        if not witnesses or _has_disjunction(aggregate):
            return literal
        if aggregate.function not in ("min", "max") or aggregate.value is None:
            return literal
        body = alternatives_of(aggregate.body)[0]
        witnesses &= grounded(body, known, lambda _aggregate, _known: True)
        if not witnesses:
            return literal
        shared = _shared(aggregate, self._literals, ())
        own = {name: self._fresh(name) for name in inside - shared}
        result = Variable(self._fresh("r"), aggregate.place)
        copied = _Renaming({name: made for name, made in own.items() if name not in witnesses})
        again = {name: self._fresh(name) for name in inside - shared}
        self._literals.extend(_literal(copied, part) for part in body)
        self._literals.append(Comparison("=", copied.argument(aggregate.value), result, aggregate.place))
        self._literals.append(Comparison("=", result, _Renaming(again).copied(aggregate), aggregate.place))
        return _literal(_Replacing({id(aggregate): result}), literal)

    def _named_result(self, literal: Literal) -> Literal:
        """`_ = max x : ...` asks whether there is a result at all: as a variable that is used nowhere."""
        if not isinstance(literal, Comparison) or literal.operator != "=":
            return literal
        left, right = literal.left, literal.right
        if isinstance(left, Anonymous) and isinstance(right, Aggregate):
            left = Variable(self._fresh("_"), left.place)
        elif isinstance(right, Anonymous) and isinstance(left, Aggregate):
            right = Variable(self._fresh("_"), right.place)
        return Comparison("=", left, right, literal.place)

    def _fresh(self, name: str) -> str:
        self._made += 1
        return f"{name.split(OWN_MARK)[0]}{OWN_MARK}{self._made}"

    def _blame_unknown(self, nodes: Sequence[Node], known: Collection[str]) -> None:
        within = {
            variable.name for aggregate in _aggregates_in(*nodes) for variable in variables_in(aggregate)
        }
        for variable in _variables_outside(*nodes):
            name = variable.name.split(OWN_MARK)[0]
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


class _Renaming(Rewriter):
    """Gives variables other names."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def variable(self, variable: Variable) -> Argument:
        name = self._names.get(variable.name)
        return variable if name is None else Variable(name, variable.place, variable.type, variable.located)


class _Replacing(Rewriter):
    """Puts other arguments in the place of aggregates, by identity."""

    def __init__(self, arguments: Mapping[int, Argument]) -> None:
        self._arguments = arguments

    def aggregate(self, aggregate: Aggregate) -> Argument:
        return self._arguments.get(id(aggregate), aggregate)


def _literal(rewriter: Rewriter, literal: Literal) -> Literal:
    copy = rewriter.body(literal)
    if not isinstance(copy, Positive | Negation | Comparison) and copy is not literal:
        raise AssertionError("a literal stays one")
    return copy if isinstance(copy, Positive | Negation | Comparison) else literal


def _shared(aggregate: Aggregate, literals: Sequence[Literal], given: Collection[str]) -> set[str]:
    """The variables of an aggregate that are the rule's.

    They have a value outside of it, and are not both bound by its body and part of its own value.
    """
    known = grounded(literals, given, lambda other, _known: other is not aggregate)
    known &= {variable.name for variable in variables_in(aggregate)}
    if aggregate.value is not None and not _has_disjunction(aggregate):
        body = alternatives_of(aggregate.body)[0]
        own = grounded(body, (), lambda _aggregate, _known: True)
        known -= own & {variable.name for variable in variables_in(aggregate.value)}
    return known


def _has_disjunction(aggregate: Aggregate) -> bool:
    return any(isinstance(node, Disjunction) for node in walk(aggregate.body))


def _aggregates_in(*nodes: Node) -> list[Aggregate]:
    return [node for node in walk_outside_aggregates(*nodes) if isinstance(node, Aggregate)]


def _variables_outside(*nodes: Node) -> Iterator[Variable]:
    return (node for node in walk_outside_aggregates(*nodes) if isinstance(node, Variable))


def _level(aggregate: Aggregate) -> tuple[Node, ...]:
    """The parts of an aggregate itself, without those of the aggregates within it."""
    return (aggregate.body,) if aggregate.value is None else (aggregate.value, aggregate.body)
