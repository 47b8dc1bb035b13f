"""Thresholds that can never fail or never pass, told from the shape of a query.

A score is the value of the query over the length of the weights. For every part of a query there are
factors between its value V and the length L of the weights within it, V <= most * L and, when the part
holds, V >= least * L:

                      most                                  least
    word, phrase      1                                     1
    OR                the largest of the operands'          1 / sqrt(sum of 1 / least^2)
    ACCRUE            sqrt(sum of most^2)                   the smallest of the operands'
    AND               1 / sqrt(sum of 1 / most^2)           0: one operand may weigh far less than the others

A part that fails is worth nothing, but what occurs in it still counts in the length: a group with such
an operand has no least. And words may weigh nothing (stop words, words that every document holds): then
a query that holds can score 0, and an AND scores as if it had fewer operands.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tocsin.text.language.query import Group, Leaf, Operation, TextQuery

_ROUNDING = 1e-9


class ScoreRange(NamedTuple):
    """What a query can score where it holds.

    most         never more than this, whatever its words weigh
    usual_most   never more than this where every word weighs something
    usual_least  never less than this where every word weighs something
    """

    most: float
    usual_most: float
    usual_least: float


def threshold_warning(query: TextQuery, threshold: float) -> str | None:
    """What is odd about asking a query for this score; None when it can fail and can pass."""
    if threshold == 0:
        return "every text that the query holds for scores at least 0: the threshold 0 is the same as boolean"
    found = score_range(query)
    if threshold > found.most * (1 + _ROUNDING):
        return f"no text reaches the threshold {threshold:g}: this query scores at most {found.most:.4g}"
    if threshold > found.usual_most * (1 + _ROUNDING):
        return (
            f"the threshold {threshold:g} is reached only where some of the words weigh nothing:"
            f" elsewhere this query scores at most {found.usual_most:.4g}"
        )
    certain = 1.0 if found.usual_least >= 1 else found.usual_least * (1 - _ROUNDING)
    if threshold <= certain:
        return (
            f"the threshold {threshold:g} fails only where the words found weigh nothing:"
            f" elsewhere this query scores at least {found.usual_least:.4g}"
        )
    return None


class _Factors(NamedTuple):
    """The factors of a part; `is_clean` when nothing in it weighs where it fails."""

    most: float
    usual_most: float
    usual_least: float
    is_clean: bool
    is_negated: bool = False


def score_range(query: TextQuery) -> ScoreRange:
    """The bounds of a query's score where its Boolean reading holds."""
    waiting: list[_Factors] = []
    for step in query.steps:
        if isinstance(step, Leaf):
            waiting.append(_Factors(1.0, 1.0, 1.0, True, step.negated))
            continue
        operands = waiting[-step.arity :]
        del waiting[-step.arity :]
        waiting.append(_group(step, operands))
    whole = waiting[0]
    return ScoreRange(whole.most, whole.usual_most, whole.usual_least)


def _group(group: Group, operands: list[_Factors]) -> _Factors:
    if group.operation is Operation.AND:
        return _and(operands)
    plain = [each for each in operands if not each.is_negated]
    all_clean = all(each.is_clean for each in plain)
    leasts = [each.usual_least for each in plain]
    if group.operation is Operation.OR:
        return _Factors(
            max(each.most for each in plain),
            max(each.usual_most for each in plain),
            _balanced(leasts) if all_clean else 0.0,
            all_clean,
        )
    return _Factors(
        math.hypot(*(each.most for each in plain)),
        math.hypot(*(each.usual_most for each in plain)),
        min(leasts) if all_clean else 0.0,
        all_clean and len(plain) == len(operands),
    )


def _and(operands: list[_Factors]) -> _Factors:
    negated = sum(each.is_negated for each in operands)
    largest = max(each.most for each in operands if not each.is_negated)
    return _Factors(
        1 / math.sqrt(negated) if negated else largest,
        _balanced([each.usual_most for each in operands]),
        0.0,
        False,
    )


def _balanced(factors: list[float]) -> float:
    """1 / sqrt(sum of 1 / factor^2): the factor when all operands come to the same value."""
    if 0.0 in factors:
        return 0.0
    return 1 / math.hypot(*(1 / factor for factor in factors))
