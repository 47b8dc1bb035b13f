"""Scores as a person reads them, and can use them as thresholds.

A score is cut off, never rounded up, so that a threshold of what is printed is reached by the document that
it stands at; and it has as many digits as it takes for the next lower score not to reach it:

    1.7320508075688774    1.7320
    1.4142135623730951    1.414213
    1.4142130000000000    1.4142
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal, localcontext

import numpy as np

from tocsin.arrays.dtypes import Doubles

DIGITS = 4
_MOST_DIGITS = 17


def printed_scores(scores: Doubles, count: int) -> list[str]:
    """The first `count` of some scores, the largest first."""
    lower = np.unique(scores)
    places = np.searchsorted(lower, scores[:count])
    return [
        _printed(float(lower[place]), float(lower[place - 1]) if place else None) for place in places.tolist()
    ]


def cut_off(score: float, digits: int = DIGITS) -> str:
    """A score with so many digits behind the point, and never more than it is."""
    with localcontext() as context:
        context.prec = 400  # a double has at most 309 digits before the point
        return f"{Decimal(score).quantize(Decimal(1).scaleb(-digits), ROUND_FLOOR):f}"


def _printed(score: float, lower: float | None) -> str:
    for digits in range(DIGITS, _MOST_DIGITS + 1):
        text = cut_off(score, digits)
        if lower is None or float(text) > lower:
            return text
    return repr(score)
