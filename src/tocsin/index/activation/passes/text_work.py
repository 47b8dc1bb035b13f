"""What is done in Python to a tuple: equations and tests on texts, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tocsin.errors import DerivationError
from tocsin.grammar.datalog import functors
from tocsin.grammar.datalog.syntax import Value
from tocsin.index.activation.normal_form import (
    Anything,
    Call,
    Constant,
    Expression,
    Let,
    Source,
    Term,
    Test,
    Variable,
)
from tocsin.index.activation.passes.clause import variables_of

Values = Mapping[Variable, Value]


def value_of(expression: Expression, values: Values) -> Value:
    """What an expression comes to. Raises DerivationError when it has no value."""
    if isinstance(expression, Call):
        operands = [value_of(operand, values) for operand in expression.operands]
        return functors.apply(expression.functor, expression.type, operands)
    return values[expression] if isinstance(expression, Variable) else expression.value


@dataclass(frozen=True, slots=True)
class TextWork:
    """The function of a MapRule: from the tuple `takes` to the tuple `gives`, if the tests hold.

    A let or test without a value is an error only if all others hold that do not need it: `strlen(x) > 0`
    guards `to_number(x)`.
    """

    takes: tuple[Term, ...]
    work: tuple[Let | Test, ...]
    gives: tuple[Term, ...]
    source: Source

    def __call__(self, row: tuple[Value, ...]) -> list[tuple[Value, ...]]:
        """The tuples that come of a tuple: one, or none."""
        values = {
            term: value for term, value in zip(self.takes, row, strict=True) if isinstance(term, Variable)
        }
        failure: DerivationError | None = None
        for part in self.work:
            try:
                if isinstance(part, Let):
                    values[part.variable] = value_of(part.expression, values)
                elif not functors.holds(
                    part.operator, value_of(part.left, values), value_of(part.right, values)
                ):
                    return []
            except DerivationError as error:
                failure = error
            except KeyError:
                if failure is None:
                    raise
        if failure is not None:
            raise DerivationError(failure.reason, rule=self.source.text)
        return [tuple(_given(term, values) for term in self.gives)]


def _given(term: Term, values: Values) -> Value:
    if isinstance(term, Constant):
        return term.value
    if isinstance(term, Anything):
        raise TypeError("a column that is not looked at has no value")
    return values[term]


def needed(part: Let | Test) -> set[Variable]:
    """The variables that a piece of work takes."""
    if isinstance(part, Let):
        return set(variables_of(part.expression))
    return set(variables_of(part.left, part.right))
