"""Which truths a condition can have on the events that were seen, and what stands in the way of a match.

Each predicate is asked by what its field held (value_summaries.py), each connective by its operands, as
if these had nothing to do with one another. So "can" may be wrong, and "cannot" never is: a rule that
cannot match is one that no event of this kind satisfies, however they are combined.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tocsin.conditions.language import (
    TEXT_TESTS,
    Condition,
    Connective,
    Constant,
    Literal,
    Operator,
    Path,
    Predicate,
    Step,
    Test,
    print_field,
    print_literal,
    print_predicate,
)
from tocsin.conditions.meaning import Truth, predicate_truth
from tocsin.conditions.operators import COMPARISONS, kind_of_predicate
from tocsin.events import Kind
from tocsin.history.overview.value_summaries import FieldSummary, ValueSummary
from tocsin.syntax import print_timestamp

MOST_REASONS = 3
_SHOWN_VALUES = 3
_FIELD = ("value",)
_ORDERS = frozenset({Test.LT, Test.LE, Test.GT, Test.GE, Test.BETWEEN})
_RANGES = _ORDERS | {Test.EQ, Test.IN}

NOTHING_STANDS_IN_THE_WAY = "each part could hold, but in no event all that it takes did"


class Can(NamedTuple):
    """Whether something can be true, and whether it can be false."""

    hold: bool
    fail: bool


_UNKNOWN = Can(False, False)


@dataclass(slots=True)
class Satisfiability:
    """What `events` events held, asked about conditions; fields that are not named here nobody has."""

    events: int
    fields: Mapping[Path, FieldSummary]
    _known: dict[Predicate, Can] = field(default_factory=dict)

    def why_never(self, condition: Condition) -> str | None:
        """Why no event can have satisfied a condition; None when nothing that was seen rules it out."""
        cans = self._each(condition)
        if cans[-1].hold:
            return None
        blamed = dict.fromkeys(self._reason(step, wanted) for step, wanted in _blamed(condition, cans))
        shown = list(blamed)[:MOST_REASONS]
        more = len(blamed) - len(shown)
        return "; ".join(shown) + (f"; and {more:,} more" if more else "")

    def can(self, condition: Condition) -> Can:
        """Whether the condition can be true, and whether it can be false."""
        return self._each(condition)[-1]

    def _each(self, condition: Condition) -> list[Can]:
        """The same for every step."""
        cans: list[Can] = []
        waiting: list[Can] = []
        for step in condition.steps:
            if isinstance(step, Operator):
                operands = waiting[-step.arity :]
                del waiting[-step.arity :]
                can = _combined(step.connective, operands)
            elif isinstance(step, Constant):
                can = Can(step.value, not step.value)
            else:
                can = self._predicate(step)
            waiting.append(can)
            cans.append(can)
        return cans

    def _predicate(self, predicate: Predicate) -> Can:
        found = self._known.get(predicate)
        if found is None:
            found = self._known[predicate] = self._asked(predicate)
        return found

    def _asked(self, predicate: Predicate) -> Can:
        seen = self._seen(predicate.field)
        if predicate.test is Test.NULL:
            return Can(seen.present < self.events, seen.present > 0)
        if predicate.test in TEXT_TESTS:
            is_asked = bool(seen.of(Kind.STRING).cells or seen.empty)
            return Can(is_asked, is_asked)
        kinds = _kinds_asked(predicate)
        cans = [_of_values(predicate, seen.of(kind)) for kind in kinds if seen.of(kind).cells]
        return Can(any(can.hold for can in cans), seen.empty > 0 or any(can.fail for can in cans))

    def _seen(self, path: Path) -> FieldSummary:
        return self.fields.get(path, _NEVER)

    # ---- In words

    def _reason(self, step: Predicate | Constant, wanted: bool) -> str:
        """Why a predicate is never as it would have to be."""
        if isinstance(step, Constant):
            return f"the condition says {'true' if step.value else 'false'}"
        name = print_field(step.field)
        seen = self._seen(step.field)
        if not seen.present:
            return f"no event has the field {name}"
        if step.test is Test.NULL:
            return f"every event has the field {name}" if wanted else f"no event has the field {name}"
        if self._predicate(step) == _UNKNOWN:
            asked = Kind.STRING if step.test in TEXT_TESTS else kind_of_predicate(step)
            has_some = any(seen.of(kind).cells for kind in _kinds_asked(step))
            held = self._instead(step, seen) if has_some else f"it holds {_held(seen)}"
            return f"{name} is never {_A_KIND[asked]}: {held}"
        if not wanted:
            return f"{print_predicate(step)} holds wherever it is known"
        return f"{print_predicate(step)} never holds: {self._instead(step, seen)}"

    def _instead(self, predicate: Predicate, seen: FieldSummary) -> str:
        for kind in _kinds_asked(predicate):
            values = seen.of(kind)
            if values.values is not None and values.cells:
                return _listed(predicate, values)
            if values.least is not None and values.largest is not None:
                first, last = (_value_text(kind, each) for each in (values.least, values.largest))
                return f"the values go from {first} to {last}"
        return f"{print_field(predicate.field)} holds {_held(seen)}"


def _kinds_asked(predicate: Predicate) -> list[Kind]:
    """The kinds of values that a predicate (not `is null`) may know: a string may read as another."""
    if predicate.test in TEXT_TESTS:
        return [Kind.STRING]
    kind = kind_of_predicate(predicate)
    if kind is Kind.ADDRESS:
        return [Kind.STRING]
    return [Kind.TIMESTAMP, Kind.STRING] if kind is Kind.TIMESTAMP else [kind]


def _of_values(predicate: Predicate, seen: ValueSummary) -> Can:
    """What a predicate can say of the values of one kind, of which there are some."""
    if seen.values is not None:
        asked = Predicate(_FIELD, predicate.test, predicate.operands)
        truths = {predicate_truth(asked, {_FIELD[0]: value}) for value in seen.values}
        return Can(Truth.TRUE in truths, Truth.FALSE in truths)
    if predicate.test in _RANGES and seen.least is not None and seen.largest is not None:
        return Can(_overlaps(predicate, seen.least, seen.largest), True)
    return Can(True, True)


def _overlaps(predicate: Predicate, least: int | float, largest: int | float) -> bool:
    """Whether a number, or an instant in nanoseconds, between these two could satisfy a comparison."""

    def holds(test: Test, operand: Literal, value: int | float) -> bool:
        if operand.kind is Kind.TIMESTAMP:
            return bool(COMPARISONS[test](value, operand.value))
        return predicate_truth(Predicate(_FIELD, test, (operand,)), {_FIELD[0]: value}) is Truth.TRUE

    operands = predicate.operands
    if predicate.test in (Test.LT, Test.LE):
        return holds(predicate.test, operands[0], least)
    if predicate.test in (Test.GT, Test.GE):
        return holds(predicate.test, operands[0], largest)
    if predicate.test is Test.BETWEEN:
        return holds(Test.GE, operands[0], largest) and holds(Test.LE, operands[1], least)
    return any(holds(Test.LE, each, least) and holds(Test.GE, each, largest) for each in operands)


def _combined(connective: Connective, operands: list[Can]) -> Can:
    if connective is Connective.NOT:
        return Can(operands[0].fail, operands[0].hold)
    if connective is Connective.AND:
        return Can(all(can.hold for can in operands), any(can.fail for can in operands))
    if connective is Connective.OR:
        return Can(any(can.hold for can in operands), all(can.fail for can in operands))
    left, right = operands
    differ = (left.hold and right.fail) or (left.fail and right.hold)
    agree = (left.hold and right.hold) or (left.fail and right.fail)
    return Can(differ, agree) if connective is Connective.XOR else Can(agree, differ)


def _blamed(condition: Condition, cans: list[Can]) -> Iterable[tuple[Predicate | Constant, bool]]:
    """The predicates that keep the whole from being true, in the order written, and how each would have
    to be."""
    operands = condition.operands()
    found: list[tuple[int, bool]] = []
    waiting = [(len(condition.steps) - 1, True)]
    while waiting:
        place, wanted = waiting.pop()
        step = condition.steps[place]
        if isinstance(step, Operator):
            waiting += _blamed_below(step, operands[place], cans, wanted)
        else:
            found.append((place, wanted))
    for place, wanted in sorted(set(found)):
        leaf: Step = condition.steps[place]
        if not isinstance(leaf, Operator):
            yield leaf, wanted


def _blamed_below(
    step: Operator, operands: tuple[int, ...], cans: list[Can], wanted: bool
) -> list[tuple[int, bool]]:
    """The operands that cannot be as they would have to be for the step to be as wanted."""
    if step.connective is Connective.NOT:
        return [(operands[0], not wanted)]
    if step.connective in (Connective.AND, Connective.OR):
        return [(each, wanted) for each in operands if not (cans[each].hold if wanted else cans[each].fail)]
    return [
        (each, as_wanted)
        for each in operands
        for as_wanted in (True, False)
        if not (cans[each].hold if as_wanted else cans[each].fail)
    ]


def _listed(predicate: Predicate, seen: ValueSummary) -> str:
    """The values that there are instead."""
    values = seen.values or set()
    kind = predicate.operands[0].kind
    texts = [_value_text(Kind.STRING if isinstance(each, str) else kind, each) for each in sorted(values)]
    if kind is Kind.STRING:
        asked = {str(each.value).casefold() for each in predicate.operands}
        alike = [text for text, each in zip(texts, sorted(values), strict=True) if each.casefold() in asked]
        if alike:
            return f"there is {', '.join(alike[:_SHOWN_VALUES])}"
    shown = ", ".join(texts[:_SHOWN_VALUES])
    if len(texts) <= _SHOWN_VALUES:
        return f"there is only {shown}" if len(texts) == 1 else f"there are only {shown}"
    if predicate.test in _ORDERS:
        return f"the values go from {texts[0]} to {texts[-1]}"
    return f"there are {len(texts):,} other values, such as {shown}"


def _value_text(kind: Kind, value: int | float | str | bool) -> str:
    if kind is Kind.TIMESTAMP:
        return print_timestamp(int(value))
    if isinstance(value, str):
        cut = value if len(value) <= _LONGEST_SHOWN else value[:_LONGEST_SHOWN] + "..."
        return print_literal(Literal(Kind.STRING, cut))
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


_LONGEST_SHOWN = 40
_A_KIND = {
    Kind.NUMBER: "a number",
    Kind.STRING: "a string",
    Kind.BOOLEAN: "a Boolean",
    Kind.TIMESTAMP: "a timestamp",
    Kind.ADDRESS: "an IP address",
}
_KINDS = {
    Kind.NUMBER: "numbers",
    Kind.STRING: "strings",
    Kind.BOOLEAN: "Booleans",
    Kind.TIMESTAMP: "timestamps",
}


def _held(seen: FieldSummary) -> str:
    held = [_KINDS[kind] for kind, values in sorted(seen.kinds.items()) if values.cells]
    return " and ".join(held) if held else "objects or empty lists"


_NEVER = FieldSummary()
