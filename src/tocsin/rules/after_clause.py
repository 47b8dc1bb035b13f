"""What fires a trigger: `after insert or update of status, total to o`.

    after KIND {or KIND} [to ALIAS]      KIND = insert | delete | update [of FIELD {, FIELD}]

Where updates or deletions fire a trigger, `old.field` is a field of the row as it was: the event is then the
row, with the old one as its object `old`. So a column of that name cannot be asked for there. What is
inserted has no `old`, and what is deleted is its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from tocsin.conditions.language import (
    TRIGGER_WORDS,
    Condition,
    Cursor,
    Path,
    Predicate,
    Token,
    TokenKind,
    print_field,
    read_field,
    tokenize,
)
from tocsin.errors import RuleError
from tocsin.rules.metadata_values import given_values
from tocsin.syntax import error_of

INSERT, UPDATE, DELETE = "insert", "update", "delete"
KINDS = (INSERT, UPDATE, DELETE)
AFTER, OLD = "after", "old"
"""The name of the metadata, and what a field of the row before a change begins with."""
WHERE_OLD = "in a trigger that updates or deletions fire"


@dataclass(frozen=True, slots=True)
class After:
    """The kinds of change that fire a trigger, in the order written.

    alias    the table whose changes they are; None when any table's are
    fields   of an update, those of which one must differ; none when every update counts
    """

    kinds: tuple[str, ...]
    alias: str | None = None
    fields: tuple[Path, ...] = ()

    @property
    def has_old(self) -> bool:
        """Whether `old` is the row before the change."""
        return UPDATE in self.kinds or DELETE in self.kinds

    def __str__(self) -> str:
        """What `read_after` reads: everything but the table."""
        of = f" of {', '.join(map(print_field, self.fields))}" if self.fields else ""
        return " or ".join(kind + of if kind == UPDATE else kind for kind in self.kinds)


def read_after(text: str) -> After:
    """What a table of rules has in its column `after`; RuleError with the place in the text."""
    cursor = Cursor(tokenize(text, TRIGGER_WORDS))
    kinds, fields = read_kinds(cursor)
    if not cursor.at_end() and not cursor.failed:
        cursor.expected("'or', or nothing more")
    if cursor.failed:
        raise error_of(text, cursor.problems)
    return After(kinds, None, tuple(path for _, path in fields))


def misread_after(metadata: pa.Table | None) -> dict[int, str]:
    """By row, why what rules have in their column `after` cannot be read."""
    wrong: dict[int, str] = {}
    for rows, value in given_values(metadata, AFTER):
        try:
            read_after(str(value))
        except RuleError as error:
            wrong.update(dict.fromkeys(rows.tolist(), f"{AFTER}: {error.reason}"))
    return wrong


def read_kinds(cursor: Cursor) -> tuple[tuple[str, ...], list[tuple[Token, Path]]]:
    """Read the kinds of change, and the fields of an update, each with its first token."""
    kinds: list[str] = []
    fields: list[tuple[Token, Path]] = []
    while True:
        kind = cursor.token.value.lower()
        if cursor.token.kind is not TokenKind.NAME or kind not in KINDS:
            cursor.expected("'insert', 'update' or 'delete'")
            break
        if kind in kinds:
            cursor.problem(cursor.token.offset, f"'{kind}' stands there twice")
        kinds.append(kind)
        cursor.advance()
        if cursor.at_word("of"):
            if kind != UPDATE:
                cursor.problem(cursor.token.offset, f"'of' stands only behind 'update', not behind '{kind}'")
            fields += _read_fields(cursor)
        if not cursor.at_keyword("or"):
            break
        cursor.advance()
    return tuple(kinds), fields


def _read_fields(cursor: Cursor) -> list[tuple[Token, Path]]:
    fields: list[tuple[Token, Path]] = []
    while cursor.at_word("of") or cursor.at_symbol(","):
        cursor.advance()
        first = cursor.token
        path = read_field(cursor, None)
        if path is None:
            break
        fields.append((first, path))
    return fields


def of_one_row(condition: Condition) -> Condition:
    """The condition with fields of the row before as those of any row: the table has one schema."""
    steps = (
        replace(step, field=step.field[1:]) if isinstance(step, Predicate) and step.field[0] == OLD else step
        for step in condition.steps
    )
    return replace(condition, steps=tuple(steps))


def event_with(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> dict[str, Any]:
    """The event that a trigger sees which asks for the row before: the row, with the old one in it."""
    event = {name: value for name, value in new.items() if name != OLD}
    return event if old is None else {**event, OLD: old}
