"""Who has the smallest or greatest value.

A variable that only a min or max binds gets the values that reach it:

    oldest(who) :- n = max age : { person(who, age) }.

says the same as

    oldest(who) :- n = max a : { person(_, a) }, person(who, age), age = n.
"""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.datalog.language.aggregate_variables import (
    Names,
    Renaming,
    Replacing,
    aggregates_in,
    has_disjunction,
    literal_with,
    shared_variables,
    variables_outside,
)
from tocsin.datalog.language.alternatives import Literal, alternatives_of
from tocsin.datalog.language.groundedness import grounded
from tocsin.datalog.language.syntax import Aggregate, Argument, Comparison, Variable
from tocsin.datalog.language.tree_walk import parts_of


def with_witnesses(literals: Sequence[Literal], heads: Sequence[Argument], names: Names) -> list[Literal]:
    """The literals of a rule, and more where a variable of theirs, or of the heads, has no value without."""
    found = list(literals)
    place = 0
    while place < len(found):
        for aggregate in aggregates_in(found[place]):
            witnesses = _witnesses(aggregate, found, heads)
            if witnesses:
                found[place] = _exported(aggregate, witnesses, found, found[place], names)
        place += 1
    return found


def _witnesses(aggregate: Aggregate, literals: Sequence[Literal], heads: Sequence[Argument]) -> set[str]:
    """The variables that have a value in the aggregate only, and are used outside of it."""
    if aggregate.function not in ("min", "max") or has_disjunction(aggregate):
        return set()
    known = grounded(literals, (), lambda _aggregate, _known: True)
    outside = {variable.name for variable in variables_outside(*literals, *heads)}
    within = grounded(alternatives_of(aggregate.body)[0], known, lambda _aggregate, _known: True)
    return (_own_level(aggregate) & outside & within) - known


def _exported(
    aggregate: Aggregate, witnesses: set[str], literals: list[Literal], literal: Literal, names: Names
) -> Literal:
    """The literal with a variable for the aggregate; what binds it and the witnesses joins the literals."""
    if aggregate.value is None:
        raise AssertionError("min and max have a value")
    own = _own_level(aggregate) - shared_variables(aggregate, literals, ())
    result = Variable(names.fresh("r"), aggregate.place)
    again = Renaming({name: names.fresh(name) for name in own - witnesses})
    inner = Renaming({name: names.fresh(name) for name in own})
    literals.extend(literal_with(again, part) for part in alternatives_of(aggregate.body)[0])
    literals.append(Comparison("=", again.argument(aggregate.value), result, aggregate.place))
    literals.append(Comparison("=", result, inner.copied(aggregate), aggregate.place))
    return literal_with(Replacing({id(aggregate): result}), literal)


def _own_level(aggregate: Aggregate) -> set[str]:
    """The variables of an aggregate that stand in no aggregate within it."""
    return {variable.name for variable in variables_outside(*parts_of(aggregate))}
