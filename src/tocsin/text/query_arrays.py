"""Text queries become arrays: read by a kernel, and by the grammar where that is not sure.

What the grammar reads is printed and given to the kernel again, so however a query was written, it
becomes arrays in one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Bytes, Doubles, Flags, Ints, Longs
from tocsin.arrays.packed import packed_bytes
from tocsin.errors import UsageError
from tocsin.text.kernels.dictionary import DictionaryWords
from tocsin.text.kernels.query_code import QueryCode, Terms
from tocsin.text.kernels.query_parser import QueriesRead
from tocsin.text.kernels.query_parser import read_queries as read_bytes
from tocsin.text.kernels.terms import fill_idf, number_terms
from tocsin.text.language.parser import QueryProblems, parse_query
from tocsin.text.language.query import TextQuery, print_query


class WrittenQueries(NamedTuple):
    """Queries as rules have them. Q of them.

    group       int32[Q]     the text group (a field) of each
    start       int64[Q+1]   its bytes: data[start[q] : start[q + 1]]
    data        uint8[...]
    any_gap     bool[Q]      whether the words of a phrase only need to come in order (tm_contains)
    threshold   float64[Q]   NaN when the Boolean reading decides alone
    """

    group: Ints
    start: Longs
    data: Bytes
    any_gap: Flags
    threshold: Doubles


def read_queries(written: WrittenQueries, dictionary: DictionaryWords) -> tuple[QueryCode, Terms]:
    """The queries as arrays, and their terms.

    UsageError when one is no query: rules were checked before they came here.
    """
    count = len(written.group)
    if not count:
        return _no_queries()  # which needs no kernel, and so none is compiled for rules without free text
    read = read_bytes(written.data, written.start, written.group, written.any_gap, np.zeros(count, np.bool_))
    if read.refused.any():
        read = _read_with_grammar(written, read.refused.astype(np.bool_))
    return _numbered(read, written.group, written.threshold, dictionary)


def _no_queries() -> tuple[QueryCode, Terms]:
    """What the kernels make of no query."""
    none, start, flags = np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.uint8)
    code = QueryCode(none, np.empty(0, np.float64), start, none, start, flags, none, start, none)
    slots, covering = np.zeros(2, np.uint64), np.zeros(1, np.int32)
    idf, record = np.empty(0, np.float64), np.empty(0, np.uint64)
    return code, Terms(none, flags, start, flags, idf, slots, record, slots.copy(), covering)


def query_code(
    queries: Sequence[TextQuery],
    groups: Sequence[int],
    thresholds: Sequence[float],
    dictionary: DictionaryWords,
) -> tuple[QueryCode, Terms]:
    """The same for queries that the grammar has read."""
    group = np.array(groups, np.int32)
    start, data = packed_bytes([print_query(query).encode() for query in queries])
    canonical = np.ones(len(queries), np.bool_)
    read = read_bytes(data, start, group, ~canonical, canonical)
    return _numbered(read, group, np.array(thresholds, np.float64), dictionary)


def _read_with_grammar(written: WrittenQueries, refused: Flags) -> QueriesRead:
    """All queries, those that the kernel refused as the grammar prints them."""
    whole = written.data.tobytes()
    texts: list[bytes] = []
    for query, is_refused in enumerate(refused.tolist()):
        text = whole[written.start[query] : written.start[query + 1]]
        if is_refused:
            any_gap = bool(written.any_gap[query])
            try:
                parsed = parse_query(text.decode(), any_gap=any_gap)
            except QueryProblems as problems:
                raise UsageError(f"not a text query: {text.decode()!r}: {problems}") from None
            text = print_query(parsed, any_gap=any_gap).encode()
        texts.append(text)
    start, data = packed_bytes(texts)
    return read_bytes(data, start, written.group, written.any_gap, refused)


def _numbered(
    read: QueriesRead, group: Ints, threshold: Doubles, dictionary: DictionaryWords
) -> tuple[QueryCode, Terms]:
    writing = read.writing
    steps, leaves, words, size = writing.used.tolist()
    term, terms = number_terms(
        read.word_group, writing.is_prefix[:words], writing.byte_start[: words + 1], writing.data[:size]
    )
    fill_idf(terms, dictionary)
    return QueryCode(
        group,
        threshold,
        read.step_start,
        writing.step[:steps].copy(),
        read.leaf_start,
        writing.negated[:leaves].copy(),
        writing.gap[:leaves].copy(),
        writing.word_start[: leaves + 1].copy(),
        term,
    ), terms
