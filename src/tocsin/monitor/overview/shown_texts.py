"""Texts from outside as they can be shown: rule ids, conditions and events may hold anything."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


def one_line(text: str, longest: int) -> str:
    """A text without line breaks, control characters and marks that turn the direction of writing."""
    clean = _CONTROL.sub("\ufffd", " ".join(text.split()) if "\n" in text else text)
    return clean if len(clean) <= longest else clean[: longest - 3] + "..."
