"""PostgreSQL's text of an array as a list: `{1,NULL,"a \\"b\\""}`, `{{1,2},{3,4}}`, `[0:1]={5,6}`.

Between elements stands a comma, but of boxes, which have commas themselves, a semicolon."""

from __future__ import annotations

import re
from typing import Any

_BOUNDS = re.compile(r"(\[-?\d+:-?\d+\])+=")
_PIECE = {
    between: re.compile(rf'[{{}}{between}]|"((?:[^"\\]|\\.)*)"|((?:[^{{}}{between}"\\]|\\.)+)', re.DOTALL)
    for between in ",;"
}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def array_elements(text: str, between: str = ",") -> list[Any]:
    """The elements as PostgreSQL writes them, None for null, nested as the array is.

    ValueError when the text is no array.
    """
    bounds = _BOUNDS.match(text)
    place = bounds.end() if bounds else 0
    outside: list[Any] = []
    open_lists = [outside]
    while place < len(text):
        piece = _PIECE[between].match(text, place)
        if piece is None:
            break
        place = piece.end()
        quoted, bare = piece.groups()
        if quoted is not None:
            open_lists[-1].append(_ESCAPE.sub(r"\1", quoted))
        elif bare is not None:
            open_lists[-1].append(None if bare == "NULL" else _ESCAPE.sub(r"\1", bare))
        elif piece[0] == "{":
            inner: list[Any] = []
            open_lists[-1].append(inner)
            open_lists.append(inner)
        elif piece[0] == "}":
            open_lists.pop()
            if not open_lists:
                break
    if place != len(text) or open_lists != [outside] or len(outside) != 1 or not isinstance(outside[0], list):
        raise ValueError(f"no array: {text!r}")
    return outside[0]
