"""The type of every variable, constant and operation of a rule.

Found out for one alternative of a rule at a time. Each argument has a *slot*, the set of primitive types
that it may still have; what must be of one type shares a slot. A bare `1` starts as number, unsigned or
float, and is a number where nothing says otherwise. Whether the declared types of variables go together
is then up to types.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tocsin.datalog.language import syntax
from tocsin.datalog.language.arithmetic import RANGES
from tocsin.datalog.language.fact_parser import BARE
from tocsin.datalog.language.functors import AGGREGATES, CAST, FUNCTORS, PREDICATES, Signature
from tocsin.datalog.language.sources import Problems
from tocsin.datalog.language.tree_walk import Node, Rewriter, walk
from tocsin.datalog.language.types import Declared, check_fit, described, written_functor

_IN_ORDER = tuple(syntax.Type)
_ANY = frozenset(syntax.Type)
_BARE = frozenset({syntax.Type.NUMBER, syntax.Type.UNSIGNED, syntax.Type.FLOAT})
_BARE_NEGATIVE = frozenset({syntax.Type.NUMBER, syntax.Type.FLOAT})
_SYMBOL = frozenset({syntax.Type.SYMBOL})


class _Slot:
    """The types that some arguments may still have; `merged` into another one, it counts no more."""

    __slots__ = ("allowed", "merged")

    def __init__(self, allowed: frozenset[syntax.Type]) -> None:
        self.allowed = allowed
        self.merged: _Slot | None = None

    def found(self) -> _Slot:
        slot = self
        while slot.merged is not None:
            if slot.merged.merged is not None:
                slot.merged = slot.merged.merged
            slot = slot.merged
        return slot

    @property
    def types(self) -> frozenset[syntax.Type]:
        return self.found().allowed

    @property
    def type(self) -> syntax.Type:
        """The type in the end: the first of number, unsigned, float and symbol that is left."""
        allowed = self.types
        return next(type_ for type_ in _IN_ORDER if type_ in allowed)

    def restrict(self, allowed: Iterable[syntax.Type]) -> bool:
        """Leave only these; False, and nothing happens, when none would be left."""
        slot = self.found()
        left = slot.allowed & frozenset(allowed)
        if left:
            slot.allowed = left
        return bool(left)

    def merge(self, other: _Slot) -> bool:
        """Make both one; False, and nothing happens, when they have no type in common."""
        mine, theirs = self.found(), other.found()
        if mine is theirs:
            return True
        left = mine.allowed & theirs.allowed
        if left:
            theirs.allowed = left
            mine.merged = theirs
        return bool(left)


class Inference:
    """Types of one alternative of a rule."""

    def __init__(self, declared: Declared, problems: Problems) -> None:
        self._declared = declared
        self._problems = problems
        self._slots: dict[int, _Slot] = {}
        self._variables: dict[str, _Slot] = {}

    def typed(
        self, heads: Sequence[syntax.Atom], literals: Sequence[syntax.Body]
    ) -> tuple[tuple[syntax.Atom, ...], list[syntax.Body]]:
        """The same parts with types filled in; notes what does not fit."""
        nodes = list(walk(*literals, *syntax.arguments_of(heads)))
        for node in nodes:
            self._make_slot(node)
        for node in nodes:
            if isinstance(node, syntax.Positive):
                self._atom(node.atom)
        for node in nodes:
            if not isinstance(node, syntax.Positive):
                self._node(node)
        for head in heads:
            self._atom(head)
        check_fit(nodes, heads, self._declared, self._problems)
        filling = _Filling(self._slots, self._problems)
        return tuple(map(filling.atom, heads)), list(map(filling.body, literals))

    def _make_slot(self, node: Node) -> None:
        if isinstance(node, syntax.Variable):
            slot = self._variables.setdefault(node.name, _Slot(_ANY))
        elif isinstance(node, syntax.Constant):
            slot = _Slot(_types_of(node))
        elif isinstance(node, syntax.Anonymous | syntax.Operation | syntax.Aggregate):
            slot = _Slot(_ANY)
        else:
            return
        self._slots[id(node)] = slot

    def _slot(self, argument: syntax.Argument) -> _Slot:
        return self._slots[id(argument)]

    def _atom(self, atom: syntax.Atom) -> None:
        for argument, column, declared in self._declared.columns_of(atom):
            if not self._slot(argument).restrict((declared.primitive,)):
                self._problems.add(
                    argument.place,
                    f"column '{column}' of '{atom.relation}' is {_a(declared.primitive)},"
                    f" and {described(argument)} is {_any_of(self._slot(argument).types)}",
                )

    def _node(self, node: Node) -> None:
        if isinstance(node, syntax.Negation):
            self._atom(node.atom)
        elif isinstance(node, syntax.Comparison):
            self._comparison(node)
        elif isinstance(node, syntax.Operation):
            self._operation(node)
        elif isinstance(node, syntax.Aggregate):
            operands = () if node.value is None else (node.value,)
            self._apply(node.function, AGGREGATES[node.function].signature, node, operands)

    def _comparison(self, comparison: syntax.Comparison) -> None:
        left, right = comparison.left, comparison.right
        if comparison.operator.lstrip("!") in PREDICATES:
            for side in (left, right):
                self._operand(comparison.operator.lstrip("!"), side, _SYMBOL)
        elif not self._slot(left).merge(self._slot(right)):
            self._problems.add(
                comparison.place,
                f"'{comparison.operator}' compares {_any_of(self._slot(left).types)}"
                f" with {_any_of(self._slot(right).types)}",
            )

    def _operation(self, operation: syntax.Operation) -> None:
        if operation.functor == CAST:
            self._cast(operation)
            return
        signature = FUNCTORS[operation.functor].signature
        count = len(operation.operands)
        if not signature.takes(count):
            least = f"at least {len(signature.operands)}" if signature.variadic else len(signature.operands)
            wanted = f"{least} argument{'s' if least != 1 else ''}"
            self._problems.add(operation.place, f"'{operation.functor}' takes {wanted}, and has {count}")
            return
        self._apply(operation.functor, signature, operation, operation.operands)

    def _apply(
        self, functor: str, signature: Signature, result: syntax.Argument, operands: Sequence[syntax.Argument]
    ) -> None:
        for place, operand in enumerate(operands):
            if not self._operand(functor, operand, signature.operand(place)) or signature.result:
                continue
            if not self._slot(operand).merge(self._slot(result)):
                self._problems.add(
                    operand.place,
                    f"'{functor}' takes values of one type, and {described(operand)} is"
                    f" {_any_of(self._slot(operand).types)}, not {_any_of(self._slot(result).types)}",
                )
        if signature.result is not None:
            self._slot(result).restrict((signature.result,))

    def _operand(self, functor: str, operand: syntax.Argument, allowed: frozenset[syntax.Type]) -> bool:
        fits = self._slot(operand).restrict(allowed)
        if not fits:
            self._problems.add(
                operand.place,
                f"'{written_functor(functor)}' takes {_any_of(allowed)}, and {described(operand)} is"
                f" {_any_of(self._slot(operand).types)}",
            )
        return fits

    def _cast(self, operation: syntax.Operation) -> None:
        operand = operation.operands[0]
        declared = self._declared.cast_type(operation)
        if declared is None:
            return
        if not self._slot(operand).restrict((declared.primitive,)):
            self._problems.add(
                operation.place,
                f"'{CAST}' does not change values: {described(operand)} is"
                f" {_any_of(self._slot(operand).types)}, and '{declared.name}' is {_a(declared.primitive)}",
            )
        self._slot(operation).merge(self._slot(operand))


class _Filling(Rewriter):
    """Copies parts with types: constants as values of these types, casts gone, the `+` of symbols as cat."""

    def __init__(self, slots: Mapping[int, _Slot], problems: Problems) -> None:
        self._slots = slots
        self._problems = problems

    def variable(self, variable: syntax.Variable) -> syntax.Argument:
        return syntax.Variable(
            variable.name, variable.place, self._slots[id(variable)].type, variable.located
        )

    def simple(self, argument: syntax.Constant | syntax.Anonymous) -> syntax.Argument:
        type_ = self._slots[id(argument)].type
        if isinstance(argument, syntax.Anonymous):
            return syntax.Anonymous(argument.place, type_)
        return filled_constant(argument, type_, self._problems)

    def operation(
        self, operation: syntax.Operation, operands: tuple[syntax.Argument, ...]
    ) -> syntax.Argument:
        if operation.functor == CAST:
            return operands[0]
        type_ = self._slots[id(operation)].type
        functor = "cat" if operation.functor == "+" and type_ is syntax.Type.SYMBOL else operation.functor
        return syntax.Operation(functor, operands, operation.place, type_)

    def aggregate(self, aggregate: syntax.Aggregate) -> syntax.Argument:
        return replace(self.copied(aggregate), type=self._slots[id(aggregate)].type)


def filled_constant(constant: syntax.Constant, type_: syntax.Type, problems: Problems) -> syntax.Constant:
    """The constant as a value of a type that it may have; notes one that is out of range."""
    value: syntax.Value = constant.value
    if type_ is syntax.Type.FLOAT and not isinstance(value, str):
        value = _float(value)
    if not is_in_range(value, type_):
        limits = "" if type_ is syntax.Type.FLOAT else f", {RANGES[type_][0]} to {RANGES[type_][1]}"
        problems.add(constant.place, f"this is out of the range of {_a(type_)}{limits}")
    return syntax.Constant(value, constant.place, type_, constant.located)


def is_in_range(value: syntax.Value, type_: syntax.Type) -> bool:
    """Whether a value of the right kind is one of this type."""
    if isinstance(value, str):
        return True
    if isinstance(value, float):
        return not math.isinf(value)
    least, greatest = RANGES[type_]
    return least <= value <= greatest


def _float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _types_of(constant: syntax.Constant) -> frozenset[syntax.Type]:
    """What a constant may be, by its spelling."""
    if constant.type not in BARE:
        return frozenset({constant.type})
    return _BARE_NEGATIVE if not isinstance(constant.value, str) and constant.value < 0 else _BARE


def _a(type_: syntax.Type) -> str:
    return f"{'an' if type_ is syntax.Type.UNSIGNED else 'a'} {type_.value}"


def _any_of(types: frozenset[syntax.Type]) -> str:
    *others, last = (_a(type_) for type_ in _IN_ORDER if type_ in types)
    return f"{', '.join(others)} or {last}" if others else last
