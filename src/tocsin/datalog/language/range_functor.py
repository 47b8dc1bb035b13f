"""The functor `range`, which has many values: `x = range(a, b)` holds for every x from a up to b, b left out.

Within a rule every range becomes a comparison of its own, `x in range(...)`, which gives x its values, one by
one, or tests it where it has one. Nothing else of the language has more than one value.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from tocsin.datalog.language import syntax
from tocsin.datalog.language.functors import EACH, RANGE
from tocsin.datalog.language.scopes import OWN_MARK
from tocsin.datalog.language.sources import Problems
from tocsin.datalog.language.tree_walk import Rewriter, walk


def with_ranges(rule: syntax.Rule, problems: Problems) -> syntax.Rule:
    """The rule with a comparison for each of its ranges."""
    operations = [node for node in walk(*rule.parts) if isinstance(node, syntax.Operation)]
    ranges = [operation for operation in operations if operation.functor == RANGE]
    if not ranges:
        return rule
    for each in ranges:
        if len(each.operands) > 3:
            problems.add(each.place, f"'{RANGE}' takes 2 or 3 arguments, and has {len(each.operands)}")
    naming = _Naming()
    heads = tuple(map(naming.atom, rule.heads))
    equations = naming.taken()
    body = naming.body(rule.body)
    body = syntax.Conjunction((body, *equations)) if equations else body
    return syntax.Rule(heads, body, rule.place, rule.text)


class _Naming(Rewriter):
    """Puts variables in the place of ranges; what gives them their values joins the literal, or the body."""

    def __init__(self) -> None:
        self._numbers = count()
        self._equations: list[syntax.Comparison] = []

    def taken(self) -> list[syntax.Comparison]:
        """What gives the variables their values that were made since this was last asked."""
        equations, self._equations = self._equations, []
        return equations

    def operation(
        self, operation: syntax.Operation, operands: tuple[syntax.Argument, ...]
    ) -> syntax.Argument:
        copy = super().operation(operation, operands)
        if operation.functor != RANGE:
            return copy
        variable = syntax.Variable(f"{RANGE}{OWN_MARK}r{next(self._numbers)}", operation.place)
        self._equations.append(syntax.Comparison(EACH, variable, copy, operation.place))
        return variable

    def copied(self, aggregate: syntax.Aggregate) -> syntax.Aggregate:
        outside = self.taken()
        value = None if aggregate.value is None else self.argument(aggregate.value)
        own = self.taken()
        body = self.body(aggregate.body)
        self._equations = outside
        whole = syntax.Conjunction((body, *own)) if own else body
        return syntax.Aggregate(aggregate.function, value, whole, aggregate.place, aggregate.type)

    def body(self, body: syntax.Body) -> syntax.Body:
        if isinstance(body, syntax.Conjunction | syntax.Disjunction):
            return super().body(body)
        outside = self.taken()
        copy = super().body(body)
        own = self.taken()
        self._equations = outside
        return syntax.Conjunction(tuple(_renamed(copy, own))) if own else copy


def _renamed(literal: syntax.Body, equations: list[syntax.Comparison]) -> Iterator[syntax.Body]:
    """`x = range(...)` needs no other variable."""
    if isinstance(literal, syntax.Comparison) and literal.operator == "=" and len(equations) == 1:
        made = equations[0].left
        for side, other in ((literal.left, literal.right), (literal.right, literal.left)):
            if other == made and isinstance(side, syntax.Variable):
                yield syntax.Comparison(EACH, side, equations[0].right, literal.place)
                return
    yield literal
    yield from equations
