"""What an engine is: literals that hold in, rules that match out.

compiled rules ── expressions ── an engine's own arrays
                                          │
event ── literals that hold ──────────────┴──── rules

All engines are given the same expressions over the same literals (engines/kernels/expressions.py), and which
literals hold in an event is found for all of them in the same way. So they differ in one thing alone:
how they come from literals to rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from tocsin.arrays.dtypes import Longs
from tocsin.arrays.lists import Lists
from tocsin.engines.kernels.expressions import Expressions


class Engine(Protocol):
    """Rules laid out for matching. Threads may share it."""

    def match(self, held: Lists) -> Lists:
        """For each event the rules that match, ascending, given the literals that hold, ascending."""

    def bytes_of_parts(self) -> Mapping[str, int]:
        """The memory that its arrays take, by part."""


EngineBuilder = Callable[[Expressions], Engine]
"""Makes an engine of expressions; RefusedRules when it cannot take some rules."""


class RefusedRules(Exception):
    """Rules that an engine cannot take, by their number, with the reason. Never seen by users."""

    def __init__(self, reasons: Mapping[int, str]) -> None:
        super().__init__(f"{len(reasons)} rules are refused")
        self.reasons = dict(reasons)


def refuse_beyond(size: Longs, most: int, what: str) -> None:
    """RefusedRules for the rules that those before them leave no room for."""
    beyond = np.flatnonzero(np.cumsum(size) > most).tolist()
    if beyond:
        reason = f"with those of the rules before it there are more than {most:,} {what}"
        raise RefusedRules(dict.fromkeys(beyond, reason))
