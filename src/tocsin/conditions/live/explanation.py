"""Why a rule matched an event, or did not: the condition with each part's truth and what it saw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from tocsin.conditions.language.printer import print_field, print_predicate
from tocsin.conditions.language.tree import (
    TEXT_TESTS,
    Condition,
    Connective,
    Constant,
    Operator,
    Predicate,
    Test,
)
from tocsin.conditions.meaning import (
    Instant,
    Truth,
    document_at,
    lookup,
    score,
    step_truths,
    threshold_of,
)
from tocsin.errors import EventError
from tocsin.events.field_values import type_name
from tocsin.printable import printable
from tocsin.rules.metadata_values import is_disabled
from tocsin.rules.rule_set import Rule, Rules
from tocsin.text import DEFAULT, TextExplanation, TextSettings, explain_text, parse_query

_MARK = {Truth.TRUE: "true", Truth.FALSE: "false", Truth.UNKNOWN: "unknown"}
_LONGEST_VALUE = 80
_LONG_INTEGER = 10**80
_MOST_ELEMENTS = 8
_WIDEST_TEXT = 60
_DEEPEST_INDENT = 20
_NOT = Operator(Connective.NOT, 1)


@dataclass(frozen=True, slots=True)
class Part:
    """One line of an explanation: a predicate, or a connective over the deeper lines below it.

    `saw` is what the event holds in a predicate's field, printed; None for a connective. `found` tells for
    free text which words and phrases were found where, what they weigh, and what was missing.
    """

    depth: int
    text: str
    truth: Truth
    saw: str | None
    found: TextExplanation | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Whether a rule matches an event, and the truth of every part; print it to read it.

    `score` is the score that a match of the rule carries; None when it has no free text. A `disabled` rule
    matches nothing, whatever the truth of its parts.
    """

    rule: str
    matched: bool
    parts: tuple[Part, ...]
    score: float | None = None
    disabled: bool = False

    def __str__(self) -> str:
        verdict = "matches" if self.matched else "does not match"
        if self.matched and self.score is not None:
            verdict += f", score {self.score:.4g}"
        if self.disabled:
            verdict += ": it is disabled (enabled = false)"
        texts = [f"{_indent(part.depth)}{printable(part.text)}" for part in self.parts]
        width = min(max(map(len, texts)), _WIDEST_TEXT)
        lines = [f"{printable(self.rule)} {verdict}"]
        for part, text in zip(self.parts, texts, strict=True):
            saw = "" if part.saw is None else f"   {printable(part.saw)}"
            lines.append(f"  {_MARK[part.truth]:<8} {text:<{width}}{saw}".rstrip())
            if part.found is not None:
                lines.extend(f"           {_indent(part.depth)}  {line}" for line in part.found.lines())
        return "\n".join(lines)


def _indent(depth: int) -> str:
    """Two spaces a level, and beyond what fits on a screen the number of the level."""
    if depth <= _DEEPEST_INDENT:
        return "  " * depth
    return f"{'  ' * _DEEPEST_INDENT}[{depth}] "


def explain_rule(
    rules: Rules, number: int, event: Mapping[str, object], texts: TextSettings = DEFAULT
) -> Explanation:
    """Explain one of the rules; RuleError, with its place, when its condition cannot be read."""
    rule = rules[number]
    return explain_condition(rule, rules.condition(number), event, texts)


def explain_condition(
    rule: Rule, condition: Condition, event: Mapping[str, object], texts: TextSettings = DEFAULT
) -> Explanation:
    """Explain a rule's condition on one event, by the meaning of conditions itself."""
    disabled = is_disabled(rule.metadata)
    check_event(event)
    truths = step_truths(condition, event, texts)
    children = condition.operands()
    parts: list[Part] = []
    waiting = [(len(condition.steps) - 1, 0)]
    while waiting:
        place, depth = waiting.pop()
        step = condition.steps[place]
        below = condition.steps[children[place][0]] if step == _NOT else None
        if isinstance(below, Predicate):
            parts.append(_leaf(depth, below, True, truths[place], event, texts))
            continue
        if isinstance(step, Predicate):
            parts.append(_leaf(depth, step, False, truths[place], event, texts))
            continue
        parts.append(Part(depth, _text(step), truths[place], None))
        waiting.extend((child, depth + 1) for child in reversed(children[place]))
    matched = truths[-1] is Truth.TRUE and not disabled
    return Explanation(rule.id, matched, tuple(parts), score(condition, event, texts), disabled)


def _leaf(
    depth: int,
    predicate: Predicate,
    negated: bool,
    truth: Truth,
    event: Mapping[str, object],
    texts: TextSettings,
) -> Part:
    return Part(
        depth,
        print_predicate(predicate, negated=negated),
        truth,
        _saw(predicate, event),
        _found(predicate, event, texts) if predicate.test in TEXT_TESTS else None,
    )


def _found(predicate: Predicate, event: Mapping[str, object], texts: TextSettings) -> TextExplanation | None:
    document = document_at(event, predicate.field)
    if not document:
        return None
    any_gap = predicate.test is Test.TM_CONTAINS
    query = parse_query(str(predicate.operands[0].value), any_gap=any_gap)
    return explain_text(
        query,
        document,
        texts.weights(predicate.field),
        threshold_of(predicate, texts),
        any_gap=any_gap,
    )


def check_event(event: object) -> None:
    """EventError unless an event is an object."""
    if not isinstance(event, Mapping):
        raise EventError(f"an event must be an object, not {type_name(event)}")


def _text(step: Constant | Operator) -> str:
    if isinstance(step, Constant):
        return "true" if step.value else "false"
    return step.connective.value


def _saw(predicate: Predicate, event: Mapping[str, object]) -> str:
    value = lookup(event, predicate.field)
    field = print_field(predicate.field)
    if value is None:
        return f"{field} is missing"
    if isinstance(value, list):
        shown = ", ".join(map(_shown, value[:_MOST_ELEMENTS]))
        more = ", ..." if len(value) > _MOST_ELEMENTS else ""
        return f"{field} is [{shown}{more}]"
    return f"{field} is {_shown(value)}"


def _shown(value: object) -> str:
    """A value in short; an object may be deep and an integer long, so neither is printed as it is."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, int) and abs(value) >= _LONG_INTEGER:
        return f"an integer of {value.bit_length():,} bits"
    try:
        shown = str(value) if isinstance(value, Instant | Decimal) else repr(value)
    except ValueError:  # an instant outside of the calendar has no text
        return "an instant outside the years 0000 to 9999"
    return shown if len(shown) <= _LONGEST_VALUE else shown[: _LONGEST_VALUE - 3] + "..."
