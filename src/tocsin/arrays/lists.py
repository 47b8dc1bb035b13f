"""Several lists of numbers in one array: what the steps of an engine hand to each other.

    literals that hold ──> conjunctions that hold ──> places in trees ──> rules that match

A step takes one list for each event and gives one for each event, so that the same kernel serves a
single event and a batch, and steps can be timed apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Lists(NamedTuple):
    """List i is item[start[i] : start[i + 1]].

    start   int64[n+1]
    item    int32[...]
    """

    start: NDArray[np.int64]
    item: NDArray[np.int32]
