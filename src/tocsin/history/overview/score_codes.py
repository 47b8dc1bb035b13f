"""Scores to three significant digits, as integers that are ordered as the scores are.

A rule's scores are counted by their code, so quantiles add up over any number of tasks and are the same
however the history was cut; each is off by half a percent at most.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Doubles, Longs

_LEAST, _LARGEST = -60, 60
_STEP = 1_000
CODES = (_LARGEST - _LEAST + 2) * _STEP
"""All codes are below it."""

QUANTILES = (0.0, 0.1, 0.5, 0.9, 1.0)


def score_codes(scores: Doubles) -> Longs:
    """The codes of scores from 0 on."""
    tiny = 10.0**_LEAST
    clipped = np.clip(scores, tiny, 9.99 * 10.0**_LARGEST)
    exponent = np.floor(np.log10(clipped)).astype(np.int64)
    digits = np.rint(clipped / 10.0 ** (exponent - 2.0)).astype(np.int64)
    carried = digits >= _STEP
    digits[carried] //= 10
    exponent[carried] += 1
    codes = (exponent - _LEAST) * _STEP + digits
    codes[scores < tiny] = 0
    return codes


def scores_of_codes(codes: Longs) -> Doubles:
    """The scores that codes stand for."""
    exponent, digits = np.divmod(codes, _STEP)
    scores: Doubles = digits * 10.0 ** np.abs(exponent + _LEAST - 2)
    below = exponent + _LEAST < 2
    scores[below] = digits[below] / 10.0 ** (2 - (exponent[below] + _LEAST))
    return scores


def quantiles(rule: Longs, code: Longs, count: Longs, rules: int) -> Doubles:
    """float64[rules, len(QUANTILES)]: of the scores of rules 0, 1, ... the least, ... the largest; NaN
    for a rule that has none.

    count[i] scores of rule[i] have code[i], once for each rule and code. A quantile is the least score
    that at least so large a share of all does not exceed.
    """
    order = np.lexsort((code, rule))
    rule, code, count = rule[order], code[order], count[order]
    running = np.cumsum(count)
    total = np.bincount(rule, weights=count, minlength=rules).astype(np.int64)
    before = np.cumsum(total) - total
    found = np.full((rules, len(QUANTILES)), np.nan)
    scored = np.flatnonzero(total)
    for place, share in enumerate(QUANTILES):
        rank = np.maximum(1, np.ceil(share * total[scored] - 1e-9).astype(np.int64))
        found[scored, place] = scores_of_codes(code[np.searchsorted(running, before[scored] + rank)])
    return found
