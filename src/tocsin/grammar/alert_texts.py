"""The text of an alert: `'{b.name} saw {v.title}, score {score}'`.

What stands in braces is a field as conditions write it, with its table's alias (which a trigger over one
table may leave out), or `score`. Anything else in braces is text like the rest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tocsin.grammar.cursor import Cursor
from tocsin.grammar.joins.reading import read_aliased_field
from tocsin.grammar.places import Problem
from tocsin.grammar.predicates import read_field
from tocsin.grammar.tokens import TRIGGER_WORDS, TokenKind, tokenize
from tocsin.grammar.tree import Path

_BRACES = re.compile(r"\{([^{}]*)\}")


class FieldPart(NamedTuple):
    """A field's value; the alias is None where a rule has no table."""

    alias: str | None
    path: Path


class ScorePart(NamedTuple):
    """The score of the match."""


AlertPart = str | FieldPart | ScorePart


def read_alert(text: str, aliases: Sequence[str]) -> tuple[list[AlertPart], list[Problem]]:
    """The parts of an alert's text, and what is wrong with it.

    With several aliases, a field without one or with an unknown one is a problem; its place is an offset in
    the text. With one alias or none there are no problems.
    """
    parts: list[AlertPart] = []
    problems: list[Problem] = []
    end = 0
    for braces in _BRACES.finditer(text):
        part, wrong = _read_braces(braces[1], aliases)
        problems += [(braces.start(1) + place, reason) for place, reason in wrong]
        if part is not None:
            parts += [text[end : braces.start()], part]
            end = braces.end()
    parts.append(text[end:])
    return [part for part in parts if part != ""], problems


def _read_braces(inside: str, aliases: Sequence[str]) -> tuple[AlertPart | None, list[Problem]]:
    if inside.strip() == "score":
        return ScorePart(), []
    cursor = Cursor(tokenize(inside, TRIGGER_WORDS))
    first = cursor.token
    path = read_field(cursor, None)
    if path is None or cursor.failed or not cursor.at_end():
        return None, []
    if len(aliases) > 1:
        again = Cursor(tokenize(inside, TRIGGER_WORDS))
        read_aliased_field(again, aliases)
        return FieldPart(path[0], path[1:]), again.problems
    alias = aliases[0] if aliases else None
    if first.kind is TokenKind.NAME and first.value == alias:
        return (FieldPart(alias, path[1:]) if len(path) > 1 else None), []
    return FieldPart(alias, path), []
