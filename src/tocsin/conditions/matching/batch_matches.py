"""The matches of a batch of events as arrays, whoever found them: the compiled index, or the evaluator.

Apart from matcher.py, so that who writes matches need not load the loops that find them.
"""

from __future__ import annotations

from typing import NamedTuple

from tocsin.arrays.dtypes import Doubles, Ints, Longs


class BatchMatches(NamedTuple):
    """Matches of a batch: the rules of event 0, then of event 1, ..., each ascending.

    rule        int32[m]     empty when only counts were asked for
    per_event   int64[n]
    score       float64[m]   NaN for a rule without free text; None when no rule has any, or nobody asked
    """

    rule: Ints
    per_event: Longs
    score: Doubles | None = None
