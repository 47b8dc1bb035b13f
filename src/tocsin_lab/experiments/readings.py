"""What is read off an engine on one workload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """Times are seconds, of matching per event; None where not asked for, or where it was not built.

    `refused` of the rules that it was offered it did not take; `why` tells the reason.
    """

    offered: int
    refused: int = 0
    why: str = ""
    match: float | None = None
    build: float | None = None
    bytes_matching: int | None = None


Readings = Mapping[str, Reading]
"""By engine."""
