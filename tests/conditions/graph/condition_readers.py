"""A condition's two readers, the skeleton kernel and the grammar's parser, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.arrays.packed import packed_bytes
from tocsin.conditions.kernels import AND_BASE, FALSE, NOT, TRUE, XNOR, XOR
from tocsin.conditions.kernels.skeleton import OR_BASE, read_skeletons
from tocsin.conditions.language import Connective, Constant, Operator, Step, parse_condition
from tocsin.conditions.language.parser import parse_predicate
from tocsin.errors import RuleError

WORDS: dict[int, Step] = {NOT: Operator(Connective.NOT, 1), TRUE: Constant(True), FALSE: Constant(False)}
WORDS |= {XOR: Operator(Connective.XOR, 2), XNOR: Operator(Connective.XNOR, 2)}


def fast_steps(texts: Sequence[str]) -> list[tuple[Step, ...] | None]:
    """What the fast path makes of each text; None where it leaves the text to the parser."""
    start, data = packed_bytes([text.encode() for text in texts])
    found = read_skeletons(data, start)
    places = zip(found.predicate_start.tolist(), found.predicate_end.tolist(), strict=True)
    predicates = [_steps_of_predicate(data[begin:end].tobytes()) for begin, end in places]
    steps: list[tuple[Step, ...] | None] = []
    for number in range(len(texts)):
        codes = found.step[found.step_start[number] : found.step_start[number + 1]].tolist()
        parts = [predicates[code] if code >= 0 else (_step(code),) for code in codes]
        whole = None if None in parts else tuple(step for part in parts if part for step in part)
        steps.append(whole if found.accepted[number] else None)
    return steps


def _steps_of_predicate(text: bytes) -> tuple[Step, ...] | None:
    try:
        predicate, negated = parse_predicate(text.decode())
    except RuleError:
        return None
    return (predicate, WORDS[NOT]) if negated else (predicate,)


def _step(code: int) -> Step:
    if code in WORDS:
        return WORDS[code]
    if (AND_BASE - code) % 2 == 0:
        return Operator(Connective.AND, (AND_BASE - code) // 2)
    return Operator(Connective.OR, (OR_BASE - code) // 2)


def slow_steps(text: str) -> tuple[Step, ...] | None:
    try:
        return parse_condition(text).steps
    except RuleError:
        return None


def assert_one_language(texts: Sequence[str]) -> tuple[int, int]:
    """How many of the texts the fast path took, and how many the parser takes."""
    fast, valid = 0, 0
    for text, steps in zip(texts, fast_steps(texts), strict=True):
        judged = slow_steps(text)
        assert steps is None or steps == judged, text
        fast += steps is not None
        valid += judged is not None
    return fast, valid
