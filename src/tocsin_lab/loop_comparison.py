"""How long the matching would take a Python loop over compiled conditions: measured on a sample."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NamedTuple

from tocsin.errors import TocsinError
from tocsin_lab.python_loop import PythonLoop

_LISTS = frozenset({("user", "interests"), ("site", "keywords")})


class LoopTime(NamedTuple):
    """Seconds of one processor that a pair of a visit and a campaign took, and how many were asked."""

    pair: float
    campaigns: int
    visits: int

    def hours(self, pairs: int) -> float:
        """What so many pairs would take."""
        return self.pair * pairs / 3_600


def loop_time(
    conditions: Mapping[str, str],
    visits: Mapping[int, Mapping[str, object]],
    found: Mapping[int, set[str]],
) -> LoopTime:
    """Ask every condition of every visit. What can be prepared once is ready before time counts.

    Raises TocsinError when the loop finds others than `found` has among these conditions.
    """
    ids = list(conditions)
    loop = PythonLoop(list(conditions.values()), _LISTS)
    prepared = {number: loop.prepare(visit) for number, visit in visits.items()}
    start = time.process_time()
    places = {number: loop.match(names) for number, names in prepared.items()}
    seconds = time.process_time() - start
    for number, matched in places.items():
        if {ids[place] for place in matched} != found[number] & conditions.keys():
            raise TocsinError(f"the Python loop finds other campaigns for visit {number}")
    return LoopTime(seconds / (len(ids) * len(visits)), len(ids), len(visits))
