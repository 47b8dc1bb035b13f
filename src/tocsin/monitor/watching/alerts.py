"""What a watch tells: which trigger fired, on which rows, and its text filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tocsin.grammar.alert_texts import AlertPart, FieldPart, ScorePart
from tocsin.grammar.meaning import Event, lookup
from tocsin.monitor.kept import integer_text, json_text

MISSING = "null"
"""What stands in an alert's text for a field that is missing, and for the score of a trigger without any."""

TOO_DEEP = "..."
"""What stands there for lists and objects that are nested too deeply to be written."""


class Alert(NamedTuple):
    """A trigger that fired.

    rule    its id
    rows    by alias, the rows that satisfy it together; of a rule without a table, by the table's name
    score   how well free text fits; None without `contains`
    text    the text of `do alert` with its fields filled in; None without one
    """

    rule: str
    rows: dict[str, dict[str, Any]]
    score: float | None
    text: str | None


def alert_text(
    parts: Sequence[AlertPart] | None, rows: Mapping[str | None, Event], score: float | None
) -> str | None:
    """The text of an alert, given the row of each alias; None when there are no parts to put together."""
    if parts is None:
        return None
    written: list[str] = []
    for part in parts:
        if isinstance(part, FieldPart):
            written.append(value_text(lookup(rows[part.alias], part.path)))
        elif isinstance(part, ScorePart):
            written.append(MISSING if score is None else repr(score))
        else:
            written.append(part)
    return "".join(written)


def value_text(value: object) -> str:
    """A value as it stands in a text: strings as they are, lists and objects as JSON."""
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return integer_text(value)
    if isinstance(value, list | Mapping):
        try:
            return json_text(value)
        except RecursionError:
            return TOO_DEEP
    return str(value)
