"""A condition over several tables, from text to steps.

It is written as any condition, with two differences: every field starts with its table's alias, and on the
right of a comparison a field may stand too. Where updates or deletions fire the trigger, `old.x` is the field
x of the event table's row as it was, read as `alias.old.x`. With one alias fields may go without it, and are
compared only with fields of the old row. What is wrong with a trigger's condition as a whole, when each part
of it can be read, is found here as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import partial

from tocsin.conditions.language import (
    TEXT_TESTS,
    TRIGGER_WORDS,
    Cursor,
    Path,
    Predicate,
    TokenKind,
    at_call,
    at_comparison,
    ends_comparison,
    read_call,
    read_compared,
    read_field,
    read_sign,
    read_steps,
    read_test,
    tokenize,
)
from tocsin.rules.after_clause import OLD, WHERE_OLD
from tocsin.rules.joins.tree import Comparison, JoinedCondition
from tocsin.syntax import Problem, error_of

COLUMN_OLD = f"old is the row before the change {WHERE_OLD}: a column of that name cannot be asked for"


def parse_joined(text: str, aliases: Sequence[str], old_of: str | None = None) -> JoinedCondition:
    """Read a condition over tables of these aliases; RuleError or RuleErrors with places in the text.

    `old_of` is the alias whose row before the change is `old`; None where `old` is a name like others.
    """
    cursor = Cursor(tokenize(text, TRIGGER_WORDS))
    condition = read_joined(cursor, aliases, old_of)
    if condition is None:
        raise error_of(text, cursor.problems)
    return condition


def read_joined(cursor: Cursor, aliases: Sequence[str], old_of: str | None = None) -> JoinedCondition | None:
    """Read tokens to their END; None when the cursor has been told of problems."""
    if cursor.at_end():
        cursor.problem(cursor.token.offset, "the condition is empty")
        return None
    steps, places = read_steps(cursor, partial(_read_leaf, aliases=aliases, old_of=old_of))
    return None if cursor.failed else JoinedCondition(tuple(steps), tuple(places))


def misplaced_texts(condition: JoinedCondition, event_alias: str | None) -> Iterator[Problem]:
    """Each `contains` that is not asked of the event table: the one whose changes fire the trigger."""
    for step, place in zip(condition.steps, condition.places, strict=True):
        if isinstance(step, Predicate) and step.test in TEXT_TESTS and step.field[0] != event_alias:
            word = step.test.value
            yield (
                place,
                f"{word} stands only on the event table, the one of 'after ... to'"
                + (f", which is '{event_alias}'" if event_alias is not None else "; this trigger names none"),
            )


def _read_leaf(
    cursor: Cursor, aliases: Sequence[str], old_of: str | None
) -> tuple[Predicate | Comparison, int | None] | None:
    """Read one predicate, or a comparison of two fields."""
    field_reader = partial(read_aliased_field, aliases=aliases, old_of=old_of)
    if at_call(cursor):
        return read_call(cursor, field_reader)
    field = field_reader(cursor)
    if field is None:
        return None
    if not at_comparison(cursor):
        return read_test(cursor, field)
    sign = read_sign(cursor)
    to_old = old_of is not None and (_at_old(cursor) or field[1:2] == (OLD,))
    if not _at_field(cursor) or (len(aliases) == 1 and not to_old):
        return read_compared(cursor, field, sign)
    right = field_reader(cursor)
    if right is None or not ends_comparison(cursor):
        return None
    return Comparison(field, sign.test, right), sign.negated_at


def _at_field(cursor: Cursor) -> bool:
    """Whether a field stands on the right of a comparison; `timestamp` before a string is a value."""
    if cursor.token.kind is not TokenKind.NAME:
        return False
    return not (cursor.at_word("timestamp") and cursor.next.kind is TokenKind.STRING)


def _at_old(cursor: Cursor) -> bool:
    return cursor.token.kind is TokenKind.NAME and cursor.token.value == OLD and cursor.next.value == "."


def read_aliased_field(cursor: Cursor, aliases: Sequence[str], old_of: str | None = None) -> Path | None:
    """Read `alias.field`; one without an alias, or with an unknown one, is reported and read all the same."""
    first = cursor.token
    alias = aliases[0] if len(aliases) == 1 else None
    path = read_field(cursor, alias)
    if path is None:
        return None
    named = first.value if first.kind is TokenKind.NAME else None
    if old_of is not None and named == OLD:
        if len(path) == 1:
            cursor.expected("'.' and a field", "old is the row before the change")
            return None
        return old_of, *path
    if alias is not None:
        path = alias, *path
    elif named in aliases:
        if len(path) == 1:
            cursor.expected("'.' and a field", f"{first.text} is a table")
            return None
    elif first.kind is not TokenKind.KEYWORD:
        cursor.problem(first.offset, _alias_problem(first.text, len(path) > 1, aliases, old_of))
    if old_of is not None and path[:2] == (old_of, OLD):
        cursor.problem(first.offset, COLUMN_OLD)
    if old_of is not None and named is not None and named.lower() == OLD:
        cursor.problem(first.offset, f'the row before the change is written old; a field, "{named}"')
    return path


def _alias_problem(written: str, dotted: bool, aliases: Sequence[str], old_of: str | None) -> str:
    known = " or ".join(f"'{alias}'" for alias in aliases)
    if not dotted:
        return f"'{written}' has no alias: with several tables a field starts with {known}"
    nearest = get_close_matches(written, [*aliases, *([] if old_of is None else [OLD])], n=1)
    hint = f": did you mean '{nearest[0]}'?" if nearest else ""
    return f"there is no alias '{written}': the tables are {known}{hint}"
