"""The best scan: every rule asked about one event, pre-parsed, in one compiled loop.

A rule becomes straight code: one instruction for each predicate it may have to ask, and from each of
them three ways on, for true, false and unknown. So `and` and `or` stop as soon as they can, `not`
costs nothing, and no stack is kept. `xor` and `xnor` ask their first side once and their second side
in one of two copies. Within `and` and `or` the parts are asked in the order that is likely to end
soonest, by how often events have the fields.

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

import numba
import numpy as np
from numpy.typing import NDArray

from tocsin.errors import UsageError
from tocsin.grammar.conditions import parse_predicate
from tocsin.grammar.tree import Constant, Literal, Path, Predicate, Test
from tocsin.index.compiled import CompiledIndex
from tocsin.index.packing import arrow_texts
from tocsin.index.reading import Steps, read_conditions
from tocsin.kernels.skeleton import NOT, XNOR, XOR

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

ACCEPT = 1023
REJECT = 1022
MISSING = np.int64(-(1 << 62))
FIRST_REF = 2

_AND = 0
_OR = 1
_XOR = 2
_LEAF = 3


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
        parts = read_conditions(arrow_texts(*compiled.rule_text), {}).parts
        self._number: dict[str, int] = {}
        self._listed = frozenset(path[0] for path in listed)
        self._codes: dict[str, int] = {}
        leaves = [parse_predicate(compiled.leaf_text.text(leaf))[0] for leaf in range(compiled.leaf_count)]
        table, values = self._predicates(leaves)
        likely = self._likelihoods(table, sample)
        self.program = _joined(
            [_compiled(part, table, likely) for part in parts], np.array(values or [0], np.int32)
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

    def _predicates(self, predicates: Sequence[Predicate | Constant]) -> tuple[NDArray[np.int32], list[int]]:
        """field * 16 + test, operand, end for each predicate, and the values of the lists."""
        rows: list[tuple[int, int, int]] = []
        values: list[int] = []
        for each in predicates:
            if isinstance(each, Constant):
                raise TypeError("a leaf is no constant")
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


@numba.njit(cache=True)
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


@numba.njit(cache=True)
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


@numba.njit(cache=True)
def _emit(
    node: int,
    want: bool,
    yes: int,
    no: int,
    kind: NDArray[np.int8],
    kid_start: NDArray[np.int32],
    kid_end: NDArray[np.int32],
    kid: NDArray[np.int32],
    leaf: NDArray[np.int32],
    chance: NDArray[np.float64],
    cost: NDArray[np.int32],
    code: NDArray[np.int32],
    size: NDArray[np.int64],
) -> int:
    """Write code that goes to `yes` when the node is true (false, if that is wanted), else to `no`.

    Code is written from a rule's end to its beginning, so that the places to go to are known; a place
    is how many instructions are left from there on. The place of the new code is returned, 0 when
    there is no room for it.
    """
    if kind[node] == _LEAF:
        negated = leaf[node] & 1 == 1
        when_true, when_false = (yes, no) if want != negated else (no, yes)
        return _write(leaf[node] // 2 - 1, when_true, when_false, no, code, size)
    if kind[node] == _XOR:
        a = kid[kid_start[node]]
        b = kid[kid_start[node] + 1]
        if kind[a] != _LEAF:
            a, b = b, a
        if_true = _emit(b, not want, yes, no, kind, kid_start, kid_end, kid, leaf, chance, cost, code, size)
        if_false = _emit(b, want, yes, no, kind, kid_start, kid_end, kid, leaf, chance, cost, code, size)
        if kind[a] == _LEAF:
            if leaf[a] & 1 == 1:
                if_true, if_false = if_false, if_true
            return _write(leaf[a] // 2 - 1, if_true, if_false, no, code, size)
        other = _emit(a, False, if_false, no, kind, kid_start, kid_end, kid, leaf, chance, cost, code, size)
        return _emit(a, True, if_true, other, kind, kid_start, kid_end, kid, leaf, chance, cost, code, size)
    all_of = (kind[node] == _AND) == want
    _sort_kids(node, want, all_of, kid_start, kid_end, kid, chance, cost)
    place = yes if all_of else no
    for i in range(kid_end[node] - 1, kid_start[node] - 1, -1):
        if all_of:
            place = _emit(
                kid[i], want, place, no, kind, kid_start, kid_end, kid, leaf, chance, cost, code, size
            )
        else:
            place = _emit(
                kid[i], want, yes, place, kind, kid_start, kid_end, kid, leaf, chance, cost, code, size
            )
    return place


@numba.njit(cache=True)
def _write(
    predicate: int,
    when_true: int,
    when_false: int,
    unknown: int,
    code: NDArray[np.int32],
    size: NDArray[np.int64],
) -> int:
    if size[0] >= code.shape[0]:
        return 0
    at = size[0]
    code[at, 0] = predicate
    code[at, 1] = when_true
    code[at, 2] = when_false
    code[at, 3] = unknown
    size[0] = at + 1
    return at + 1


@numba.njit(cache=True)
def _sort_kids(
    node: int,
    want: bool,
    all_of: bool,
    kid_start: NDArray[np.int32],
    kid_end: NDArray[np.int32],
    kid: NDArray[np.int32],
    chance: NDArray[np.float64],
    cost: NDArray[np.int32],
) -> None:
    """First what is cheap and likely to end it: in an `and` a failure, in an `or` a success."""
    column = 0 if want else 1
    for i in range(kid_start[node] + 1, kid_end[node]):
        moved = kid[i]
        ends = 1.0 - chance[moved, column] if all_of else chance[moved, column]
        key = cost[moved] / max(ends, 1e-9)
        j = i
        while j > kid_start[node]:
            before = kid[j - 1]
            ends = 1.0 - chance[before, column] if all_of else chance[before, column]
            if cost[before] / max(ends, 1e-9) <= key:
                break
            kid[j] = before
            j -= 1
        kid[j] = moved


@numba.njit(cache=True)
def compile_steps(
    start: NDArray[np.int64],
    step: NDArray[np.int32],
    ref: NDArray[np.int32],
    table: NDArray[np.int32],
    likely: NDArray[np.float64],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The code of conditions in postfix steps, and how many instructions each has (-1: too many)."""
    longest = 1
    for rule in range(start.size - 1):
        longest = max(longest, start[rule + 1] - start[rule])
    kind = np.empty(longest, np.int8)
    kid_start = np.empty(longest, np.int32)
    kid_end = np.empty(longest, np.int32)
    kid = np.empty(longest, np.int32)
    leaf = np.empty(longest, np.int32)
    chance = np.empty((longest, 2), np.float64)
    cost = np.empty(longest, np.int32)
    stack = np.empty(longest, np.int32)
    code = np.empty((REJECT, 4), np.int32)
    size = np.zeros(1, np.int64)
    sizes = np.empty(start.size - 1, np.int64)
    instruction = np.empty((step.size + 16, 4), np.int32)
    written = 0
    for rule in range(start.size - 1):
        root = _tree(
            start[rule], start[rule + 1], step, ref, likely,
            kind, kid_start, kid_end, kid, leaf, chance, cost, stack,
        )  # fmt: skip
        size[0] = 0
        _emit(root, True, -1, -2, kind, kid_start, kid_end, kid, leaf, chance, cost, code, size)
        count = size[0]
        if count >= REJECT:
            sizes[rule] = -1
            continue
        sizes[rule] = count
        if written + count > instruction.shape[0]:
            larger = np.empty((2 * (written + count), 4), np.int32)
            larger[:written] = instruction[:written]
            instruction = larger
        for i in range(count):
            found = code[count - 1 - i]
            instruction[written + i, 0] = table[found[0], 0]
            instruction[written + i, 1] = table[found[0], 1]
            instruction[written + i, 2] = table[found[0], 2]
            ways = 0
            for j in range(3):
                place = found[1 + j]
                way = count - place if place > 0 else (ACCEPT if place == -1 else REJECT)
                ways |= way << (10 * j)
            instruction[written + i, 3] = ways
        written += count
    return instruction[:written].copy(), sizes


@numba.njit(cache=True)
def _tree(
    begin: int,
    end: int,
    step: NDArray[np.int32],
    ref: NDArray[np.int32],
    likely: NDArray[np.float64],
    kind: NDArray[np.int8],
    kid_start: NDArray[np.int32],
    kid_end: NDArray[np.int32],
    kid: NDArray[np.int32],
    leaf: NDArray[np.int32],
    chance: NDArray[np.float64],
    cost: NDArray[np.int32],
    stack: NDArray[np.int32],
) -> int:
    """The tree of one condition; a `not` is pushed down to the leaves. The root's number."""
    height = 0
    kids = 0
    for at in range(begin, end):
        node = at - begin
        what = step[at]
        if what >= 0:
            kind[node] = _LEAF
            leaf[node] = ref[what]
            sign = leaf[node] & 1
            chance[node, sign] = likely[leaf[node] // 2 - 1, 0]
            chance[node, 1 - sign] = likely[leaf[node] // 2 - 1, 1]
            cost[node] = 1
            stack[height] = node
            height += 1
            continue
        if what == NOT:
            _negate(stack[height - 1], kind, kid_start, kid_end, kid, leaf, chance)
            continue
        exclusive = what == XOR or what == XNOR
        arity = 2 if exclusive else (-what - 16) // 2
        kind[node] = _XOR if exclusive else (-what) & 1
        kid_start[node] = kids
        cost[node] = 0
        holds = 1.0
        fails = 1.0
        for i in range(height - arity, height):
            kid[kids] = stack[i]
            kids += 1
            cost[node] += cost[stack[i]]
            holds *= chance[stack[i], 0] if kind[node] == _AND else 1.0 - chance[stack[i], 0]
            fails *= 1.0 - chance[stack[i], 1] if kind[node] == _AND else chance[stack[i], 1]
        kid_end[node] = kids
        height -= arity
        if exclusive:
            a = stack[height]
            b = stack[height + 1]
            chance[node, 0] = chance[a, 0] * chance[b, 1] + chance[a, 1] * chance[b, 0]
            chance[node, 1] = chance[a, 0] * chance[b, 0] + chance[a, 1] * chance[b, 1]
            if what == XNOR:
                _negate(b, kind, kid_start, kid_end, kid, leaf, chance)
                chance[node, 0], chance[node, 1] = chance[node, 1], chance[node, 0]
        elif kind[node] == _AND:
            chance[node, 0] = holds
            chance[node, 1] = 1.0 - fails
        else:
            chance[node, 0] = 1.0 - holds
            chance[node, 1] = fails
        stack[height] = node
        height += 1
    return stack[0]


@numba.njit(cache=True)
def _negate(
    node: int,
    kind: NDArray[np.int8],
    kid_start: NDArray[np.int32],
    kid_end: NDArray[np.int32],
    kid: NDArray[np.int32],
    leaf: NDArray[np.int32],
    chance: NDArray[np.float64],
) -> None:
    """Turn a tree into its negation by De Morgan; of an xor, one side. Exact in three values."""
    chance[node, 0], chance[node, 1] = chance[node, 1], chance[node, 0]
    if kind[node] == _LEAF:
        leaf[node] ^= 1
        return
    if kind[node] == _XOR:
        _negate(kid[kid_start[node]], kind, kid_start, kid_end, kid, leaf, chance)
        return
    kind[node] = _OR if kind[node] == _AND else _AND
    for i in range(kid_start[node], kid_end[node]):
        _negate(kid[i], kind, kid_start, kid_end, kid, leaf, chance)
