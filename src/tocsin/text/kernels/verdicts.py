"""Whether a query holds in the document that was read, and its score.

A query is judged step by step, what waits for a group on a stack. Most queries are one group of
words and phrases, or a single one: their Boolean reading needs no stack, and ends as soon as it is
decided.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import prefetch
from tocsin.arrays.dtypes import Bytes, Doubles, Ints
from tocsin.arrays.jit import bare_kernel, inner_kernel, kernel
from tocsin.text.kernels.dictionary import DictionaryWords
from tocsin.text.kernels.document_words import DocumentWords
from tocsin.text.kernels.phrases import leaf_occurs
from tocsin.text.kernels.query_code import (
    ACCRUE,
    AND,
    NEGATED_IN_AND,
    OR,
    PLAIN,
    QueryCode,
    Terms,
    arity_of,
    operation_of,
)
from tocsin.text.kernels.term_weights import count_words, leaf_weight

_FAILS = 0
_HOLDS = 1
_NEGATED_FAILS = 2
_NEGATED_HOLDS = 3

_AHEAD = 4
"""How many queries ahead their leaves are asked for; twice as many for where they begin."""


class JudgingRoom(NamedTuple):
    """What waits for a group while a query is judged. Room for the longest query; one thread's.

    verdict   uint8[n]     whether an operand holds, and whether it is a negated leaf
    value     float64[n]   what it weighs
    """

    verdict: Bytes
    value: Doubles


@kernel
def room_to_judge(code: QueryCode, queries: Ints) -> JudgingRoom:
    """Room for the longest of some queries."""
    most = 1
    for query in queries:
        most = max(most, code.leaf_start[query + 1] - code.leaf_start[query])
    return JudgingRoom(np.empty(most, np.uint8), np.empty(most, np.float64))


@inner_kernel
def _verdict_of_leaf(code: QueryCode, leaf: int, occurs: bool) -> int:
    if code.negated[leaf] == PLAIN:
        return _HOLDS if occurs else _FAILS
    return _NEGATED_FAILS if occurs else _NEGATED_HOLDS


@inner_kernel
def _verdict_of_group(verdict: Bytes, first: int, last: int, operation: int) -> int:
    """AND: all hold. OR, ACCRUE: an operand without negation holds, and so do all with it."""
    some = False
    for i in range(first, last):
        if verdict[i] == _NEGATED_FAILS or (verdict[i] == _FAILS and operation == AND):
            return _FAILS
        if verdict[i] == _HOLDS:
            some = True
    return _HOLDS if some else _FAILS


@inner_kernel
def _one_group_holds(code: QueryCode, first: int, last: int, operation: int, words: DocumentWords) -> bool:
    """The Boolean reading of a query that is one group, of the leaves first ... last."""
    some = False
    for leaf in range(first, last):
        if code.negated[leaf] != PLAIN:
            if leaf_occurs(code, leaf, words):
                return False
        elif operation == AND:
            if not leaf_occurs(code, leaf, words):
                return False
            some = True
        elif not some:
            some = leaf_occurs(code, leaf, words)
            if some and operation == OR:
                return True
    return some


@inner_kernel
def ask_ahead(code: QueryCode, query: Ints, at: int, last: int) -> None:
    """Ask for what queries behind query[at] will need: they are anywhere in large arrays."""
    if at + 2 * _AHEAD < last:
        following = np.int64(query[at + 2 * _AHEAD])
        prefetch(code.step_start, following)
        prefetch(code.leaf_start, following)
        prefetch(code.threshold, following)
    if at + _AHEAD < last:
        following = np.int64(query[at + _AHEAD])
        leaf = code.leaf_start[following]
        prefetch(code.step, code.step_start[following])
        prefetch(code.term_start, leaf)
        prefetch(code.negated, leaf)
        prefetch(code.gap, leaf)
    if at + _AHEAD // 2 < last:
        leaf = code.leaf_start[query[at + _AHEAD // 2]]
        prefetch(code.term, code.term_start[leaf])


@inner_kernel
def query_holds(code: QueryCode, query: int, words: DocumentWords, room: JudgingRoom) -> bool:
    """The Boolean reading of a query."""
    first, last = code.step_start[query], code.step_start[query + 1]
    first_leaf, last_leaf = code.leaf_start[query], code.leaf_start[query + 1]
    if last - first == 1:
        return leaf_occurs(code, first_leaf, words)
    if last - first == last_leaf - first_leaf + 1:
        return _one_group_holds(code, first_leaf, last_leaf, operation_of(code.step[last - 1]), words)
    verdict = room.verdict
    waiting = 0
    for i in range(first, last):
        step = code.step[i]
        if step >= 0:
            leaf = first_leaf + step
            verdict[waiting] = _verdict_of_leaf(code, leaf, leaf_occurs(code, leaf, words))
        else:
            operands = waiting - arity_of(step)
            verdict[operands] = _verdict_of_group(verdict, operands, waiting, operation_of(step))
            waiting = operands
        waiting += 1
    return verdict[0] == _HOLDS


@inner_kernel
def _value_of_group(value: Doubles, first: int, last: int, operation: int) -> float:
    """The sum of values (ACCRUE), the largest (OR) or the smallest that is not 0 (AND)."""
    result = 0.0
    for i in range(first, last):
        if value[i] == 0:
            continue
        if operation == ACCRUE:
            result += value[i]
        elif result == 0 or (value[i] > result if operation == OR else value[i] < result):
            result = value[i]
    return result


@inner_kernel
def _score_of(
    code: QueryCode,
    query: int,
    dictionary: DictionaryWords,
    terms: Terms,
    words: DocumentWords,
    room: JudgingRoom,
) -> float:
    """The score of a query in a document whose words are counted; 0 when its Boolean reading fails."""
    verdict, value = room.verdict, room.value
    squares = 0.0
    waiting = 0
    for i in range(code.step_start[query], code.step_start[query + 1]):
        step = code.step[i]
        if step >= 0:
            leaf = code.leaf_start[query] + step
            occurs = leaf_occurs(code, leaf, words)
            weight = 0.0
            if code.negated[leaf] == PLAIN:
                if occurs:
                    weight = leaf_weight(code, dictionary, terms, words, leaf)
            elif code.negated[leaf] == NEGATED_IN_AND and not occurs:
                weight = 1.0
            squares += weight * weight
            verdict[waiting] = _verdict_of_leaf(code, leaf, occurs)
            value[waiting] = weight
        else:
            operands = waiting - arity_of(step)
            operation = operation_of(step)
            verdict[operands] = _verdict_of_group(verdict, operands, waiting, operation)
            if verdict[operands] == _HOLDS:
                value[operands] = _value_of_group(value, operands, waiting, operation)
            else:
                value[operands] = 0.0
            waiting = operands
        waiting += 1
    return value[0] / math.sqrt(squares) if value[0] != 0 else 0.0


@bare_kernel
def write_scores(
    code: QueryCode,
    query: Ints,
    first: int,
    last: int,
    dictionary: DictionaryWords,
    terms: Terms,
    words: DocumentWords,
    room: JudgingRoom,
    score: Doubles,
) -> None:
    """Write the scores of query[first:last] to the same places of `score`.

    One call for all queries of a document: handing over so many arrays takes longer than one score.
    """
    if first < last:
        count_words(words)
    for i in range(first, last):
        ask_ahead(code, query, i, last)
        score[i] = _score_of(code, np.int64(query[i]), dictionary, terms, words, room)
