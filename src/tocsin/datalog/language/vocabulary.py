"""The operators and functors of the language: how strongly they bind and what types they take."""

from __future__ import annotations

from typing import NamedTuple

from tocsin.datalog.language.syntax import Type

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
"""The comparisons written between their operands."""

EACH = "in"
"""The comparison of a variable with a range, which nobody can write."""

RANGE = "range"
"""The functor that has many values."""

PREDICATES = ("match", "contains")
"""The comparisons written as functors, of two symbols; with a `!` before it, the opposite one."""

OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"} | {
    name: opposite
    for predicate in PREDICATES
    for name, opposite in ((predicate, f"!{predicate}"), (f"!{predicate}", predicate))
}
"""The comparison that holds exactly when another does not."""

BINDING = {
    "lor": 1,
    "lxor": 2,
    "land": 3,
    "bor": 4,
    "bxor": 5,
    "band": 6,
    "bshl": 7,
    "bshr": 7,
    "bshru": 7,
    "+": 8,
    "-": 8,
    "*": 9,
    "/": 9,
    "%": 9,
    "^": 11,
}
"""How strongly each operator binds its operands; all but ^ associate to the left."""

UNARY = {"-": "neg", "bnot": "bnot", "lnot": "lnot"}
"""The operators before one operand, and their functors."""

UNARY_BINDING = 10
"""How strongly they bind: `-x ^ y` is `-(x ^ y)`, and `-x * y` is `(-x) * y`."""

AGGREGATES = ("count", "sum", "min", "max", "mean")
"""The functions over all assignments of a body."""

CAST = "as"
"""The functor of `as(x, T)`: its second operand is a Constant that holds the type's name."""

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

_INTEGERS = frozenset({Type.NUMBER, Type.UNSIGNED})
_NUMERIC = _INTEGERS | {Type.FLOAT}
_ANY = frozenset(Type)
_NUMBER, _SYMBOL = frozenset({Type.NUMBER}), frozenset({Type.SYMBOL})


class Signature(NamedTuple):
    """What a functor takes and gives.

    `operands` holds the types that each operand may have. With `alike`, all operands and the result have
    one and the same type, any of those; otherwise the result has the type `result`. With `variadic`, there
    may be any number of operands like the first, at least so many as given.
    """

    operands: tuple[frozenset[Type], ...]
    result: Type | None = None
    variadic: bool = False

    @property
    def alike(self) -> bool:
        """Whether operands and result have one type."""
        return self.result is None

    def takes(self, count: int) -> bool:
        """Whether there may be so many operands."""
        return count >= len(self.operands) if self.variadic else count == len(self.operands)

    def operand(self, place: int) -> frozenset[Type]:
        """The types that an operand may have."""
        return self.operands[0 if self.variadic else place]


SIGNATURES = (
    {"+": Signature((_ANY, _ANY))}
    | {name: Signature((_NUMERIC, _NUMERIC)) for name in ("-", "*", "/", "^")}
    | {
        name: Signature((_INTEGERS, _INTEGERS))
        for name in ("%", "band", "bor", "bxor", "bshl", "bshr", "bshru", "land", "lor", "lxor")
    }
    | {
        "neg": Signature((frozenset({Type.NUMBER, Type.FLOAT}),)),
        "bnot": Signature((_INTEGERS,)),
        "lnot": Signature((_INTEGERS,)),
        "min": Signature((_ANY, _ANY), variadic=True),
        "max": Signature((_ANY, _ANY), variadic=True),
        RANGE: Signature((_NUMERIC, _NUMERIC), variadic=True),
        "cat": Signature((_SYMBOL,), Type.SYMBOL, variadic=True),
        "strlen": Signature((_SYMBOL,), Type.NUMBER),
        "substr": Signature((_SYMBOL, _NUMBER, _NUMBER), Type.SYMBOL),
        "to_number": Signature((_ANY,), Type.NUMBER),
        "to_unsigned": Signature((_ANY,), Type.UNSIGNED),
        "to_float": Signature((_ANY,), Type.FLOAT),
        "to_string": Signature((_ANY,), Type.SYMBOL),
    }
)
"""Every operator and functor, by the name it has in an Operation; the `+` of symbols is cat."""

AGGREGATED = {
    "sum": Signature((_NUMERIC,)),
    "min": Signature((_NUMERIC,)),
    "max": Signature((_NUMERIC,)),
    "mean": Signature((_NUMERIC,), Type.FLOAT),
}
"""What the aggregates take and give; count takes nothing and gives a number."""

FUNCTORS = frozenset(name for name in SIGNATURES if name.isidentifier()) - {*BINDING, *UNARY.values()}
"""The functors that are written as a name before parentheses."""

NO_RELATIONS = RESERVED | FUNCTORS | {CAST, *PREDICATES, *REFUSED}
"""The words that no relation is named by, as they mean something else before parentheses."""
