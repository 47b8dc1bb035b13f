"""How often text queries hold, asked of a sample of the documents that hold their words."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Bytes, Doubles, Flags, Ints, Longs
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.text.kernels.query_code import ACCRUE, AND, PLAIN, QueryCode, arity_of, operation_of

END = 2**63
"""One more than the largest hash of a document."""

LARGEST_SAMPLE = 4096
"""Documents that a query is asked of, at most."""

_FAILS = 0
_HOLDS = 1
_NEGATED_FAILS = 2
_NEGATED_HOLDS = 3


class TermSketches(NamedTuple):
    """The documents that hold each term, by a sample. T terms.

    documents   float64[T]   how many there are
    is_whole    bool[T]      whether the hashes are those of all of them
    start       int64[T+1]   the least hashes of them, ascending: hash[start[t] : start[t+1]]
    hash        int64[...]
    """

    documents: Doubles
    is_whole: Flags
    start: Longs
    hash: Longs


class _Room(NamedTuple):
    """Memory for one query after the other, large enough for the largest.

    sample        int64[n]     documents of which it is known whether each term is in them, ascending
    pointer       int64[n]     for each term of the query, in its order: the next of its hashes
    verdict       uint8[n]     what waits for a group while the query is asked of a document
    at_least      float64[n]   the same while bounds of its share are worked out,
    at_most       float64[n]
    independent   float64[n]   and its share if words were independent of each other
    """

    sample: Longs
    pointer: Longs
    verdict: Bytes
    at_least: Doubles
    at_most: Doubles
    independent: Doubles


@kernel
def shares_of_queries(code: QueryCode, query: Ints, sketches: TermSketches, documents: int) -> Doubles:
    """For each of some queries the share of all documents that satisfy it: 0 < s <= 1."""
    room = _room_for(code, query, sketches)
    share = np.empty(query.size, np.float64)
    for i in range(query.size):
        share[i] = _share(code, query[i], sketches, max(1, documents), room)
    return share


@kernel
def _room_for(code: QueryCode, query: Ints, sketches: TermSketches) -> _Room:
    hashes = terms = steps = 1
    for q in query:
        first = code.term_start[code.leaf_start[q]]
        last = code.term_start[code.leaf_start[q + 1]]
        together = 0
        for i in range(first, last):
            together += sketches.start[code.term[i] + 1] - sketches.start[code.term[i]]
        hashes = max(hashes, together)
        terms = max(terms, last - first)
        steps = max(steps, code.step_start[q + 1] - code.step_start[q])
    return _Room(
        np.empty(hashes, np.int64),
        np.empty(terms, np.int64),
        np.empty(steps, np.uint8),
        np.empty(steps, np.float64),
        np.empty(steps, np.float64),
        np.empty(steps, np.float64),
    )


@kernel
def _share(code: QueryCode, query: int, sketches: TermSketches, documents: int, room: _Room) -> float:
    needed = _needed(code, query)
    _bounds(code, query, sketches, documents, needed, room)
    at_least, at_most, independent = room.at_least[0], room.at_most[0], room.independent[0]
    size, is_whole = _take_sample(code, query, sketches, room)
    reference = _most_frequent_term(code, query, sketches)
    seen, hits = _ask_sample(code, query, sketches, size, reference, needed, room)
    stands_for = 1.0
    if not is_whole:
        stands_for = (
            sketches.documents[reference] / seen if seen > 0 else float(END) / (room.sample[size - 1] + 1.0)
        )
    estimate = hits * stands_for / documents
    if hits == 0 and not is_whole:
        estimate = min(independent, stands_for / documents)
    return min(1.0, max(0.5 / (documents + 1), max(at_least, min(estimate, at_most))))


@inner_kernel
def _needed(code: QueryCode, query: int) -> int:
    """How many operands of an ACCRUE have to hold: t * t for a threshold t, when it is the only group."""
    threshold = code.threshold[query]
    last = code.step[code.step_start[query + 1] - 1]
    steps = code.step_start[query + 1] - code.step_start[query]
    leaves = code.leaf_start[query + 1] - code.leaf_start[query]
    if not threshold > 0 or last >= 0 or operation_of(last) != ACCRUE or steps != leaves + 1:
        return 1
    return max(1, np.int64(math.ceil(min(threshold * threshold * (1 - 1e-9), float(leaves)))))


@inner_kernel
def _most_frequent_term(code: QueryCode, query: int, sketches: TermSketches) -> int:
    most = code.term[code.term_start[code.leaf_start[query]]]
    for i in range(code.term_start[code.leaf_start[query]], code.term_start[code.leaf_start[query + 1]]):
        if sketches.documents[code.term[i]] > sketches.documents[most]:
            most = code.term[i]
    return most


@kernel
def _take_sample(code: QueryCode, query: int, sketches: TermSketches, room: _Room) -> tuple[int, bool]:
    """The documents of least hash in all terms together, as far as every sketch knows them; how many they
    are, and whether these are all documents that hold a term."""
    first = code.term_start[code.leaf_start[query]]
    last = code.term_start[code.leaf_start[query + 1]]
    end = np.int64(END - 1)
    is_whole = True
    for i in range(first, last):
        term = code.term[i]
        if not sketches.is_whole[term]:
            is_whole = False
            if sketches.start[term + 1] > sketches.start[term]:
                end = min(end, sketches.hash[sketches.start[term + 1] - 1])
    count = 0
    for i in range(first, last):
        term = code.term[i]
        for at in range(sketches.start[term], sketches.start[term + 1]):
            if sketches.hash[at] > end:
                break
            room.sample[count] = sketches.hash[at]
            count += 1
    every = room.sample[:count]
    every.sort()
    size = 0
    for at in range(count):
        if at == 0 or every[at] != every[at - 1]:
            every[size] = every[at]
            size += 1
    if size > LARGEST_SAMPLE:
        return LARGEST_SAMPLE, False
    return size, is_whole


@kernel
def _ask_sample(
    code: QueryCode,
    query: int,
    sketches: TermSketches,
    size: int,
    reference: int,
    needed: int,
    room: _Room,
) -> tuple[int, int]:
    """In how many documents of the sample the reference term is, and in how many the query holds."""
    first_leaf = code.leaf_start[query]
    first = code.term_start[first_leaf]
    pointer, verdict = room.pointer, room.verdict
    for i in range(first, code.term_start[code.leaf_start[query + 1]]):
        pointer[i - first] = sketches.start[code.term[i]]
    seen = hits = 0
    for d in range(size):
        document = room.sample[d]
        depth = 0
        is_seen = False
        for at in range(code.step_start[query], code.step_start[query + 1]):
            step = code.step[at]
            if step < 0:
                arity = arity_of(step)
                depth -= arity
                verdict[depth] = _joined(verdict, depth, arity, operation_of(step), needed)
                depth += 1
                continue
            leaf = first_leaf + step
            holds = True
            for i in range(code.term_start[leaf], code.term_start[leaf + 1]):
                term = code.term[i]
                place = pointer[i - first]
                while place < sketches.start[term + 1] and sketches.hash[place] < document:
                    place += 1
                pointer[i - first] = place
                is_member = place < sketches.start[term + 1] and sketches.hash[place] == document
                holds = holds and is_member
                is_seen = is_seen or (is_member and term == reference)
            if code.negated[leaf] == PLAIN:
                verdict[depth] = _HOLDS if holds else _FAILS
            else:
                verdict[depth] = _NEGATED_FAILS if holds else _NEGATED_HOLDS
            depth += 1
        seen += is_seen
        hits += verdict[0] == _HOLDS
    return seen, hits


@inner_kernel
def _joined(verdict: Bytes, first: int, arity: int, operation: int, needed: int) -> int:
    """Whether a group holds, by the verdicts on its operands."""
    plain = held = 0
    for i in range(first, first + arity):
        if verdict[i] == _NEGATED_FAILS:
            return _FAILS
        if verdict[i] <= _HOLDS:
            plain += 1
            held += verdict[i] == _HOLDS
    wanted = plain if operation == AND else needed if operation == ACCRUE else 1
    return _HOLDS if held >= wanted else _FAILS


@kernel
def _bounds(
    code: QueryCode, query: int, sketches: TermSketches, documents: int, needed: int, room: _Room
) -> None:
    """What follows from the shares of the words alone, at place 0 of the room's last three arrays."""
    at_least, at_most, independent, verdict = room.at_least, room.at_most, room.independent, room.verdict
    depth = 0
    for at in range(code.step_start[query], code.step_start[query + 1]):
        step = code.step[at]
        if step >= 0:
            leaf = code.leaf_start[query] + step
            least = product = 1.0
            for i in range(code.term_start[leaf], code.term_start[leaf + 1]):
                share = min(1.0, sketches.documents[code.term[i]] / documents)
                least = min(least, share)
                product *= share
            is_phrase = code.term_start[leaf + 1] - code.term_start[leaf] > 1
            if code.negated[leaf] == PLAIN:
                at_least[depth] = 0.0 if is_phrase else least
                at_most[depth] = least
                independent[depth] = product
                verdict[depth] = _HOLDS
            else:
                at_least[depth] = 1.0 - least
                at_most[depth] = 1.0 if is_phrase else 1.0 - least
                independent[depth] = 1.0 - product
                verdict[depth] = _NEGATED_HOLDS
            depth += 1
            continue
        arity = arity_of(step)
        depth -= arity
        _join_bounds(room, depth, arity, operation_of(step), needed)
        verdict[depth] = _HOLDS
        depth += 1


@inner_kernel
def _join_bounds(room: _Room, first: int, arity: int, operation: int, needed: int) -> None:
    """The bounds of a group, in the place of its first operand."""
    at_least, at_most, independent, verdict = room.at_least, room.at_most, room.independent, room.verdict
    missing = 0.0
    least_most = every = none = 1.0
    best = total = 0.0
    for i in range(first, first + arity):
        if operation == AND or verdict[i] == _NEGATED_HOLDS:
            missing += 1.0 - at_least[i]
            least_most = min(least_most, at_most[i])
            every *= independent[i]
        else:
            best = max(best, at_least[i])
            total += at_most[i]
            none *= 1.0 - independent[i]
    if operation != AND:
        at_most_any = min(1.0, total / needed) if operation == ACCRUE else min(1.0, total)
        missing += 1.0 - (best if operation != ACCRUE or needed == 1 else 0.0)
        least_most = min(least_most, at_most_any)
        every *= min(1.0 - none, at_most_any)
    at_least[first] = max(0.0, 1.0 - missing)
    at_most[first] = least_most
    independent[first] = every
