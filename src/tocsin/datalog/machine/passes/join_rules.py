"""A clause of atoms and tests that kernels can work out becomes a JoinRule, or a fact."""

from __future__ import annotations

from tocsin.datalog.language.syntax import Type
from tocsin.datalog.machine import normal_form as nf
from tocsin.datalog.machine.passes import clause as clauses
from tocsin.datalog.machine.passes.program_builder import Made
from tocsin.datalog.machine.passes.text_work import value_of
from tocsin.errors import DerivationError


def emit(clause: clauses.Clause, made: Made) -> None:
    """Add what the clause comes to. Raises DerivationError when it is a fact without a value."""
    if clause.failing is not None and any(map(clauses.can_fail, clause.tests)):
        made.steps.append(join_rule(clause, made, nf.Failing.NOTHING))
        if clause.failing != clauses.NOWHERE:
            told = clause.copy()
            told.head = nf.Atom(
                clause.failing.relation, (*clause.failing.terms, nf.Constant(_reason(clause)))
            )
            made.steps.append(join_rule(told, made, nf.Failing.THE_HEAD))
        return
    if clause.atoms or clause.negated:
        made.steps.append(join_rule(clause, made))
        return
    try:
        for test in clause.tests:
            for side in (test.left, test.right):
                if not any(nf.variables_of(side)):
                    value_of(side, {})
    except DerivationError as error:
        raise DerivationError(error.reason, rule=clause.source.text) from None
    values = tuple(term.value for term in clause.head.terms if isinstance(term, nf.Constant))
    made.fact(clause.head.relation, values)


def _reason(clause: clauses.Clause) -> str:
    """Why kernels fail to work out a clause: floats may also come to what is no number."""
    is_certain = all(test.type is not Type.FLOAT for test in filter(clauses.can_fail, clause.tests))
    return "division by zero" if is_certain else "division by zero, or the result is not a number"


def join_rule(clause: clauses.Clause, made: Made, failing: nf.Failing = nf.Failing.AN_ERROR) -> nf.JoinRule:
    """The rule, with its variables numbered in the order in which they occur."""
    lets, tests = _lets_and_tests(clause)
    numbers = _Numbers()
    put = numbers.expression
    body = tuple(map(numbers.atom, clause.atoms or [made.once()]))
    head, negated = numbers.atom(clause.head), tuple(map(numbers.atom, clause.negated))
    new_lets = tuple(nf.Let(numbers.variable(let), put(value), kind) for let, value, kind in lets)
    new_tests = tuple(test._replace(left=put(test.left), right=put(test.right)) for test in tests)
    return nf.JoinRule(head, body, negated, new_lets, new_tests, clause.source, failing)


def _lets_and_tests(clause: clauses.Clause) -> tuple[list[nf.Let], list[nf.Test]]:
    """Equations as lets, those first that bind a variable, in an order in which they can be worked out.

    An equation for a variable that an atom binds is a let too: it may find the atom's tuples.
    """
    in_atoms = clauses.atom_variables(clause.atoms)
    solutions, others = clauses.solved_in_order(clause.tests, set(in_atoms))
    lets = [*solutions]
    tests: list[nf.Test] = []
    for test in others:
        if test.operator == "=" and test.left in in_atoms and isinstance(test.left, nf.Variable):
            lets.append(nf.Let(test.left, test.right, test.type))
        elif test.operator == "=" and test.right in in_atoms and isinstance(test.right, nf.Variable):
            lets.append(nf.Let(test.right, test.left, test.type))
        else:
            tests.append(test)
    return lets, tests


class _Numbers:
    """New numbers for the variables of one rule."""

    def __init__(self) -> None:
        self._numbers: dict[nf.Variable, nf.Variable] = {}

    def variable(self, variable: nf.Variable) -> nf.Variable:
        return self._numbers.setdefault(variable, nf.Variable(len(self._numbers)))

    def atom(self, atom: nf.Atom) -> nf.Atom:
        terms: tuple[nf.Term, ...] = tuple(
            self.variable(term) if isinstance(term, nf.Variable) else term for term in atom.terms
        )
        return nf.Atom(atom.relation, terms)

    def expression(self, expression: nf.Expression) -> nf.Expression:
        if isinstance(expression, nf.Call):
            return expression._replace(operands=tuple(map(self.expression, expression.operands)))
        return self.variable(expression) if isinstance(expression, nf.Variable) else expression
