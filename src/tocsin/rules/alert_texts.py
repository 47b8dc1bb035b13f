"""The text of an alert: `'{b.name} saw {v.title}, score {score}'`.

What stands in braces is a field as conditions write it, with its table's alias (which a trigger over one
table may leave out), or `score`. Anything else in braces is text like the rest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.conditions.language import TRIGGER_WORDS, Cursor, Path, TokenKind, read_field, tokenize
from tocsin.rules.after_clause import AFTER, DELETE, UPDATE
from tocsin.rules.joins.parser import read_aliased_field
from tocsin.syntax import Problem
from tocsin.tables import is_text

ALERT, ALIAS, TABLE = "alert", "alias", "table"
"""The names of metadata that are read here: the text, and the names that its fields may begin with."""

_BETWEEN = ", "
_BRACES = re.compile(r"\{([^{}]*)\}")


class FieldPart(NamedTuple):
    """A field's value; the alias is None where a rule has no table."""

    alias: str | None
    path: Path


class ScorePart(NamedTuple):
    """The score of the match."""


AlertPart = str | FieldPart | ScorePart


def read_alert(
    text: str, aliases: Sequence[str], old_of: str | None = None
) -> tuple[list[AlertPart], list[Problem]]:
    """The parts of an alert's text, and what is wrong with it. For `old_of` see rules/joins/parser.py.

    With several aliases, a field without one or with an unknown one is a problem; its place is an offset in
    the text. With one alias or none there are no problems.
    """
    parts: list[AlertPart] = []
    problems: list[Problem] = []
    end = 0
    for braces in _BRACES.finditer(text):
        part, wrong = _read_braces(braces[1], aliases, old_of)
        problems += [(braces.start(1) + place, reason) for place, reason in wrong]
        if part is not None:
            parts += [text[end : braces.start()], part]
            end = braces.end()
    parts.append(text[end:])
    return [part for part in parts if part != ""], problems


def aliases_in(names: str | None) -> list[str]:
    """The names that a rule's metadata has as one text."""
    return names.split(_BETWEEN) if names else []


def misread_alerts(metadata: pa.Table | None) -> dict[int, str]:
    """By row, why texts of alerts in the metadata of rules are wrong.

    Only a rule over several tables can have a text with mistakes in it, so no other text is looked at.
    """
    if metadata is None or ALERT not in metadata.column_names:
        return {}
    alerts = metadata[ALERT]
    if not is_text(alerts.type):
        return {
            row: f"{ALERT}: expected a text, found {value!r:.100}"
            for row, value in enumerate(alerts.to_pylist())
            if value is not None
        }
    named = [metadata[name] for name in (ALIAS, TABLE) if name in metadata.column_names]
    if len(named) < 2 or not all(is_text(column.type) for column in named):
        return {}
    aliases, tables = named
    several = pc.and_(pc.match_substring(aliases, _BETWEEN), pc.match_substring(tables, _BETWEEN))
    rows = np.flatnonzero(pc.and_(several, alerts.is_valid()).fill_null(False).to_numpy())
    afters = metadata[AFTER] if AFTER in metadata.column_names else pa.nulls(len(alerts))
    wrong: dict[int, str] = {}
    for row in rows.tolist():
        names = aliases_in(aliases[row].as_py())
        after = str(afters[row].as_py())
        old_of = names[0] if UPDATE in after or DELETE in after else None
        problems = read_alert(alerts[row].as_py(), names, old_of)[1]
        if problems:
            wrong[row] = f"{ALERT}: {problems[0][1]}"
    return wrong


def _read_braces(
    inside: str, aliases: Sequence[str], old_of: str | None
) -> tuple[AlertPart | None, list[Problem]]:
    if inside.strip() == "score":
        return ScorePart(), []
    cursor = Cursor(tokenize(inside, TRIGGER_WORDS))
    first = cursor.token
    path = read_field(cursor, None)
    if path is None or cursor.failed or not cursor.at_end():
        return None, []
    if len(aliases) > 1:
        again = Cursor(tokenize(inside, TRIGGER_WORDS))
        path = read_aliased_field(again, aliases, old_of) or path
        return FieldPart(path[0], path[1:]), again.problems
    alias = aliases[0] if aliases else None
    if first.kind is TokenKind.NAME and first.value == alias:
        return (FieldPart(alias, path[1:]) if len(path) > 1 else None), []
    return FieldPart(alias, path), []
