"""What every tokenizer says of a text that it cannot read."""

from __future__ import annotations

import re
from collections.abc import Mapping

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
HALF_PAIR = "half of a surrogate pair is not a character"


def has_half_pair(text: str) -> bool:
    """Whether half of a surrogate pair stands in the text, which then is no Unicode."""
    return not text.isascii() and _LONE_SURROGATE.search(text) is not None


def shortened(text: str) -> str:
    """A token as error messages show it."""
    return text if len(text) <= 40 else text[:37] + "..."


def stray(written: str, hints: Mapping[str, str]) -> str:
    """Why characters that begin no token are wrong; a hint is found by the first of them."""
    if not written.isprintable():
        return f"the character U+{ord(written[0]):04X} has no meaning here"
    hint = hints.get(written[0])
    return f"'{shortened(written)}' has no meaning here" + (f": {hint}" if hint else "")
