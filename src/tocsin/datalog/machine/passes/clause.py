"""A clause: one alternative of a rule on its way to the normal form.

    head :- atoms, !negated, tests, aggregates, results.

Terms and expressions are those of the normal form, with numbers of variables that are unique in a rule;
besides arithmetic, a Call may be of a text functor, and its type is then that of its first operand. An
equation is a test with `=`: only when a rule is emitted is it decided which of them bind a variable.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tocsin.datalog.language import functors, syntax
from tocsin.datalog.language.functors import EACH, RANGE
from tocsin.datalog.language.syntax import Type, Value
from tocsin.datalog.machine import normal_form as nf
from tocsin.datalog.machine.partial_expressions import may_fail
from tocsin.errors import DerivationError


@dataclass(frozen=True, slots=True)
class Pending:
    """An aggregate whose result is `value`. `shared` are the names in it that are known outside."""

    value: nf.Variable | nf.Constant
    aggregate: syntax.Aggregate
    shared: Mapping[str, nf.Term]

    def group(self) -> list[nf.Variable]:
        """The variables outside that its result depends on, each once."""
        return list(dict.fromkeys(term for term in self.shared.values() if isinstance(term, nf.Variable)))


class Aggregation(NamedTuple):
    """The relations of an aggregate: its results (group..., result), and what they are worked out from.

    `origin` has `others` columns behind the group. `order` says which variable of the group, in the order in
    which they were met, each column of it holds; `failures` has (group..., reason) for groups for which the
    aggregate is an error, if there may be any.
    """

    table: str
    origin: str
    order: tuple[int, ...]
    others: int
    failures: str | None


@dataclass(frozen=True, slots=True)
class Result:
    """`value` is the result of an aggregate for a group, in the table of these relations.

    Where the group has no tuples in their origin, it is `of_nothing`, or there is none.
    """

    value: nf.Variable | nf.Constant
    type: Type
    relations: Aggregation
    group: tuple[nf.Term, ...]
    of_nothing: Value | None

    def needs(self) -> set[nf.Variable]:
        """The variables of the group."""
        return {term for term in self.group if isinstance(term, nf.Variable)}


NOWHERE = nf.Atom("", ())


@dataclass(slots=True)
class Clause:
    """A conjunction and its head. `recursive` are the relations that depend on the head.

    What has no value where all else holds is an error. But where `failing` is an atom, it then gives a tuple
    of that, with the reason behind its terms; a tuple of NOWHERE is not kept.
    """

    head: nf.Atom
    source: nf.Source
    recursive: frozenset[str]
    types: dict[nf.Variable, Type]
    failing: nf.Atom | None = None
    atoms: list[nf.Atom] = field(default_factory=list)
    negated: list[nf.Atom] = field(default_factory=list)
    tests: list[nf.Test] = field(default_factory=list)
    pending: list[Pending] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)

    def fresh(self, variable_type: Type) -> nf.Variable:
        """A new variable. `types` is shared by all clauses of a rule, so that it is new to all of them."""
        variable = nf.Variable(len(self.types))
        self.types[variable] = variable_type
        return variable

    def copy(self) -> Clause:
        """A clause that can be changed without changing this one."""
        whole = (self.head, self.source, self.recursive, self.types, self.failing)
        return Clause(*whole, [*self.atoms], [*self.negated], [*self.tests], [*self.pending], [*self.results])


def atom_variables(atoms: Iterable[nf.Atom]) -> set[nf.Variable]:
    """The variables in atoms."""
    return {term for atom in atoms for term in atom.terms if isinstance(term, nf.Variable)}


def test_variables(test: nf.Test) -> set[nf.Variable]:
    """The variables in a test."""
    return set(nf.variables_of(test.left, test.right))


def solved_for(test: nf.Test, bound: Container[nf.Variable]) -> tuple[nf.Variable, nf.Expression] | None:
    """The variable that an equation gives a value, and the expression that has it.

    None when it is no equation, when the variable is bound already, or when something else is not bound.
    """
    if test.operator not in ("=", EACH):
        return None
    for variable, expression in ((test.left, test.right), (test.right, test.left)):
        if isinstance(variable, nf.Variable) and variable not in bound:
            return (variable, expression) if all(v in bound for v in nf.variables_of(expression)) else None
    return None


def solved_in_order(
    tests: Sequence[nf.Test], bound: set[nf.Variable]
) -> tuple[dict[nf.Let, nf.Test], list[nf.Test]]:
    """The equations that bind further variables, in an order in which they can be, and the other tests.

    Each equation is there as a let, too. The variables are added to `bound`.
    """
    solutions: dict[nf.Let, nf.Test] = {}
    waiting = list(tests)
    while True:
        left: list[nf.Test] = []
        for test in waiting:
            solution = solved_for(test, bound)
            if solution is None:
                left.append(test)
            else:
                solutions[nf.Let(*solution, test.type)] = test
                bound.add(solution[0])
        if len(left) == len(waiting):
            return solutions, left
        waiting = left


def bound_by(atoms: Iterable[nf.Atom], tests: Sequence[nf.Test]) -> tuple[set[nf.Variable], list[nf.Test]]:
    """What atoms bind, with the help of equations, and the tests that this decides, equations first."""
    bound = atom_variables(atoms)
    solutions, others = solved_in_order(tests, bound)
    return bound, [*solutions.values(), *(test for test in others if test_variables(test) <= bound)]


def folded(call: nf.Call) -> nf.Call | nf.Constant:
    """A call of constants becomes its value, if it has one."""
    values = [operand.value for operand in call.operands if isinstance(operand, nf.Constant)]
    if len(values) < len(call.operands) or call.functor == RANGE:
        return call
    try:
        return nf.Constant(functors.apply(call.functor, call.type, values))
    except DerivationError:
        return call


def is_text_work(expression: nf.Expression | nf.Anything) -> bool:
    """Whether kernels cannot work it out: something in it takes or gives texts, or converts."""
    calls = (part for part in nf.parts_of(expression) if isinstance(part, nf.Call))
    return not all(functors.is_arithmetic(call.functor, call.type) for call in calls)


def is_text_test(test: nf.Test) -> bool:
    """Whether kernels cannot tell if it holds."""
    if test.type is Type.SYMBOL and test.operator not in ("=", "!="):
        return True
    return is_text_work(test.left) or is_text_work(test.right)


def can_fail(test: nf.Test) -> bool:
    """Whether there may be values for which it is an error."""
    if test.operator in ("match", "!match") and not isinstance(test.left, nf.Constant):
        return True
    return may_fail(test.left) or may_fail(test.right)
