"""All that is wrong with a program, by place."""

from __future__ import annotations

from tocsin.datalog.language.includes import Sources, error_at
from tocsin.datalog.language.syntax import Place
from tocsin.errors import RuleError


class Problems:
    """Collects mistakes; the same one at the same place (of a component used twice) counts once."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._found: dict[tuple[Place, str], None] = {}

    def __len__(self) -> int:
        return len(self._found)

    def add(self, place: Place, reason: str) -> None:
        """Note a mistake."""
        self._found[place, reason] = None

    def line(self, place: Place) -> str:
        """A line as a message names it."""
        return self._sources.line(place)

    def errors(self) -> list[RuleError]:
        """Every mistake as an error that shows its line, in the order of the text."""
        return [error_at(self._sources, place, reason) for place, reason in sorted(self._found)]
