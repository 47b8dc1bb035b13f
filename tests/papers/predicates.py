"""The papers' predicates P1, P2, ... as Boolean fields, and events in which some are true and some false."""

from __future__ import annotations

import re
from collections.abc import Collection


def written(text: str) -> str:
    """The way nodes are printed: `p1` is short for `p1 = true`."""
    return re.sub(r"\bp\d+\b", lambda found: f"{found[0]} = true", text)


def nodes(*texts: str) -> frozenset[str]:
    """Several nodes as they are printed."""
    return frozenset(map(written, texts))


def event(true: Collection[str] = (), false: Collection[str] = ()) -> dict[str, object]:
    """An event in which these predicates are true and these are false; all others are undefined."""
    return {**dict.fromkeys(true, True), **dict.fromkeys(false, False)}
