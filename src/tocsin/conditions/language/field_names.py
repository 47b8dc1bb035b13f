"""Fields named by a user, outside of rules."""

from __future__ import annotations

from tocsin.conditions.language.cursor import Cursor
from tocsin.conditions.language.predicate_parser import read_field
from tocsin.conditions.language.tokens import tokenize
from tocsin.conditions.language.tree import Path
from tocsin.errors import UsageError


def field_named(name: str) -> Path:
    """A field as conditions write it: `body`, `user.bio`, `"a.b"`; UsageError when it is none."""
    path = _read(name)
    if path is None:
        raise UsageError(f"{name!r} is not a field: write it as conditions do")
    return path


def field_asked(name: str) -> Path:
    """The same, but what conditions would have to quote (`my field`, `é`, `null`) may stand as it is."""
    path = _read(name)
    return (name,) if path is None else path


def _read(name: str) -> Path | None:
    cursor = Cursor(tokenize(name))
    path = read_field(cursor, None)
    return None if cursor.failed or not cursor.at_end() else path
