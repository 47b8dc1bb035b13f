"""Expressions that may have no value.

`x / y` is an error where y is 0, but only if all else in its rule holds: `y != 0` guards it wherever it
stands. So what may fail is worked out last, and a variable that gets its value so has a *mark*, a bit by
which a plan remembers that it has none.
"""

from __future__ import annotations

from tocsin.datalog.language.functors import is_total
from tocsin.datalog.language.syntax import Type
from tocsin.datalog.machine import normal_form as nf

_MOST_MARKS = 61
OF_A_TEST = 1 << _MOST_MARKS
"""The mark of a test that failed, which nothing needs."""


def variables_in(*expressions: nf.Expression) -> set[int]:
    """The variables of expressions, by number."""
    return {variable.number for variable in nf.variables_of(*expressions)}


def may_fail(expression: nf.Expression) -> bool:
    """Whether an expression has no value for some operands: a division by what is no constant, for one."""
    calls = (part for part in nf.parts_of(expression) if isinstance(part, nf.Call))
    return any(not is_total(call.functor, call.type) and not _is_harmless(call) for call in calls)


def _is_harmless(call: nf.Call) -> bool:
    """A division by a constant other than zero, or a power with a constant that is not negative."""
    last = call.operands[-1]
    if call.type is Type.FLOAT or not isinstance(last, nf.Constant) or isinstance(last.value, str):
        return False
    return last.value >= 0 if call.functor == "^" else last.value != 0


def marks_of(rule: nf.JoinRule) -> dict[int, int]:
    """For each computed variable that may have no value, a bit; beyond 61 of them several share the last."""
    atoms = {term.number for atom in rule.body for term in atom.terms if isinstance(term, nf.Variable)}
    uncertain: list[int] = []
    found = True
    while found:
        found = False
        for let in rule.lets:
            number = let.variable.number
            if number in uncertain or number in atoms:
                continue
            if may_fail(let.expression) or not variables_in(let.expression).isdisjoint(uncertain):
                uncertain.append(number)
                found = True
    return {number: 1 << min(place, _MOST_MARKS - 1) for place, number in enumerate(uncertain)}
