"""A rule to be tried on a history: which of its `contains` a threshold can be found for, if any.

    kind = 'a' and contains(body, 'golf, trophy', 1.2)
                   ^ offset                       ^ threshold

The rule is matched twice: once with the threshold 0, which is the Boolean reading, and once with one that no
score reaches. What satisfies the first is ranked by score; what satisfies the second as well would be an
alert whatever the threshold. Any other rule is matched once, as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from tocsin.conditions.language import (
    TEXT_TESTS,
    Condition,
    Connective,
    Operator,
    Path,
    Predicate,
    Test,
    has_threshold,
    with_threshold,
)
from tocsin.conditions.meaning import threshold_of
from tocsin.errors import RuleError, UnknownRuleError, UsageError
from tocsin.rules import OLD, JoinedCondition, Rules, Trigger
from tocsin.text import TextQuery, TextSettings, parse_query

READ, WITHOUT = 0, 1
"""The rules that are matched: with the threshold 0, and with one that no score reaches."""

_UNREACHABLE = "1000000000"


@dataclass(frozen=True, slots=True)
class TriedText:
    """The `contains` whose threshold is looked for.

    offset      where in the condition it stands
    field       of the event, or of the event table's row
    threshold   what it asks for now; None when its Boolean reading decides
    """

    offset: int
    field: Path
    predicate: Predicate
    query: TextQuery
    threshold: float | None


@dataclass(frozen=True, slots=True)
class TriedRule:
    """A rule among the rules of a file.

    condition   as it is written, over one table or several; a JoinedCondition when no index can take it
    text        the `contains` to try; None when there is none
    untried     why there is none
    """

    rules: Rules
    row: int
    condition: Condition | JoinedCondition
    text: TriedText | None
    untried: str

    @staticmethod
    def of(rules: Rules, rule: str, texts: TextSettings) -> TriedRule:
        """UnknownRuleError when there is no such rule, RuleError when its condition cannot be read."""
        try:
            row = rules.ids.to_pylist().index(rule)
        except ValueError:
            raise UnknownRuleError(rule) from None
        condition = _condition(rules, row)
        step, untried = _step_to_try(condition)
        if step is None:
            return TriedRule(rules, row, condition, None, untried)
        place, predicate = step
        if isinstance(condition, JoinedCondition):
            predicate = replace(predicate, field=predicate.field[1:])
        query = parse_query(str(predicate.operands[0].value), any_gap=predicate.test is Test.TM_CONTAINS)
        threshold = threshold_of(predicate, texts)
        text = TriedText(place, predicate.field, predicate, query, threshold)
        return TriedRule(rules, row, condition, text, "")

    @property
    def rule(self) -> str:
        """The rule's id."""
        return str(self.rules.ids[self.row].as_py())

    @property
    def file(self) -> str | None:
        """The file that the rule came from."""
        return self.rules.file(self.row)

    @property
    def when(self) -> str:
        """The condition's text."""
        return str(self.rules.whens[self.row].as_py())

    @property
    def trigger(self) -> Trigger | None:
        """The statement that the rule was written in, if it was one."""
        return self.rules.triggers.get(self.row)

    @property
    def is_joined(self) -> bool:
        """Whether no index can take it: a trigger over several tables, or one that compares two fields."""
        return isinstance(self.condition, JoinedCondition)

    @property
    def asks_old(self) -> bool:
        """Whether its condition names the row before a change."""
        alias = None if self.trigger is None else self.trigger.old_of
        if alias is None:
            return False
        if isinstance(self.condition, JoinedCondition):
            return any(path[:2] == (alias, OLD) for path in self.condition.fields())
        return any(step.field[0] == OLD for step in self.condition.steps if isinstance(step, Predicate))

    @property
    def is_disabled(self) -> bool:
        """Whether it never matches: a run tells what it would do if it were enabled."""
        return self.row in self.rules.disabled

    @property
    def untried_reason(self) -> str:
        """Why there is no threshold to find, as an error says it."""
        return f"the rule {self.rule!r} has no threshold to find: {self.untried}"

    def with_threshold(self, threshold: str) -> str:
        """The condition with this threshold in the `contains` that is tried."""
        if self.text is None:
            raise UsageError(self.untried_reason)
        return with_threshold(self.when, self.text.offset, threshold)

    def matched_rules(self) -> Rules:
        """The rules of READ and WITHOUT; the rule as it is when no `contains` is tried."""
        whens = [self.when]
        if self.text is not None:
            whens = [self.with_threshold("0"), self.with_threshold(_UNREACHABLE)]
        numbers = range(len(whens))
        alias, trigger = self.rules.aliases.get(self.row), self.trigger
        return Rules(
            pa.array(map(str, numbers), pa.large_string()),
            pa.array(whens, pa.large_string()),
            lines=np.ones(len(whens), np.int64),
            aliases={} if alias is None else dict.fromkeys(numbers, alias),
            triggers={} if trigger is None else dict.fromkeys(numbers, trigger),
        )


def _condition(rules: Rules, row: int) -> Condition | JoinedCondition:
    if rules.refusal(row) is None:
        return rules.condition(row)
    try:
        return rules.triggers[row].joined(rules.whens[row].as_py())
    except RuleError as error:
        raise rules.error(row, error) from None


def _step_to_try(condition: Condition | JoinedCondition) -> tuple[tuple[int, Predicate] | None, str]:
    """Where the `contains` to try stands in the text, and it; if there is none, why."""
    every = {
        place: step
        for place, step in enumerate(condition.steps)
        if isinstance(step, Predicate) and step.test in TEXT_TESTS
    }
    with_one = [place for place, step in every.items() if has_threshold(step)]
    if not every:
        return None, "it has no contains, whose threshold a test run could find"
    if len(every) > 1 and not with_one:
        return None, (
            f"it has {len(every)} contains and none with a threshold: give one to that which is to be tried"
        )
    step = with_one[0] if with_one else next(iter(every))
    if step in _negated(condition):
        return None, (
            "its contains stands below a not, xor or xnor: there a higher threshold can give more alerts,"
            " which a ranking cannot show"
        )
    return (condition.places[step], every[step]), ""


def _negated(condition: Condition | JoinedCondition) -> set[int]:
    """The steps somewhere below a connective that a larger truth can make less true."""
    below: set[int] = set()
    operands = condition.operands()
    for place in range(len(condition.steps) - 1, -1, -1):
        step = condition.steps[place]
        if isinstance(step, Operator) and (
            place in below or step.connective not in (Connective.AND, Connective.OR)
        ):
            below.update(operands[place])
    return below
