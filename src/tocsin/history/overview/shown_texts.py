"""Texts from outside as a table on a terminal can show them."""

from __future__ import annotations

from tocsin.printable import printable


def one_line(text: str, longest: int) -> str:
    """A text of at most so many characters, all printable; of several lines the blanks are made one."""
    clean = printable(" ".join(text.split()) if "\n" in text else text)
    return clean if len(clean) <= longest else clean[: longest - 3] + "..."
