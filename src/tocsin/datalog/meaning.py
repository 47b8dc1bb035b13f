"""What a program means: the slow, obvious evaluator that the activation index is held to.

It works out one stratum after the other, each by applying all of its rules until nothing new comes. A
rule is applied by nested loops: all ways to match its positive atoms, one after the other, then
whatever else it says, as soon as the variables are known. Read it in this order:

    evaluate        all relations of a program
    applied         the tuples that one rule gives at the moment
    _NestedLoops    the assignments of variables that satisfy a list of literals
    Evaluator       what a literal and an argument mean under an assignment; `why` goes by it too

What literals bind and need is in language/conjunctions.py. An expression without a value (division by zero)
is an error only where all else holds that does not need it, so that `y != 0` guards `x / y` wherever the two
stand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tocsin.datalog.language import conjunctions, functors, syntax
from tocsin.datalog.language.arithmetic import Range
from tocsin.datalog.language.tree_walk import variables_in, walk_outside_aggregates
from tocsin.errors import DerivationError

Contents = dict[str, set[conjunctions.Tuple]]


def evaluate(
    program: syntax.CheckedProgram,
    facts: Mapping[str, Iterable[conjunctions.Tuple]],
    local: syntax.Value | None = None,
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
                derived = sum(map(len, contents.values())) - given
                if limit is not None and derived > limit:
                    raise DerivationError(f"more than {limit:,} tuples are derived", rule=rule.text)
            for name in stratum:
                if program.relations[name].eqrel:
                    contents[name] = equivalence(contents[name])
    return contents


def applied(
    rule: syntax.Rule, contents: Contents, local: syntax.Value | None = None
) -> list[tuple[str, conjunctions.Tuple]]:
    """The tuples that a rule gives for these contents, with the names of their relations."""
    loops = _NestedLoops(contents, local)
    try:
        return [
            (head.relation, tuple(loops.value(argument, binding, names) for argument in head.arguments))
            for literals in conjunctions.alternatives_of(rule.body)
            for names in [conjunctions.level_names(*literals, *syntax.arguments_of(rule.heads))]
            for binding in loops.assignments(literals, {}, names)
            for head in rule.heads
        ]
    except DerivationError as error:
        raise DerivationError(error.reason, rule=rule.text) from None


def equivalence(pairs: Iterable[conjunctions.Tuple]) -> set[conjunctions.Tuple]:
    """The least equivalence that holds these pairs, over the elements they mention."""
    classes: dict[syntax.Value, set[syntax.Value]] = {}
    for left, right in pairs:
        merged = classes.get(left, {left}) | classes.get(right, {right})
        classes.update(dict.fromkeys(merged, merged))
    return {(left, right) for left, members in classes.items() for right in members}


class Evaluator(ABC):
    """What literals and arguments mean over what is known, whichever way assignments are found.

    `names` are always the variables known outside aggregates, `local` the local address.
    """

    def __init__(self, local: syntax.Value | None) -> None:
        self.local = local

    @abstractmethod
    def matching(self, relation: str, columns: Mapping[int, syntax.Value]) -> Iterable[conjunctions.Tuple]:
        """Tuples of a relation, all among them that have these values in these columns, counted from 0."""

    @abstractmethod
    def assignments(
        self, literals: Sequence[conjunctions.Literal], start: conjunctions.Binding, names: conjunctions.Names
    ) -> Iterator[conjunctions.Binding]:
        """Every assignment that extends `start` and satisfies all of the literals."""

    def extensions(
        self,
        literal: syntax.Negation | syntax.Comparison,
        binding: conjunctions.Binding,
        bound: Collection[str],
        names: conjunctions.Names,
    ) -> Iterator[conjunctions.Binding]:
        """What an assignment becomes by one more literal: nothing when that does not hold.

        An equation gives its value to a variable that is not `bound` yet, a range each of its numbers.
        """
        if isinstance(literal, syntax.Negation):
            if not self._is_there(literal.atom, binding, names):
                yield binding
            return
        for name in conjunctions.unbound_sides(literal, bound):
            is_left = isinstance(literal.left, syntax.Variable) and literal.left.name == name
            value = self.value(literal.right if is_left else literal.left, binding, names)
            for each in value if isinstance(value, Range) else (value,):
                yield {**binding, name: each}
            return
        left, right = (self.value(side, binding, names) for side in (literal.left, literal.right))
        if functors.holds(literal.operator, left, right):
            yield binding

    def value(
        self, argument: syntax.Argument, binding: conjunctions.Binding, names: conjunctions.Names
    ) -> syntax.Value:
        """What an argument stands for. Raises DerivationError or NoResultError when it has no value."""
        values: list[syntax.Value] = []
        for part in reversed(list(walk_outside_aggregates(argument))):
            if isinstance(part, syntax.Constant):
                values.append(part.value)
            elif isinstance(part, syntax.Variable):
                if part.name not in binding:
                    raise DerivationError("a value that there is none of is needed")
                values.append(binding[part.name])
            elif isinstance(part, syntax.Aggregate):
                values.append(self._aggregate(part, binding, names))
            elif isinstance(part, syntax.Operation):
                operands = [values.pop() for _ in part.operands]
                values.append(functors.apply(part.functor, syntax.type_of(part.operands[0]), operands))
        return values.pop()

    def _is_there(self, atom: syntax.Atom, binding: conjunctions.Binding, names: conjunctions.Names) -> bool:
        columns = {
            column: self.value(argument, binding, names)
            for column, argument in enumerate(atom.arguments)
            if not isinstance(argument, syntax.Anonymous)
        }
        values = tuple(
            syntax.Constant(columns[column], located=conjunctions.is_located(argument))
            if column in columns
            else argument
            for column, argument in enumerate(atom.arguments)
        )
        held_to = replace(atom, arguments=values)
        return any(
            conjunctions.matched(held_to, held, {}, self.local) is not None
            for held in self.matching(atom.relation, columns)
        )

    def _aggregate(
        self, aggregate: syntax.Aggregate, binding: conjunctions.Binding, names: conjunctions.Names
    ) -> syntax.Value:
        """The result of an aggregate over its distinct assignments."""
        outside = names & {variable.name for variable in variables_in(aggregate)}
        if not outside <= binding.keys():
            raise DerivationError("a value that there is none of is needed")
        shared = {name: binding[name] for name in outside}
        own = () if aggregate.value is None else (aggregate.value,)
        values: dict[frozenset[tuple[str, syntax.Value]], syntax.Value] = {}
        for literals in conjunctions.alternatives_of(aggregate.body):
            inner = names | conjunctions.level_names(*literals, *own)
            for solution in self.assignments(literals, shared, inner):
                assignment = frozenset(
                    item for item in solution.items() if not item[0].startswith(conjunctions.HIDDEN)
                )
                values[assignment] = self.value(own[0], solution, inner) if own else 0
        value_type = own[0].type if own else None
        result = functors.aggregate(aggregate.function, value_type, list(values.values()))
        if result is None:
            raise conjunctions.NoResultError
        return result


class _NestedLoops(Evaluator):
    """Finds assignments by going through all there is.

    Each has the first error there was on the way. What needs a value that there is none of is taken to hold:
    the error stands, if all else holds too.
    """

    def __init__(self, contents: Contents, local: syntax.Value | None) -> None:
        super().__init__(local)
        self._contents = contents

    def matching(self, relation: str, columns: Mapping[int, syntax.Value]) -> Iterable[conjunctions.Tuple]:  # noqa: ARG002
        return self._contents[relation]

    def assignments(
        self, literals: Sequence[conjunctions.Literal], start: conjunctions.Binding, names: conjunctions.Names
    ) -> Iterator[conjunctions.Binding]:
        if any(isinstance(literal, syntax.Truth) and not literal.holds for literal in literals):
            return
        atoms, others = conjunctions.flat(literals)
        bindings = [dict(start)]
        bound = set(start)
        for atom in atoms:
            found = [
                conjunctions.matched(atom, held, binding, self.local)
                for binding in bindings
                for held in self._contents[atom.relation]
            ]
            bindings = [binding for binding in found if binding is not None]
            bound.update(
                argument.name for argument in atom.arguments if isinstance(argument, syntax.Variable)
            )
        satisfied: list[_Satisfied] = [(binding, None) for binding in bindings]
        while others:
            literal = next(literal for literal in others if conjunctions.is_ready(literal, bound, names))
            others.remove(literal)
            satisfied = list(self._narrowed(satisfied, literal, bound, names))
            if isinstance(literal, syntax.Comparison):
                bound.update(conjunctions.unbound_sides(literal, bound))
        for binding, error in satisfied:
            if error is not None:
                raise error
            yield binding

    def _narrowed(
        self,
        satisfied: list[_Satisfied],
        literal: syntax.Negation | syntax.Comparison,
        bound: set[str],
        names: conjunctions.Names,
    ) -> Iterator[_Satisfied]:
        """The assignments that satisfy one more literal."""
        for binding, error in satisfied:
            try:
                extended = list(self.extensions(literal, binding, bound, names))
            except conjunctions.NoResultError:
                continue
            except DerivationError as raised:
                yield binding, error or raised
            else:
                yield from ((each, error) for each in extended)


_Satisfied = tuple[conjunctions.Binding, DerivationError | None]
