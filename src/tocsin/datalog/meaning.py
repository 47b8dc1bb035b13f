"""What a program means: the slow, obvious evaluator that the activation index is held to.

It works out one stratum after the other, each by applying all of its rules until nothing new comes. A
rule is applied by nested loops: all ways to match its positive atoms, one after the other, then
whatever else it says, as soon as the variables are known. Read it in this order:

    evaluate        all relations of a program
    applied         the tuples that one rule gives at the moment
    _solutions      the assignments of variables that satisfy a list of literals

What literals bind and need is in language/conjunctions.py. An expression without a value (division by zero)
is an error only where all else holds that does not need it, so that `y != 0` guards `x / y` wherever the two
stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tocsin.datalog.language import functors
from tocsin.datalog.language.alternatives import Literal, alternatives_of
from tocsin.datalog.language.conjunctions import (
    HIDDEN,
    Binding,
    Names,
    NoResultError,
    Tuple,
    flat,
    is_located,
    is_ready,
    level_names,
    matched,
    unbound_sides,
    value_of,
)
from tocsin.datalog.language.syntax import (
    Aggregate,
    Anonymous,
    Argument,
    Atom,
    CheckedProgram,
    Comparison,
    Constant,
    Negation,
    Rule,
    Truth,
    Value,
    Variable,
)
from tocsin.datalog.language.tree_walk import variables_in
from tocsin.datalog.language.vocabulary import EACH
from tocsin.errors import DerivationError

Contents = dict[str, set[Tuple]]


def evaluate(
    program: CheckedProgram,
    facts: Mapping[str, Iterable[Tuple]],
    local: Value | None = None,
    limit: int | None = None,
) -> Contents:
    """Everything that holds, by relation: the facts given and in the program, and what the rules derive.

    `local` is the address that located arguments (`@x`) are held to, where one is given. Raises
    DerivationError when an expression has no value, or when more than `limit` tuples are derived.
    """
    contents: Contents = {name: set() for name in program.relations}
    for name, tuples in facts.items():
        contents[name].update(tuples)
    given = sum(map(len, contents.values()))
    for stratum in program.strata:
        rules = [rule for rule in program.rules if any(head.relation in stratum for head in rule.heads)]
        before = -1
        while before != (now := sum(map(len, contents.values()))):
            before = now
            for rule in rules:
                for name, new in applied(rule, contents, local):
                    if name in stratum:
                        contents[name].add(new)
                _check_limit(contents, given, limit, rule)
            for name in stratum:
                if program.relations[name].eqrel:
                    contents[name] = equivalence(contents[name])
    return contents


def applied(rule: Rule, contents: Contents, local: Value | None = None) -> list[tuple[str, Tuple]]:
    """The tuples that a rule gives for these contents, with the names of their relations."""
    try:
        return [
            (head.relation, tuple(_value(argument, binding, scope) for argument in head.arguments))
            for literals in alternatives_of(rule.body)
            for scope in [_Scope(contents, local, level_names(*literals, *_arguments(rule.heads)))]
            for binding in _solutions(literals, {}, scope)
            for head in rule.heads
        ]
    except DerivationError as error:
        raise DerivationError(error.reason, rule=rule.text) from None


def equivalence(pairs: Iterable[Tuple]) -> set[Tuple]:
    """The least equivalence that holds these pairs, over the elements they mention."""
    classes: dict[Value, set[Value]] = {}
    for left, right in pairs:
        merged = classes.get(left, {left}) | classes.get(right, {right})
        classes.update(dict.fromkeys(merged, merged))
    return {(left, right) for left, members in classes.items() for right in members}


def _check_limit(contents: Contents, given: int, limit: int | None, rule: Rule) -> None:
    derived = sum(map(len, contents.values())) - given
    if limit is not None and derived > limit:
        raise DerivationError(f"more than {limit:,} tuples are derived", rule=rule.text)


@dataclass(frozen=True)
class _Scope:
    """Where literals are read: what holds, the local address, and the names known outside aggregates."""

    contents: Contents
    local: Value | None
    names: Names


def _solutions(literals: Sequence[Literal], start: Binding, scope: _Scope) -> Iterator[Binding]:
    """Every assignment that extends `start` and satisfies all of the literals."""
    if any(isinstance(literal, Truth) and not literal.holds for literal in literals):
        return
    atoms, others = flat(literals)
    bindings = [dict(start)]
    bound = set(start)
    for atom in atoms:
        found = [
            matched(atom, held, binding, scope.local)
            for binding in bindings
            for held in scope.contents[atom.relation]
        ]
        bindings = [binding for binding in found if binding is not None]
        bound.update(argument.name for argument in atom.arguments if isinstance(argument, Variable))
    satisfied = _Satisfied(scope, [(binding, None) for binding in bindings])
    while others:
        literal = next(literal for literal in others if is_ready(literal, bound, scope.names))
        others.remove(literal)
        satisfied.narrow(literal, bound)
    for binding, error in satisfied.bindings:
        if error is not None:
            raise error
        yield binding


class _Satisfied:
    """The assignments that satisfy the literals so far, each with the first error there was on the way.

    What needs a value that there is none of is taken to hold: the error stands, if all else holds too.
    """

    def __init__(self, scope: _Scope, bindings: list[tuple[Binding, DerivationError | None]]) -> None:
        self._scope = scope
        self.bindings = bindings

    def narrow(self, literal: Negation | Comparison, bound: set[str]) -> None:
        """Keep those that satisfy one more literal; a variable that it binds is added to `bound`."""
        kept: list[tuple[Binding, DerivationError | None]] = []
        for binding, error in self.bindings:
            try:
                if isinstance(literal, Comparison) and literal.operator == EACH:
                    kept += [(each, error) for each in self._each(literal, binding, bound)]
                    continue
                if isinstance(literal, Negation):
                    satisfied = not self._is_there(literal.atom, binding)
                else:
                    satisfied = self._compares(literal, binding, bound)
                if satisfied:
                    kept.append((binding, error))
            except NoResultError:
                pass
            except DerivationError as raised:
                kept.append((binding, error or raised))
        self.bindings = kept
        if isinstance(literal, Comparison):
            bound.update(unbound_sides(literal, bound))

    def _each(self, comparison: Comparison, binding: Binding, bound: set[str]) -> list[Binding]:
        """The assignment with each number of a range, or as it is if its number is one of them."""
        numbers = _value(comparison.right, binding, self._scope)
        names = unbound_sides(comparison, bound)
        if names:
            return [{**binding, names[0]: number} for number in numbers]  # type: ignore[union-attr]
        return (
            [binding] if functors.holds(EACH, _value(comparison.left, binding, self._scope), numbers) else []
        )

    def _compares(self, comparison: Comparison, binding: Binding, bound: set[str]) -> bool:
        for name in unbound_sides(comparison, bound):
            is_left = isinstance(comparison.left, Variable) and comparison.left.name == name
            binding[name] = _value(comparison.right if is_left else comparison.left, binding, self._scope)
            return True
        left = _value(comparison.left, binding, self._scope)
        return functors.holds(comparison.operator, left, _value(comparison.right, binding, self._scope))

    def _is_there(self, atom: Atom, binding: Binding) -> bool:
        values = [
            argument
            if isinstance(argument, Anonymous)
            else Constant(_value(argument, binding, self._scope), located=is_located(argument))
            for argument in atom.arguments
        ]
        held_to = replace(atom, arguments=tuple(values))
        return any(
            matched(held_to, held, {}, self._scope.local) is not None
            for held in self._scope.contents[atom.relation]
        )


def _arguments(atoms: Iterable[Atom]) -> list[Argument]:
    return [argument for atom in atoms for argument in atom.arguments]


def _value(argument: Argument, binding: Binding, scope: _Scope) -> Value:
    return value_of(argument, binding, lambda aggregate: _aggregate_value(aggregate, binding, scope))


def _aggregate_value(aggregate: Aggregate, binding: Binding, scope: _Scope) -> Value:
    """The result of an aggregate over its distinct assignments."""
    inside = {variable.name for variable in variables_in(aggregate)}
    if not inside & scope.names <= binding.keys():
        raise DerivationError("a value that there is none of is needed")
    shared = {name: binding[name] for name in inside & scope.names}
    value = () if aggregate.value is None else (aggregate.value,)
    values: dict[frozenset[tuple[str, Value]], Value] = {}
    for literals in alternatives_of(aggregate.body):
        inner = replace(scope, names=scope.names | level_names(*literals, *value))
        for solution in _solutions(literals, shared, inner):
            assignment = frozenset(item for item in solution.items() if not item[0].startswith(HIDDEN))
            values[assignment] = 0 if aggregate.value is None else _value(aggregate.value, solution, inner)
    value_type = None if aggregate.value is None else aggregate.value.type
    result = functors.aggregate(aggregate.function, value_type, list(values.values()))
    if result is None:
        raise NoResultError
    return result
