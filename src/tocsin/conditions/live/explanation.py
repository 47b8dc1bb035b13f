"""Why a rule matched an event, or did not: the condition with each part's truth and what it saw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from tocsin.conditions.language.printer import print_field
from tocsin.conditions.language.tree import (
    TEXT_TESTS,
    Condition,
    Connective,
    Constant,
    Operator,
    Path,
    Predicate,
    Test,
)
from tocsin.conditions.meaning import (
    Instant,
    Truth,
    document_at,
    lookup,
    text_score,
    threshold_of,
)
from tocsin.display import Display, Displayed, Grid
from tocsin.errors import EventError, RuleError
from tocsin.events import type_name
from tocsin.printable import number_of, one_line, printable
from tocsin.rules import (
    OLD,
    Comparison,
    JoinedCondition,
    Rule,
    Rules,
    as_written,
    event_with,
    is_disabled,
    joined_truths,
    print_joined_leaf,
    text_predicates,
)
from tocsin.text import DEFAULT, TextExplanation, TextSettings, explain_text, parse_query

_MARK = {Truth.TRUE: "true", Truth.FALSE: "false", Truth.UNKNOWN: "unknown"}
_LONGEST_VALUE = 80
_LONG_INTEGER = 10**80
_MOST_ELEMENTS = 8
_WIDEST_TEXT = 60
_DEEPEST_INDENT = 20
_MOST_PARTS = 100
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


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Displayed):
    """Whether a rule matches an event, and the truth of every part; print it to read it.

    `score` is the score that a match of the rule carries; None when it has no free text. A `disabled` rule
    matches nothing, whatever the truth of its parts.
    """

    rule: str
    matched: bool
    parts: tuple[Part, ...]
    score: float | None = None
    disabled: bool = False

    @property
    def _verdict(self) -> str:
        verdict = "matches" if self.matched else "does not match"
        if self.matched and self.score is not None:
            verdict += f", score {self.score:.4g}"
        return verdict + ": it is disabled (enabled = false)" * self.disabled

    def __repr__(self) -> str:
        parts = number_of(len(self.parts), "part")
        return f"<tocsin.Explanation: {one_line(self.rule, _LONGEST_VALUE)} {self._verdict}; {parts}>"

    def _display(self) -> Display:
        rows = []
        for part in self.parts[:_MOST_PARTS]:
            saw = [] if part.saw is None else [part.saw]
            saw += [] if part.found is None else part.found.lines()
            rows.append((_MARK[part.truth], _indent(part.depth) + printable(part.text), "\n".join(saw)))
        grid = Grid.of(("truth", "part", "what the event has"), rows, len(self.parts), _MOST_PARTS)
        return Display(f"{self.rule} {self._verdict}", [("", grid)])

    def __str__(self) -> str:
        texts = [f"{_indent(part.depth)}{printable(part.text)}" for part in self.parts]
        width = min(max(map(len, texts)), _WIDEST_TEXT)
        lines = [f"{printable(self.rule)} {self._verdict}"]
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
    """Explain one of the rules; RuleError, with its place, when its condition cannot be read.

    The event of a trigger over several tables is an object with a row for each alias, and with `old` where
    the trigger asks for the row before the change; with one table `old` is in the row.
    """
    rule = rules[number]
    if rules.refusal(number) is None:
        return explain_condition(rule, rules.condition(number), event, texts)
    trigger = rules.triggers[number]
    try:
        condition = trigger.joined(rule.when)
    except RuleError as error:
        raise rules.error(number, error) from None
    if rules.has_several_tables(number):
        rows = check_rows(event, trigger.aliases, trigger.old_of)
    else:
        check_event(event)
        rows = {trigger.alias or "": event}
    return _explain_joined(rule, condition, rows, texts, trigger.old_of)


def explain_condition(
    rule: Rule, condition: Condition, event: Mapping[str, object], texts: TextSettings = DEFAULT
) -> Explanation:
    """Explain a rule's condition on one event, as one over a single table without an alias."""
    check_event(event)
    steps = (
        replace(step, field=("", *step.field)) if isinstance(step, Predicate) else step
        for step in condition.steps
    )
    return _explain_joined(rule, JoinedCondition(tuple(steps)), {"": event}, texts)


def _explain_joined(
    rule: Rule,
    condition: JoinedCondition,
    rows: Mapping[str, Mapping[str, object]],
    texts: TextSettings,
    old_of: str | None = None,
) -> Explanation:
    """Explain a condition on a row of each table, by alias, which a single table need not have.

    `old_of` is the alias whose row before the change is `old`.
    """
    disabled = is_disabled(rule.metadata)
    truths = joined_truths(condition, rows, texts)

    def saw(path: Path) -> str:
        return _saw(path[1:], rows[path[0]], as_written(path, old_of))

    def leaf(depth: int, step: Predicate | Comparison, negated: bool, truth: Truth) -> Part:
        text = print_joined_leaf(step, negated, old_of)
        if isinstance(step, Comparison):
            return Part(depth, text, truth, f"{saw(step.left)}, {saw(step.right)}")
        bare = Predicate(step.field[1:], step.test, step.operands)
        found = _found(bare, rows[step.field[0]], texts) if step.test in TEXT_TESTS else None
        return Part(depth, text, truth, saw(step.field), found)

    asked = [step for step in condition.steps if isinstance(step, Predicate) and step.test in TEXT_TESTS]
    scored = text_score(text_predicates(condition), rows[asked[0].field[0]], texts) if asked else None
    parts = _parts(condition.steps, condition.operands(), truths, leaf)
    return Explanation(rule.id, truths[-1] is Truth.TRUE and not disabled, parts, scored, disabled)


def _parts(
    steps: Sequence[Any],
    children: Sequence[tuple[int, ...]],
    truths: Sequence[Truth],
    leaf: Callable[[int, Any, bool, Truth], Part],
) -> tuple[Part, ...]:
    """A line for each connective and each leaf, from the outside to the inside."""
    parts: list[Part] = []
    waiting = [(len(steps) - 1, 0)]
    while waiting:
        place, depth = waiting.pop()
        step = steps[place]
        below = steps[children[place][0]] if step == _NOT else None
        if below is not None and not isinstance(below, Operator | Constant):
            parts.append(leaf(depth, below, True, truths[place]))
        elif isinstance(step, Operator | Constant):
            parts.append(Part(depth, _text(step), truths[place], None))
            waiting.extend((child, depth + 1) for child in reversed(children[place]))
        else:
            parts.append(leaf(depth, step, False, truths[place]))
    return tuple(parts)


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


def check_rows(
    event: object, aliases: Sequence[str], old_of: str | None = None
) -> dict[str, Mapping[str, object]]:
    """The row of each alias; EventError unless the event is an object of them. Where `old_of` is an alias,
    `old` is the row before the change of it, as in the rows of an alert."""
    check_event(event)
    rows: dict[str, Mapping[str, object]] = {}
    for alias in aliases:
        row = event.get(alias) if isinstance(event, Mapping) else None
        if not isinstance(row, Mapping):
            shape = ", ".join(f'"{each}": {{...}}' for each in aliases)
            raise EventError(f"there is no row of '{alias}': a trigger over several tables takes {{{shape}}}")
        rows[alias] = row
    before = event.get(OLD) if isinstance(event, Mapping) and old_of is not None else None
    if before is not None and old_of is not None:
        if not isinstance(before, Mapping):
            raise EventError(f"'{OLD}' must be the row before the change, not {type_name(before)}")
        rows[old_of] = event_with(rows[old_of], before)
    return rows


def _text(step: Constant | Operator) -> str:
    if isinstance(step, Constant):
        return "true" if step.value else "false"
    return step.connective.value


def _saw(path: Path, event: Mapping[str, object], named: Path | None = None) -> str:
    """What an event holds in a field, which may be named otherwise."""
    value = lookup(event, path)
    field = print_field(path if named is None else named)
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
