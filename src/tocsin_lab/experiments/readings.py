"""What is read off an engine on one workload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tocsin_lab.experiments.clocks import Seconds


@dataclass(frozen=True)
class Reading:
    """Times are of matching per event; None where not asked for, or where it was not built.

    read     from an event to the cells that an index looks up
    match    from there to the rules that match: the index's own work
    build    from an Arrow table of rules to an index that is ready

    `refused` of the rules that it was offered it did not take; `why` tells the reason.
    """

    offered: int
    refused: int = 0
    why: str = ""
    read: Seconds | None = None
    match: Seconds | None = None
    build: Seconds | None = None
    bytes_matching: int | None = None


Readings = Mapping[str, Reading]
"""By engine."""
