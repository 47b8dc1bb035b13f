"""Text queries as arrays: their terms, their leaves, and steps in postfix order.

query      (golf | tennis) & "david lee" & trop*
leaves     0 golf   1 tennis   2 "david lee"   3 trop*
steps      0  1  OR 2  2  3  AND 3
terms      golf  tennis  david  lee  trop*            each once in a field, however many queries name it
"""

from __future__ import annotations

from typing import NamedTuple

from tocsin.arrays.dtypes import Bytes, Doubles, Ints, Longs, Words
from tocsin.arrays.jit import inner_kernel

AND = 0
OR = 1
ACCRUE = 2

ANY_GAP = -1
"""The gap of a phrase whose words only need to come in order."""


class Terms(NamedTuple):
    """The different words and prefixes that queries name. T terms; a prefix and a word are two terms.

    group       int32[T]     the text group (a field) of each term
    is_prefix   uint8[T]
    start       int64[T+1]   its bytes, normalised: data[start[t] : start[t+1]]
    data        uint8[...]
    idf         float64[T]   how much finding the word says; 0 for stop words, unused for prefixes
    slot        uint64[2^k]  where a term is found by its hash (see terms.py): 0, or the upper half of
                             the hash and one more than the place of its record
    record      uint64[...]  for each term: its number (upper half) and size in bytes; where its prefixes
                             are in `covering` (upper half), its group and kind; its bytes in eights, two
                             at least, zeros behind the last byte
    prefixes    uint64[2^j + 1]   how long the prefixes are that begin as a word does (see terms.py)
    covering    int32[...]   the prefixes that cover a word: how many, then the terms
    """

    group: Ints
    is_prefix: Bytes
    start: Longs
    data: Bytes
    idf: Doubles
    slot: Words
    record: Words
    prefixes: Words
    covering: Ints


class QueryCode(NamedTuple):
    """Queries. Q queries of one index, numbered over all text groups.

    group        int32[Q]     the text group of each query
    threshold    float64[Q]   the score it asks for; NaN when its Boolean reading decides alone
    step_start   int64[Q+1]   steps of query q: step[step_start[q] : step_start[q+1]]
    step         int32[...]   a leaf, numbered from 0 within its query, or a group: see group_step
    leaf_start   int64[Q+1]   leaves of query q in their order: leaf_start[q] ... leaf_start[q+1]
    negated      uint8[F]     how a leaf stands: 0 plain, 1 negated in an ACCRUE, 2 negated in an AND
    gap          int32[F]     words that may stand between neighbours of a phrase, or ANY_GAP
    term_start   int64[F+1]   terms of leaf f in their order: term[term_start[f] : term_start[f+1]]
    term         int32[...]
    """

    group: Ints
    threshold: Doubles
    step_start: Longs
    step: Ints
    leaf_start: Longs
    negated: Bytes
    gap: Ints
    term_start: Longs
    term: Ints


PLAIN = 0
NEGATED_IN_ACCRUE = 1
NEGATED_IN_AND = 2


@inner_kernel
def group_step(operation: int, arity: int) -> int:
    """The step of a group over the last so many operands."""
    return -1 - (3 * arity + operation)


@inner_kernel
def operation_of(step: int) -> int:
    """AND, OR or ACCRUE, of a group's step."""
    return (-1 - step) % 3


@inner_kernel
def arity_of(step: int) -> int:
    """How many operands a group takes."""
    return (-1 - step) // 3
