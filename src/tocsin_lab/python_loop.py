"""The peer that every Python programmer would write first: eval of compiled expressions in a loop.

Each condition becomes one Python expression, compiled once, with the same meaning on *plain* events:
each field holds values of one kind, and is always a list or never. An event becomes the names that
the expressions use, once, before any of them is asked. Missing numbers are NaN, so that comparing
them needs no test; other missing values are None. Negations stand at the leaves, where "not true"
and "unknown" part: an expression is true exactly when its condition is.

`xor` and `xnor` repeat their sides, so chains of them grow fast: for workloads, not for any rule.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from types import CodeType
from typing import Any, NamedTuple

from tocsin.conditions.language import (
    Condition,
    Connective,
    Constant,
    Literal,
    Operator,
    Path,
    Predicate,
    Test,
    Wildcard,
    fold,
    like_tokens,
    parse_address,
    parse_condition,
    parse_network,
)
from tocsin.conditions.meaning import lookup
from tocsin.conditions.operators import kind_of_predicate
from tocsin.errors import UsageError
from tocsin.events import Kind
from tocsin.syntax import parse_timestamp

NAN = float("nan")
NUMERIC = (Kind.NUMBER, Kind.TIMESTAMP, Kind.ADDRESS)


class Answers(NamedTuple):
    """Two expressions: one that is true when a condition is true, one when it is false."""

    true: str
    false: str


class PythonLoop:
    """Conditions as compiled Python expressions.

    `listed` are the fields that hold lists. Raises UsageError for a field that conditions ask for
    values of several kinds.
    """

    def __init__(self, conditions: Sequence[str], listed: Collection[Path] = ()) -> None:
        self._listed = frozenset(listed)
        self._names: dict[tuple[Path, str], str] = {}
        self._kinds: dict[Path, Kind] = {}
        self._constants: dict[str, object] = {"__builtins__": {"any": any}}
        self._patterns: dict[tuple[Test, str], str] = {}
        expressions = [self._translated(parse_condition(text)).true for text in conditions]
        self._codes: list[CodeType] = [compile(each, "<condition>", "eval") for each in expressions]

    def prepare(self, event: Mapping[str, object]) -> dict[str, object]:
        """An event as the names that the expressions use."""
        names: dict[str, object] = {}
        for (path, use), name in self._names.items():
            names[name] = self._prepared(lookup(event, path), path, use)
        return names

    def match(self, names: dict[str, object]) -> list[int]:
        """The places of the conditions that a prepared event satisfies, ascending."""
        constants = self._constants
        return [place for place, code in enumerate(self._codes) if eval(code, constants, names)]

    def _prepared(self, value: object, path: Path, use: str) -> object:
        if use == "known":
            return value is not None
        if path in self._listed:
            return (
                frozenset(self._scalar(each, path, use) for each in value)
                if isinstance(value, list)
                else frozenset()
            )
        return self._scalar(value, path, use)

    def _scalar(self, value: object, path: Path, use: str) -> object:
        if use == "folded":
            return None if value is None else fold(str(value))
        if use == "address":
            address = None if value is None else parse_address(str(value))
            return NAN if address is None else address
        kind = self._kinds.get(path)
        if kind is Kind.TIMESTAMP:
            moment = parse_timestamp(value) if isinstance(value, str) else getattr(value, "nanos", None)
            return NAN if moment is None else moment
        if kind is Kind.NUMBER:
            return value if isinstance(value, int) else NAN if value is None else float(str(value))
        return value

    def _translated(self, condition: Condition) -> Answers:
        waiting: list[Answers] = []
        for step in condition.steps:
            if isinstance(step, Operator):
                operands = waiting[-step.arity :]
                del waiting[-step.arity :]
                waiting.append(_combined(step.connective, operands))
            elif isinstance(step, Constant):
                waiting.append(Answers(str(step.value), str(not step.value)))
            elif step.field in self._listed:
                waiting.append(self._on_list(step))
            else:
                waiting.append(self._on_scalar(step))
        return waiting[-1]

    def _on_scalar(self, predicate: Predicate) -> Answers:
        if predicate.test is Test.NULL:
            known = self._name(predicate.field, "known")
            return Answers(f"not {known}", known)
        name, kind = self._name_for(predicate), kind_of_predicate(predicate)
        holds, fails = self._asked(predicate, name)
        if kind in NUMERIC:  # NaN answers every comparison but != with no
            return Answers(
                holds,
                fails if predicate.test not in (Test.EQ, Test.IN) else f"({name} == {name} and {fails})",
            )
        guarded = f"({name} is not None and {fails})"
        if predicate.test in (Test.EQ, Test.IN):
            return Answers(holds, guarded)
        return Answers(f"({name} is not None and {holds})", guarded)

    def _on_list(self, predicate: Predicate) -> Answers:
        known = self._name(predicate.field, "known")
        if predicate.test is Test.NULL:
            return Answers(f"not {known}", known)
        name = self._name_for(predicate)
        values = [_python(literal) for literal in predicate.operands]
        if predicate.test is Test.EQ:
            holds = f"{values[0]} in {name}"
        elif predicate.test is Test.IN:
            holds = f"not {name}.isdisjoint(({', '.join(values)},))"
        else:
            holds = f"any({self._asked(predicate, 'each')[0]} for each in {name})"
        return Answers(holds, f"({known} and not ({holds}))")

    def _asked(self, predicate: Predicate, name: str) -> tuple[str, str]:
        """The predicate of a value that is not missing, and its opposite."""
        test, operands = predicate.test, predicate.operands
        if test is Test.CIDR:
            ranges = parse_network(str(operands[0].value)).ranges
            inside = " or ".join(f"{first} <= {name} <= {last}" for first, last in ranges)
            outside = " and ".join(f"({name} < {first} or {name} > {last})" for first, last in ranges)
            return f"({inside})", f"({outside})"
        if test in (Test.LIKE, Test.ILIKE, Test.MATCHES):
            pattern = self._pattern(test, str(operands[0].value))
            return f"{pattern}({name}) is not None", f"{pattern}({name}) is None"
        values = [_python(literal) for literal in operands]
        if test is Test.IN:
            members = ", ".join(values)
            return f"{name} in {{{members}}}", f"{name} not in {{{members}}}"
        if test is Test.BETWEEN:
            low, high = values
            return f"{low} <= {name} <= {high}", f"({name} < {low} or {name} > {high})"
        return f"{name} {_WRITTEN[test]} {values[0]}", f"{name} {_OPPOSITE[test]} {values[0]}"

    def _name_for(self, predicate: Predicate) -> str:
        if predicate.test is Test.CIDR:
            return self._name(predicate.field, "address")
        if predicate.test is Test.ILIKE:
            return self._name(predicate.field, "folded")
        kind = kind_of_predicate(predicate)
        if self._kinds.setdefault(predicate.field, kind) is not kind:
            raise UsageError(f"{'.'.join(predicate.field)} is asked for values of several kinds")
        return self._name(predicate.field, "value")

    def _name(self, path: Path, use: str) -> str:
        return self._names.setdefault((path, use), f"{use}_{len(self._names)}")

    def _pattern(self, test: Test, text: str) -> str:
        key = (test, text)
        if key not in self._patterns:
            name = f"pattern_{len(self._patterns)}"
            self._patterns[key] = name
            self._constants[name] = (
                re.compile(text).search
                if test is Test.MATCHES
                else re.compile(_like_regex(text, test is Test.ILIKE), re.DOTALL).fullmatch
            )
        return self._patterns[key]


_WRITTEN = {Test.EQ: "==", Test.LT: "<", Test.LE: "<=", Test.GT: ">", Test.GE: ">="}
_OPPOSITE = {Test.EQ: "!=", Test.LT: ">=", Test.LE: ">", Test.GT: "<=", Test.GE: "<"}


def _combined(connective: Connective, operands: Sequence[Answers]) -> Answers:
    if connective is Connective.NOT:
        return Answers(operands[0].false, operands[0].true)
    if connective in (Connective.AND, Connective.OR):
        both = connective is Connective.AND
        return Answers(
            _joined("and" if both else "or", [each.true for each in operands]),
            _joined("or" if both else "and", [each.false for each in operands]),
        )
    left, right = operands
    differ = f"(({left.true} and {right.false}) or ({left.false} and {right.true}))"
    agree = f"(({left.true} and {right.true}) or ({left.false} and {right.false}))"
    return Answers(differ, agree) if connective is Connective.XOR else Answers(agree, differ)


def _joined(word: str, parts: Sequence[str]) -> str:
    return f"({f' {word} '.join(parts)})"


def _python(literal: Literal) -> str:
    """A literal as Python writes it; a number with point or exponent is the nearest double."""
    value: Any = literal.value
    return repr(float(value)) if literal.kind is Kind.NUMBER and isinstance(value, str) else repr(value)


def _like_regex(pattern: str, folded: bool) -> str:
    wild = {Wildcard.RUN: ".*", Wildcard.ONE: "."}
    return "".join(
        wild[token] if isinstance(token, Wildcard) else re.escape(fold(token) if folded else token)
        for token in like_tokens(pattern)
    )
