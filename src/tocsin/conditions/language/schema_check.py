"""A condition against a schema: fields that do not exist, and comparisons that can never hold.

Neither is an error of the language (an unknown field counts as missing, a comparison with another
kind is unknown), but in a rule that someone wrote both are almost always mistakes.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from tocsin.conditions.language.predicate_parser import KIND_NAMES
from tocsin.conditions.language.printer import print_field
from tocsin.conditions.language.tree import Condition, Path, Predicate, Test
from tocsin.conditions.operators import OPERATORS
from tocsin.events import Kind

if TYPE_CHECKING:
    from tocsin.events import Schema

_LONGEST_SUGGESTED = 200


class Checker:
    """Checks any number of conditions against one schema; looks for a nearest name once per field."""

    def __init__(self, schema: Schema) -> None:
        self._kinds = schema.kinds
        self._open = schema.open
        self._names = {print_field(path): path for path in schema.kinds}
        self._unknown: dict[Path, str] = {}

    def condition(self, condition: Condition) -> list[tuple[int, str]]:
        """What is wrong: the offset of each such predicate in the condition's text, and the reason."""
        found: list[tuple[int, str]] = []
        places = condition.places or (0,) * len(condition.steps)
        for step, place in zip(condition.steps, places, strict=True):
            reason = self.predicate(step) if isinstance(step, Predicate) else None
            if reason is not None:
                found.append((place, reason))
        return sorted(found)

    def predicate(self, predicate: Predicate) -> str | None:
        """What is wrong with one predicate, or None."""
        path = predicate.field
        kinds = self._kinds.get(path)
        if kinds is None and path not in self._open:
            return None if self._is_below_open(path) else self._no_such_field(path)
        if predicate.test is Test.NULL:
            return None
        field = print_field(path)
        if not kinds:
            return f"the field {field} is an object: only its fields have values to compare"
        asked = Kind.STRING if OPERATORS[predicate.test].kind is not None else predicate.operands[0].kind
        if asked in kinds or (asked is Kind.TIMESTAMP and Kind.STRING in kinds):
            return None
        held = " or ".join(KIND_NAMES[kind] for kind in sorted(kinds))
        return (
            f"the field {field} holds {held}, and '{predicate.test.value}' asks here for"
            f" {KIND_NAMES[asked]}: this is never true"
        )

    def _is_below_open(self, path: Path) -> bool:
        """Whether the path leads into an object whose keys the schema does not know."""
        return any(path[:length] in self._open for length in range(len(path)))

    def _no_such_field(self, path: Path) -> str:
        reason = self._unknown.get(path)
        if reason is None:
            reason = f"there is no field {print_field(path)}"
            nearest = self._nearest(path)
            if nearest is not None:
                reason += f": did you mean {nearest}?"
            self._unknown[path] = reason
        return reason

    def _nearest(self, path: Path) -> str | None:
        """The same name in other letters or under another parent, else the most similar one."""
        written = print_field(path)
        if len(written) > _LONGEST_SUGGESTED:
            return None
        for name in self._names:
            if name.lower() == written.lower():
                return name
        for name, known in self._names.items():
            if known[-1:] == path[-1:]:
                return name
        close = get_close_matches(written, self._names, n=1)
        return close[0] if close else None
