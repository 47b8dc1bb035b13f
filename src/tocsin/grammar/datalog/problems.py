"""All that is wrong with a program, by place."""

from __future__ import annotations

from tocsin.errors import RuleError, window_around
from tocsin.grammar.datalog.syntax import Place
from tocsin.grammar.places import Lines


class Problems:
    """Collects mistakes; the same one at the same place (of a component used twice) counts once."""

    def __init__(self, text: str, file: str | None = None) -> None:
        self._lines = Lines(text)
        self._file = file
        self._found: dict[tuple[Place, str], None] = {}

    def __len__(self) -> int:
        return len(self._found)

    def add(self, place: Place, reason: str) -> None:
        """Note a mistake."""
        self._found[place, reason] = None

    def errors(self) -> list[RuleError]:
        """Every mistake as an error that shows its line, in the order of the text."""
        return [self._error(place, reason) for place, reason in sorted(self._found)]

    def _error(self, place: Place, reason: str) -> RuleError:
        excerpt, caret = window_around(self._lines.line(place.line), place.column)
        return RuleError(
            reason, file=self._file, line=place.line, column=place.column, excerpt=excerpt, caret=caret
        )
