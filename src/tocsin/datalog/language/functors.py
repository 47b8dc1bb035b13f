"""The functors, comparisons and aggregates of programs: a row for each, which all else goes by.

Parser, printer and checker go by how it is written and typed; the evaluator, the machine and Spark by what it
means; the kernels of the machine and of Spark's workers by their name for it. What the rows refer to is in
arithmetic.py. docs/architecture.md has the recipe for another one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from tocsin.datalog.language.arithmetic import (
    BITS,
    Range,
    cat,
    float_of_text,
    floating,
    integer_of_float,
    integer_of_text,
    match,
    mean_of,
    number,
    power,
    quotient,
    remainder,
    substr,
    sum_of,
    unsigned,
)
from tocsin.datalog.language.syntax import Type, Value

EACH = "in"
"""The comparison of a variable with a range, which nobody can write."""

RANGE = "range"
"""The functor that has many values."""

CAST = "as"
"""The functor of `as(x, T)`: its second operand is a Constant that holds the type's name."""

_NUMBER, _SYMBOL, _FLOAT = (frozenset({kind}) for kind in (Type.NUMBER, Type.SYMBOL, Type.FLOAT))
_INTEGERS = frozenset({Type.NUMBER, Type.UNSIGNED})
_NUMERIC = _INTEGERS | _FLOAT
_ANY = frozenset(Type)

Types = frozenset[Type]
Function = Callable[..., Value]
Fit = Callable[[Any], Any]
"""Brings a result into its type: a whole number into 64 bits, say."""


class Signature(NamedTuple):
    """What a functor takes and gives.

    `operands` holds the types that each operand may have. The result has the type `result`; without one, all
    operands and the result have one and the same type, any of those. With `variadic`, there may be any number
    of operands like the first, at least so many as given.
    """

    operands: tuple[Types, ...]
    result: Type | None = None
    variadic: bool = False

    def takes(self, count: int) -> bool:
        """Whether there may be so many operands."""
        return count >= len(self.operands) if self.variadic else count == len(self.operands)

    def operand(self, place: int) -> Types:
        """The types that an operand may have."""
        return self.operands[0 if self.variadic else place]


class Functor(NamedTuple):
    """What a functor is.

    signature    what it takes and gives
    meaning      its value, by the type of its first operand
    partial      the types of its first operand with which it has no value for some operands
    binding      how strongly it binds its operands, if it is written between them: all but ^ from the left
    kernel       what kernels/arithmetic.py calls it; None for what needs texts or another type
    """

    signature: Signature
    meaning: Mapping[Type, Function]
    partial: Types = frozenset()
    binding: int = 0
    kernel: str | None = None


class ComparisonOperator(NamedTuple):
    """What a comparison is: whether it holds, which one holds when it does not, and what kernels call it.

    Those that kernels know compare columns of Spark, too.
    """

    holds: Callable[[Any, Any], Any]
    opposite: str | None
    kernel: str | None = None


class AggregateFunction(NamedTuple):
    """What an aggregate is: its value of some values of a type, and whether it has one of none."""

    signature: Signature
    of: Callable[[Sequence[Any], Type | None], Value]
    of_none: bool = False


_FITS: dict[Type, Fit] = {Type.NUMBER: number, Type.UNSIGNED: unsigned, Type.FLOAT: floating}


def _between(
    binding: int,
    kernel: str,
    function: Callable[[Fit], Function],
    kinds: Types = _INTEGERS,
    *,
    divides: bool = False,
) -> Functor:
    """An operator between two values of one of these types; one that divides has not always a value."""
    meaning = {kind: function(fit) for kind, fit in _FITS.items() if kind in kinds}
    return Functor(Signature((kinds, kinds)), meaning, kinds if divides else kinds & _FLOAT, binding, kernel)


def _before(kernel: str, function: Callable[[Fit], Function], kinds: Types = _INTEGERS) -> Functor:
    """An operator before one value."""
    meaning = {kind: function(fit) for kind, fit in _FITS.items() if kind in kinds | _INTEGERS}
    return Functor(Signature((kinds,)), meaning, kernel=kernel)


def _best(kernel: str, function: Function) -> Functor:
    return Functor(Signature((_ANY, _ANY), variadic=True), dict.fromkeys(Type, function), kernel=kernel)


def _conversion(
    result: Type, of_integers: Function, of_floats: Function, of_texts: Function, partial: Types
) -> Functor:
    meaning = {Type.NUMBER: of_integers, Type.UNSIGNED: of_integers, Type.FLOAT: of_floats}
    return Functor(Signature((_ANY,), result), meaning | {Type.SYMBOL: of_texts}, partial)


def _same(value: Value) -> Value:
    return value


FUNCTORS: dict[str, Functor] = {
    "lor": _between(1, "EITHER", lambda _: lambda x, y: int(x != 0 or y != 0)),
    "lxor": _between(2, "ONE_OF", lambda _: lambda x, y: int((x != 0) != (y != 0))),
    "land": _between(3, "BOTH", lambda _: lambda x, y: int(x != 0 and y != 0)),
    "bor": _between(4, "BIT_OR", lambda fit: lambda x, y: fit(x | y)),
    "bxor": _between(5, "BIT_XOR", lambda fit: lambda x, y: fit(x ^ y)),
    "band": _between(6, "BIT_AND", lambda fit: lambda x, y: fit(x & y)),
    "bshl": _between(7, "SHIFT_LEFT", lambda fit: lambda x, by: fit(x << by % BITS)),
    "bshr": _between(7, "SHIFT_RIGHT", lambda fit: lambda x, by: fit(x >> by % BITS)),
    "bshru": _between(7, "SHIFT_RIGHT_ZEROS", lambda fit: lambda x, by: fit(unsigned(x) >> by % BITS)),
    "+": _between(8, "ADD", lambda fit: lambda x, y: fit(x + y), _NUMERIC)._replace(
        signature=Signature((_ANY, _ANY))  # of symbols it becomes cat
    ),
    "-": _between(8, "SUBTRACT", lambda fit: lambda x, y: fit(x - y), _NUMERIC),
    "*": _between(9, "MULTIPLY", lambda fit: lambda x, y: fit(x * y), _NUMERIC),
    "/": _between(9, "DIVIDE", lambda fit: lambda x, y: fit(quotient(x, y)), _NUMERIC, divides=True),
    "%": _between(9, "REMAINDER", lambda fit: lambda x, y: fit(remainder(x, y)), _INTEGERS, divides=True),
    "^": _between(11, "POWER", lambda fit: lambda x, y: fit(power(x, y)), _NUMERIC, divides=True),
    "neg": _before("NEGATE", lambda fit: lambda x: fit(-x), _NUMBER | _FLOAT),
    "bnot": _before("BIT_NOT", lambda fit: lambda x: fit(~x)),
    "lnot": _before("NOT", lambda _: lambda x: int(x == 0)),
    "min": _best("LEAST", min),
    "max": _best("GREATEST", max),
    RANGE: Functor(
        Signature((_NUMERIC, _NUMERIC), variadic=True), dict.fromkeys(_NUMERIC, cast(Function, Range))
    ),
    "cat": Functor(Signature((_SYMBOL,), Type.SYMBOL, variadic=True), {Type.SYMBOL: cat}),
    "strlen": Functor(Signature((_SYMBOL,), Type.NUMBER), {Type.SYMBOL: lambda text: len(text.encode())}),
    "substr": Functor(Signature((_SYMBOL, _NUMBER, _NUMBER), Type.SYMBOL), {Type.SYMBOL: substr}),
    "to_number": _conversion(
        Type.NUMBER, number, integer_of_float(Type.NUMBER), integer_of_text(Type.NUMBER), _FLOAT | _SYMBOL
    ),
    "to_unsigned": _conversion(
        Type.UNSIGNED,
        unsigned,
        integer_of_float(Type.UNSIGNED),
        integer_of_text(Type.UNSIGNED),
        _FLOAT | _SYMBOL,
    ),
    "to_float": _conversion(Type.FLOAT, float, _same, float_of_text, _SYMBOL),
    "to_string": _conversion(Type.SYMBOL, str, "{:f}".format, _same, frozenset()),
}
"""Every operator and functor, by the name it has in an Operation."""

COMPARISONS: dict[str, ComparisonOperator] = {
    "=": ComparisonOperator(operator.eq, "!=", "EQUAL"),
    "!=": ComparisonOperator(operator.ne, "=", "DIFFERENT"),
    "<": ComparisonOperator(operator.lt, ">=", "LESS"),
    "<=": ComparisonOperator(operator.le, ">", "AT_MOST"),
    ">": ComparisonOperator(operator.gt, "<=", "GREATER"),
    ">=": ComparisonOperator(operator.ge, "<", "AT_LEAST"),
    EACH: ComparisonOperator(lambda value, numbers: value in numbers, None),
    "match": ComparisonOperator(match, "!match"),
    "!match": ComparisonOperator(lambda pattern, text: not match(pattern, text), "match"),
    "contains": ComparisonOperator(lambda part, text: part in text, "!contains"),
    "!contains": ComparisonOperator(lambda part, text: part not in text, "contains"),
}
"""Every comparison, by its written name; with a `!`, the opposite."""

AGGREGATES: dict[str, AggregateFunction] = {
    "count": AggregateFunction(Signature((), Type.NUMBER), lambda values, _: len(values), of_none=True),
    "sum": AggregateFunction(Signature((_NUMERIC,)), sum_of, of_none=True),
    "min": AggregateFunction(Signature((_NUMERIC,)), lambda values, _: min(values)),
    "max": AggregateFunction(Signature((_NUMERIC,)), lambda values, _: max(values)),
    "mean": AggregateFunction(Signature((_NUMERIC,), Type.FLOAT), mean_of),
}
"""The functions over all assignments of a body."""


def apply(functor: str, operand_type: Type, operands: Sequence[Value]) -> Value:
    """The value of a functor. `operand_type` is the type of its first operand."""
    return FUNCTORS[functor].meaning[operand_type](*operands)


def is_arithmetic(functor: str, operand_type: Type) -> bool:
    """Whether it takes and gives numbers of one type: what needs no text and no conversion."""
    return FUNCTORS[functor].kernel is not None and operand_type is not Type.SYMBOL


def is_total(functor: str, operand_type: Type) -> bool:
    """Whether it has a value for all operands, but at a limit: of `range` and `cat`."""
    return operand_type not in FUNCTORS[functor].partial


def holds(comparison: str, left: Value, right: Value) -> bool:
    """Whether a comparison of two values of one type holds. Texts compare by their bytes."""
    return bool(COMPARISONS[comparison].holds(left, right))


def aggregate(function: str, value_type: Type | None, values: Sequence[Any]) -> Value | None:
    """The result of an aggregate over the values of its assignments, None when it has none."""
    row = AGGREGATES[function]
    return row.of(values, value_type) if values or row.of_none else None


KERNEL_NAMES = {name: row.kernel for name, row in FUNCTORS.items() if row.kernel} | {
    name: row.kernel for name, row in COMPARISONS.items() if row.kernel
}
"""What kernels call the functors and comparisons that they know."""

# ---- Words

BINDING = {name: row.binding for name, row in FUNCTORS.items() if row.binding}
"""How strongly each operator binds its operands."""

UNARY = {"-": "neg", "bnot": "bnot", "lnot": "lnot"}
"""The operators before one operand, and their functors."""

UNARY_BINDING = 10
"""How strongly they bind: `-x ^ y` is `-(x ^ y)`, and `-x * y` is `(-x) * y`."""

PREDICATES = ("match", "contains")
"""The comparisons written as functors, of two symbols; with a `!` before it, the opposite one."""

SIGNS = tuple(name for name, row in COMPARISONS.items() if row.kernel)
"""The comparisons written between their operands."""

OPPOSITE = {name: row.opposite for name, row in COMPARISONS.items() if row.opposite}
"""The comparison that holds exactly when another does not."""

CALLED = frozenset(name for name in FUNCTORS if name.isidentifier()) - {*BINDING, *UNARY.values()}
"""The functors that are written as a name before parentheses."""

RESERVED = frozenset({*BINDING, *UNARY, *AGGREGATES, "true", "false", "nil", "_"})
"""The words that are no variables and no relations."""

REFUSED = {
    "ord": "the functor ord is not supported: symbols have no number that a program may rely on",
    "autoinc": "counters (autoinc) are not supported: results do not depend on an order",
    "__FILE__": "__FILE__ is not supported: results do not depend on where a program is stored",
    "__LINE__": "__LINE__ is not supported: results do not depend on where a rule stands",
    "__INCL__": "__INCL__ is not supported: results do not depend on where a program is stored",
    "__ITERATION__": "__ITERATION__ is not supported: results do not depend on an order",
    "itof": "'itof' is not a functor: use to_float",
    "utof": "'utof' is not a functor: use to_float",
    "itou": "'itou' is not a functor: use to_unsigned",
    "ftou": "'ftou' is not a functor: use to_unsigned",
    "utoi": "'utoi' is not a functor: use to_number",
    "ftoi": "'ftoi' is not a functor: use to_number",
}
"""The functors of Soufflé that are not taken here, and why."""

NO_RELATIONS = RESERVED | CALLED | {CAST, *PREDICATES, *REFUSED}
"""The words that no relation is named by, as they mean something else before parentheses."""
