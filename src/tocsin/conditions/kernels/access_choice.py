"""Which conjunct of a rule is its way in, and in what order the others are asked (TriggerMan, Figure 9).

A condition that is an `and` at the top is found through one of its conjuncts. For each conjunct

    rank = (selectivity - 1) / (cost of finding it by the index + selectivity * cost of asking the rest)

and the conjunct of least rank is the way in. The rest is asked in the order of (selectivity - 1) / cost of
asking, and every conjunct is asked only when those before it held. No normal form is made, so nothing can
explode: a conjunct may be any expression, and its selectivity follows from its parts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Bytes, Doubles, Ints, Longs
from tocsin.arrays.jit import kernel
from tocsin.conditions.kernels.skeleton import AND_BASE, FALSE, NOT, OR_BASE, TRUE, XOR

AUTO = 0
STRUCTURED = 1
TEXT = 2

WAY_IN = 0
IN_GRAPH = 1
DEFERRED = 2

_SELDOM = 1e-12
_QUICK = 1e-9
"""Nothing is taken to hold more seldom, or to cost less, than this."""


class LeafEstimates(NamedTuple):
    """What is known of every leaf, by its number. L leaves.

    true, false   float64[L]   how often it is true, and false (it may be unknown)
    found         float64[L]   nanoseconds to find it for one event through the index
    asked         float64[L]   nanoseconds to ask it of one event
    query         int32[L]     its text query, or -1
    """

    true: Doubles
    false: Doubles
    found: Doubles
    asked: Doubles
    query: Ints


class Conjuncts(NamedTuple):
    """The conjuncts of conditions, in the order written.

    start         int64[n+1]   conjuncts of condition i: start[i] ... start[i+1]
    begin, end    int64[...]   the steps of each, end included
    query         int32[...]   2 * text query, one more when it is negated; -1: no lone text predicate
    selectivity   float64[...]
    found         float64[...] nanoseconds by the index; asked: by asking it alone
    asked         float64[...]
    role          uint8[...]   WAY_IN, IN_GRAPH, DEFERRED
    place         int32[...]   of those that are deferred, when each is asked, from 0
    """

    start: Longs
    begin: Longs
    end: Longs
    query: Ints
    selectivity: Doubles
    found: Doubles
    asked: Doubles
    role: Bytes
    place: Ints


@kernel
def _arity(step: int) -> int:
    if step >= 0 or step == TRUE or step == FALSE:
        return 0
    if step == NOT:
        return 1
    if step > AND_BASE:
        return 2
    return (AND_BASE - step) // 2 if (AND_BASE - step) % 2 == 0 else (OR_BASE - step) // 2


@kernel
def _is_and(step: int) -> bool:
    return step < OR_BASE and (AND_BASE - step) % 2 == 0


class _Estimates(NamedTuple):
    """What is known of every step, as LeafEstimates has it of leaves, and where what it is made of begins."""

    true: Doubles
    false: Doubles
    found: Doubles
    asked: Doubles
    first: Longs


@kernel
def conjuncts_of(start: Longs, step: Ints, ref: Ints, leaves: LeafEstimates, mode: int) -> Conjuncts:
    """Cut conditions (kernels.skeleton; ref is 2 * (leaf + 1) + sign) into conjuncts, and choose.

    `mode` is AUTO, or STRUCTURED or TEXT to prefer a conjunct of that kind whatever its rank.
    """
    total = step.size
    known = _Estimates(
        np.empty(total), np.empty(total), np.empty(total), np.empty(total), np.empty(total, np.int64)
    )
    waiting = np.empty(total + 1, np.int64)
    out_start = np.zeros(start.size, np.int64)
    begin = np.empty(total, np.int64)
    end = np.empty(total, np.int64)
    query = np.full(total, -1, np.int32)
    made = 0
    for condition in range(start.size - 1):
        since, until = start[condition], start[condition + 1]
        _estimate(since, until, step, ref, leaves, known, waiting)
        if since < until:
            cut = _cut(until - 1, step, known.first, waiting, begin[made:], end[made:])
            for i in range(made, made + cut):
                query[i] = _query_of(end[i], step, ref, leaves.query)
            made += cut
        out_start[condition + 1] = made
    ends = end[:made].copy()
    role = np.full(made, IN_GRAPH, np.uint8)
    place = np.full(made, -1, np.int32)
    selectivity, found, asked = known.true[ends], known.found[ends], known.asked[ends]
    chosen = Conjuncts(
        out_start, begin[:made].copy(), ends, query[:made].copy(), selectivity, found, asked, role, place
    )
    for condition in range(start.size - 1):
        _choose(chosen, out_start[condition], out_start[condition + 1], mode)
    return chosen


@kernel
def _estimate(
    since: int, until: int, step: Ints, ref: Ints, leaves: LeafEstimates, known: _Estimates, waiting: Longs
) -> None:
    """Estimate every step of a condition."""
    depth = 0
    for at in range(since, until):
        code = step[at]
        arity = _arity(code)
        known.first[at] = at if arity == 0 else known.first[waiting[depth - arity]]
        if code >= 0:
            leaf = (ref[code] >> 1) - 1
            negated = ref[code] & 1
            known.true[at] = leaves.false[leaf] if negated else leaves.true[leaf]
            known.false[at] = leaves.true[leaf] if negated else leaves.false[leaf]
            known.found[at] = leaves.found[leaf]
            known.asked[at] = leaves.asked[leaf]
        else:
            _combine(code, waiting[depth - arity : depth], at, known)
        depth -= arity
        waiting[depth] = at
        depth += 1


@kernel
def _cut(root: int, step: Ints, first: Longs, waiting: Longs, begin: Longs, end: Longs) -> int:
    """Write where the operands of the ANDs at the top of a condition begin and end; how many there are."""
    made = 0
    pending = 1
    waiting[0] = root
    while pending > 0:
        pending -= 1
        at = waiting[pending]
        if _is_and(step[at]):
            operand = at - 1
            for _ in range(_arity(step[at])):
                waiting[pending] = operand
                pending += 1
                operand = first[operand] - 1
            continue
        begin[made] = first[at]
        end[made] = at
        made += 1
    return made


@kernel
def _query_of(at: int, step: Ints, ref: Ints, query_of: Ints) -> int:
    """2 * the text query that the conjunct which ends at a step is, one more when negated; or -1."""
    inner = at - 1 if step[at] == NOT else at
    if step[inner] < 0:
        return -1
    of_leaf = query_of[(ref[step[inner]] >> 1) - 1]
    if of_leaf < 0:
        return -1
    return 2 * of_leaf + ((ref[step[inner]] & 1) ^ (1 if inner < at else 0))


@kernel
def _combine(code: int, operands: Longs, at: int, known: _Estimates) -> None:
    """Estimate an operator or a constant, taking its operands for independent of each other."""
    true, false, found, asked, _first = known
    found[at] = 0.0
    asked[at] = 0.0
    for operand in operands:
        found[at] += found[operand]
        asked[at] += asked[operand]
    if operands.size == 0:
        true[at] = 1.0 if code == TRUE else 0.0
        false[at] = 1.0 - true[at]
    elif code == NOT:
        true[at] = false[operands[0]]
        false[at] = true[operands[0]]
    elif code > AND_BASE:
        left, right = operands[0], operands[1]
        differ = true[left] * false[right] + false[left] * true[right]
        agree = true[left] * true[right] + false[left] * false[right]
        true[at] = differ if code == XOR else agree
        false[at] = agree if code == XOR else differ
    else:
        all_true = 1.0
        all_false = 1.0
        some_true = 0.0
        some_false = 0.0
        for operand in operands:
            all_true *= true[operand]
            all_false *= false[operand]
            some_true += true[operand]
            some_false += false[operand]
        true[at] = all_true if _is_and(code) else min(1.0, some_true)
        false[at] = min(1.0, some_false) if _is_and(code) else all_false


@kernel
def _choose(chosen: Conjuncts, first: int, last: int, mode: int) -> None:
    """Give the conjuncts first ... last of a condition their roles."""
    selectivity = np.minimum(np.maximum(chosen.selectivity[first:last], _SELDOM), 1.0)
    asked = np.maximum(chosen.asked[first:last], _QUICK)
    order = np.argsort((selectivity - 1.0) / asked, kind="mergesort")
    needed = np.ones(order.size + 1)
    cost = np.zeros(order.size + 1)
    for at in range(order.size):
        cost[at + 1] = cost[at] + needed[at] * asked[order[at]]
        needed[at + 1] = needed[at] * selectivity[order[at]]
    best = -1
    least = np.inf
    preferred = False
    for at in range(order.size):
        i = order[at]
        rest = cost[at] + (cost[order.size] - cost[at + 1]) / selectivity[i]
        rank = (selectivity[i] - 1.0) / max(chosen.found[first + i] + selectivity[i] * rest, _QUICK)
        is_text = chosen.query[first + i] >= 0
        prefers = (mode == STRUCTURED and not is_text) or (mode == TEXT and is_text)
        if best < 0 or (prefers and not preferred) or (prefers == preferred and rank < least):
            best = i
            least = rank
            preferred = prefers
    place = 0
    for i in order:
        if i == best:
            chosen.role[first + i] = WAY_IN
        elif chosen.query[first + i] >= 0:
            chosen.role[first + i] = DEFERRED
            chosen.place[first + i] = place
            place += 1


@kernel
def without_deferred(start: Longs, step: Ints, conjuncts: Conjuncts) -> tuple[Longs, Ints]:
    """The conditions with their deferred conjuncts left out: starts and steps."""
    left_start = np.zeros(start.size, np.int64)
    left = np.empty(step.size + start.size, np.int32)
    used = 0
    for condition in range(start.size - 1):
        kept = 0
        for i in range(conjuncts.start[condition], conjuncts.start[condition + 1]):
            if conjuncts.role[i] == DEFERRED:
                continue
            kept += 1
            for at in range(conjuncts.begin[i], conjuncts.end[i] + 1):
                left[used] = step[at]
                used += 1
        if kept > 1:
            left[used] = AND_BASE - 2 * kept
            used += 1
        left_start[condition + 1] = used
    return left_start, left[:used].copy()
