"""What a watch tells: which trigger fired, on which rows, and its text filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from tocsin.conditions.meaning import Event, lookup
from tocsin.events import json_text
from tocsin.rules import AlertPart, FieldPart, ScorePart
from tocsin.tables import parsed

MISSING = "null"
"""What stands in an alert's text for a field that is missing, and for the score of a trigger without any."""

TOO_DEEP = "..."
"""What stands there for lists and objects that are nested too deeply to be written."""


class Alert(NamedTuple):
    """A trigger that fired.

    rule         its id
    rows         by alias, the rows that satisfy it together; of a rule without a table, by the table's name
    score        how well free text fits; None without `contains`
    text         the text of `do alert` with its fields filled in; None without one
    dictionary   the version of the dictionaries of a watch that learns, else None
    """

    rule: str
    rows: dict[str, dict[str, Any]]
    score: float | None
    text: str | None
    dictionary: int | None = None


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
    """A value as it stands in a text: strings as they are, everything else as JSON, times without quotes.

    Values that a JSON text cannot tell apart have one text, so that an alert reads the same wherever its
    event came from: a decimal is shown as the float that it equals, if there is one.
    """
    if isinstance(value, str):
        return value
    try:
        text = json_text(value)
        if isinstance(value, Decimal | list | tuple | Mapping):
            text = json_text(parsed(text))
    except RecursionError:
        return TOO_DEEP
    return str(parsed(text)) if text.startswith('"') else text
