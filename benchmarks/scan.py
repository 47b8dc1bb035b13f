"""The best scan: every rule asked about one event, pre-parsed, in one compiled loop.

A rule becomes straight code: one instruction for each predicate it may have to ask, and from each of
them three ways on, for true, false and unknown. So `and` and `or` stop as soon as they can, `not`
costs nothing, and no stack is kept. `xor` and `xnor` ask their first side once and their second side
in one of two copies. Within `and` and `or` the parts are asked in the order that is likely to end
soonest, by how often events have the fields (scan_code.py makes the code).

    instruction   int32[n, 4]   field * 16 + test
                                operand, or where the values of a list begin ...
                                ... and where they end
                                next when true, false, unknown: ten bits each, places from the
                                rule's first instruction on, or ACCEPT or REJECT

This is the baseline for indexes, not an engine: integers of 32 bits, strings for equality, Booleans,
and lists of them, each field of one kind. Anything else is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from benchmarks.scan_code import ACCEPT, REJECT, compile_steps
from numpy.typing import NDArray

from tocsin.arrays.jit import kernel
from tocsin.arrays.packed import arrow_texts
from tocsin.conditions.graph.compiled_index import CompiledIndex
from tocsin.conditions.graph.condition_reader import Steps, read_conditions
from tocsin.conditions.language.tree import Literal, Path, Predicate, Test
from tocsin.errors import UsageError

EQ, LT, LE, GT, GE, BETWEEN, IN = range(7)
ON_LIST = 8
TESTS = {
    Test.EQ: EQ,
    Test.LT: LT,
    Test.LE: LE,
    Test.GT: GT,
    Test.GE: GE,
    Test.BETWEEN: BETWEEN,
    Test.IN: IN,
}
LIKELY = {EQ: 0.02, BETWEEN: 0.3, IN: 0.05}
"""How often a test is taken to hold where its field is present; a range half of the time."""

MISSING = np.int64(-(1 << 62))
FIRST_REF = 2


class Program(NamedTuple):
    """The code of all rules: rule r is instruction[start[r] : start[r+1]]; `values` are the lists'."""

    instruction: NDArray[np.int32]
    start: NDArray[np.int64]
    values: NDArray[np.int32]


class Prepared(NamedTuple):
    """An event by field: MISSING, a value, or for a list first << 32 | count into `elements`."""

    state: NDArray[np.int64]
    elements: NDArray[np.int64]


class Scan:
    """The rules of an index as code.

    `listed` are the fields that hold lists; from the `sample` it learns how often events have a field.
    """

    def __init__(
        self, compiled: CompiledIndex, listed: Collection[Path], sample: Sequence[Mapping[str, object]]
    ) -> None:
        reading = read_conditions(arrow_texts(*compiled.rule_text), {})
        self._number: dict[str, int] = {}
        self._listed = frozenset(path[0] for path in listed)
        self._codes: dict[str, int] = {}
        table, values = self._predicates(reading.predicates)
        likely = self._likelihoods(table, sample)
        self.program = _joined(
            [_compiled(part, table, likely) for part in reading.parts], np.array(values or [0], np.int32)
        )
        self._out = np.empty(compiled.rule_count, np.int32)

    def prepare(self, event: Mapping[str, object]) -> Prepared:
        """An event as the scan reads it."""
        state = np.full(max(1, len(self._number)), MISSING, np.int64)
        elements: list[int] = []
        for name, value in event.items():
            field = self._number.get(name)
            if field is None or value is None:
                continue
            if isinstance(value, list):
                state[field] = len(elements) << 32 | len(value)
                elements.extend(self._code(each) for each in value)
            else:
                state[field] = self._code(value)
        return Prepared(state, np.array(elements or [0], np.int64))

    def match(self, event: Prepared) -> NDArray[np.int32]:
        """The numbers of the rules that a prepared event satisfies, ascending, until the next call."""
        return self._out[: scan(*self.program, *event, self._out)]

    def _code(self, value: object) -> int:
        """An integer or a Boolean as it is; a string's number, or one that no rule asks for."""
        return self._codes.get(value, -1) if isinstance(value, str) else int(value)  # type: ignore[call-overload,no-any-return]

    def _predicates(self, predicates: Sequence[Predicate]) -> tuple[NDArray[np.int32], list[int]]:
        """field * 16 + test, operand, end for each predicate, and the values of the lists."""
        rows: list[tuple[int, int, int]] = []
        values: list[int] = []
        for each in predicates:
            if each.test not in TESTS or len(each.field) > 1:
                raise UsageError(f"the scan knows no {each.test.value} on {'.'.join(each.field)}")
            name, test = each.field[0], TESTS[each.test]
            operands = [self._operand(literal, test) for literal in each.operands]
            if test == IN:
                operand, end = len(values), len(values) + len(operands)
                values.extend(operands)
            else:
                operand, end = operands[0], operands[-1]
            field = self._number.setdefault(name, len(self._number))
            rows.append((16 * field + test + (ON_LIST if name in self._listed else 0), operand, end))
        return np.array(rows, np.int32).reshape(-1, 3), values

    def _operand(self, literal: Literal, test: int) -> int:
        value = literal.value
        if isinstance(value, bool):
            return int(value)
        if isinstance(value, int) and abs(value) < 1 << 31:
            return value
        if isinstance(value, str) and literal.kind.name == "STRING" and test in (EQ, IN):
            return self._codes.setdefault(value, len(self._codes))
        raise UsageError(f"the scan cannot ask for {value!r}")

    def _likelihoods(
        self, table: NDArray[np.int32], sample: Sequence[Mapping[str, object]]
    ) -> NDArray[np.float64]:
        """How likely each predicate is to be true, and to be false."""
        seen = np.full(max(1, len(self._number)), 0.01)
        for event in sample:
            for name in event:
                if name in self._number:
                    seen[self._number[name]] += 1 / len(sample)
        present = np.minimum(seen[table[:, 0] >> 4], 0.99)
        holds = np.array([LIKELY.get(test, 0.5) for test in range(8)])[table[:, 0] & 7]
        return np.column_stack([present * holds, present * (1 - holds)])


def _compiled(part: Steps, table: NDArray[np.int32], likely: NDArray[np.float64]) -> Any:
    """Instructions, how many each condition has, and the conditions' numbers."""
    if (part.ref[part.step[part.step >= 0]] < FIRST_REF).any() or (part.step < 0).all():
        raise UsageError("the scan takes no conditions with true or false in them")
    instruction, size = compile_steps(part.start, part.step, part.ref, table, likely)
    if (size < 0).any():
        raise UsageError(f"condition {part.number[np.argmax(size < 0)]} is too long for the scan")
    return instruction, size, part.number


def _joined(parts: Sequence[Any], values: NDArray[np.int32]) -> Program:
    """The parts in the order of the conditions."""
    instruction = np.concatenate([each[0] for each in parts])
    size = np.concatenate([each[1] for each in parts])
    number = np.concatenate([each[2] for each in parts])
    order = np.argsort(number)
    begin = np.concatenate([[0], size.cumsum()])
    start = np.concatenate([[0], size[order].cumsum()])
    if (np.diff(number) < 0).any():
        place = np.repeat(begin[:-1][order] - start[:-1], size[order]) + np.arange(len(instruction))
        instruction = instruction[place]
    return Program(instruction, start, values)


@kernel
def _holds(test: int, value: int, operand: int, end: int, values: NDArray[np.int32]) -> bool:
    if test == EQ:
        return value == operand
    if test == IN:
        for i in range(operand, end):
            if values[i] == value:
                return True
        return False
    if test == LT:
        return value < operand
    if test == LE:
        return value <= operand
    if test == GT:
        return value > operand
    if test == GE:
        return value >= operand
    return operand <= value <= end


@kernel
def scan(
    instruction: NDArray[np.int32],
    start: NDArray[np.int64],
    values: NDArray[np.int32],
    state: NDArray[np.int64],
    elements: NDArray[np.int64],
    out: NDArray[np.int32],
) -> int:
    """Ask every rule; the numbers of those that hold go to `out`, and how many there are is returned."""
    found = 0
    for rule in range(start.size - 1):
        first = start[rule]
        at = 0
        while at < REJECT:
            asked = instruction[first + at, 0]
            ways = instruction[first + at, 3]
            value = state[asked >> 4]
            if value == MISSING:
                at = (ways >> 20) & 1023
                continue
            operand = instruction[first + at, 1]
            end = instruction[first + at, 2]
            holds = False
            if asked & ON_LIST:
                begin = value >> 32
                for i in range(begin, begin + (value & 0xFFFFFFFF)):
                    if _holds(asked & 7, elements[i], operand, end, values):
                        holds = True
                        break
            else:
                holds = _holds(asked & 7, value, operand, end, values)
            at = ways & 1023 if holds else (ways >> 10) & 1023
        if at == ACCEPT:
            out[found] = rule
            found += 1
    return found
