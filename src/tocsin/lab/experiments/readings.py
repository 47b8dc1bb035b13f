"""What is read off an engine on one workload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """Times are seconds, of matching per event; None where it was not asked for or all was refused.

    `why` tells of the refused rules.
    """

    rules: int
    refused: int = 0
    why: str = ""
    match: float | None = None
    build: float | None = None
    bytes_matching: int | None = None


Readings = Mapping[str, Reading]
"""By engine."""
