"""Records that are no events: where they stood, why they were refused, and what they said."""

from __future__ import annotations

from typing import NamedTuple


class Reject(NamedTuple):
    """A record that could not be read. It counts in the numbering of rows all the same."""

    row: int
    reason: str
    text: str


def readable(raw: bytes) -> str:
    """Raw bytes as text for a person: what is not valid UTF-8 is shown as `\\xff`."""
    return raw.decode("utf-8", "backslashreplace")
