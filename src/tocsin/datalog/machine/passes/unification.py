"""Variables that are equal become one variable, those that equal a constant become the constant."""

from __future__ import annotations

from dataclasses import replace

from tocsin.datalog.language import functors
from tocsin.datalog.machine.normal_form import Atom, Call, Constant, Expression, Term, Test, Variable
from tocsin.datalog.machine.passes.clause import Clause, folded
from tocsin.errors import DerivationError


def unified(clause: Clause) -> Clause | None:
    """The clause without equations between variables and constants, and without tests of constants.

    None when it cannot hold. A test that is an error for its constants stays.
    """
    same = _Same()
    tests = clause.tests
    while True:
        kept: list[Test] = []
        was = len(same.terms)
        for test in tests:
            left, right = same.expression(test.left), same.expression(test.right)
            decided = _decided(test.operator, left, right)
            if decided is False:
                return None
            if decided is None and not (test.operator == "=" and same.join(left, right)):
                kept.append(test._replace(left=left, right=right))
        tests = kept
        if len(same.terms) == was:
            return _with_terms(clause, same, tests)


def _with_terms(clause: Clause, same: _Same, tests: list[Test]) -> Clause:
    new = clause.copy()
    new.head = same.atom(clause.head)
    new.failing = None if clause.failing is None else same.atom(clause.failing)
    new.atoms = list(dict.fromkeys(map(same.atom, clause.atoms)))
    new.negated = list(dict.fromkeys(map(same.atom, clause.negated)))
    new.tests = tests
    for place, each in enumerate(clause.pending):
        shared = {name: same.term(term) for name, term in each.shared.items()}
        new.pending[place] = replace(each, value=same.simple(each.value), shared=shared)
    new.results = [
        replace(each, value=same.simple(each.value), group=tuple(map(same.term, each.group)))
        for each in clause.results
    ]
    return new


def _decided(operator: str, left: Expression, right: Expression) -> bool | None:
    """Whether a test holds, where that is known without any tuple."""
    if isinstance(left, Constant) and isinstance(right, Constant):
        try:
            return functors.holds(operator, left.value, right.value)
        except DerivationError:
            return None
    if isinstance(left, Variable) and left == right and operator == "=":
        return True
    return None


class _Same:
    """What each variable is the same as, as far as that is known: another variable or a constant."""

    def __init__(self) -> None:
        self.terms: dict[Variable, Variable | Constant] = {}

    def join(self, left: Expression, right: Expression) -> bool:
        """Take note that two expressions are equal; False when that is not between variables and constants.

        Both have been looked up.
        """
        if isinstance(left, Variable) and not isinstance(right, Call):
            self.terms[left] = right
        elif isinstance(right, Variable) and not isinstance(left, Call):
            self.terms[right] = left
        else:
            return False
        return True

    def term(self, term: Term) -> Term:
        return self.simple(term) if isinstance(term, Variable) else term

    def atom(self, atom: Atom) -> Atom:
        return Atom(atom.relation, tuple(map(self.term, atom.terms)))

    def expression(self, expression: Expression) -> Expression:
        """With variables looked up, and folded again."""
        if not isinstance(expression, Call):
            return self.simple(expression)
        operands = tuple(map(self.expression, expression.operands))
        return folded(Call(expression.functor, expression.type, operands))

    def simple(self, found: Variable | Constant) -> Variable | Constant:
        """What a variable is the same as; all that is passed on the way then points straight there."""
        passed = []
        while isinstance(found, Variable) and found in self.terms:
            passed.append(found)
            found = self.terms[found]
        self.terms.update(dict.fromkeys(passed, found))
        return found
