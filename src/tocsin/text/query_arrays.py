"""Text queries become arrays: read by a kernel, and by the grammar where that is not sure.

What the grammar reads is printed and given to the kernel again, so however a query was written, it
becomes arrays in one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.packed import packed_bytes
from tocsin.errors import UsageError
from tocsin.text.kernels.dictionary import DictionaryWords
from tocsin.text.kernels.query_code import QueryCode, Terms
from tocsin.text.kernels.query_parser import QueriesRead
from tocsin.text.kernels.query_parser import read_queries as read_bytes
from tocsin.text.kernels.terms import fill_idf, no_terms, number_terms
from tocsin.text.language.parser import QueryProblems, parse_query
from tocsin.text.language.printer import print_query
from tocsin.text.language.query import TextQuery


class WrittenQueries(NamedTuple):
    """Queries as rules have them. Q of them.

    group       int32[Q]     the text group (a field) of each
    start       int64[Q+1]   its bytes: data[start[q] : start[q + 1]]
    data        uint8[...]
    any_gap     bool[Q]      whether the words of a phrase only need to come in order (tm_contains)
    threshold   float64[Q]   NaN when the Boolean reading decides alone
    """

    group: NDArray[np.int32]
    start: NDArray[np.int64]
    data: NDArray[np.uint8]
    any_gap: NDArray[np.bool_]
    threshold: NDArray[np.float64]


def read_queries(
    written: WrittenQueries, dictionary: DictionaryWords, known: Terms | None = None
) -> tuple[QueryCode, Terms]:
    """The queries as arrays, and their terms; known terms come first and keep their numbers.

    UsageError when one is no query: rules were checked before they came here.
    """
    count = len(written.group)
    read = read_bytes(written.data, written.start, written.group, written.any_gap, np.zeros(count, np.bool_))
    if read.refused.any():
        read = _read_with_grammar(written, read.refused.astype(np.bool_))
    return _numbered(read, written.group, written.threshold, dictionary, known)


def query_code(
    queries: Sequence[TextQuery],
    groups: Sequence[int],
    thresholds: Sequence[float],
    dictionary: DictionaryWords,
    known: Terms | None = None,
) -> tuple[QueryCode, Terms]:
    """The same for queries that the grammar has read."""
    group = np.array(groups, np.int32)
    start, data = packed_bytes([print_query(query).encode() for query in queries])
    canonical = np.ones(len(queries), np.bool_)
    read = read_bytes(data, start, group, ~canonical, canonical)
    return _numbered(read, group, np.array(thresholds, np.float64), dictionary, known)


def _read_with_grammar(written: WrittenQueries, refused: NDArray[np.bool_]) -> QueriesRead:
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
    read: QueriesRead,
    group: NDArray[np.int32],
    threshold: NDArray[np.float64],
    dictionary: DictionaryWords,
    known: Terms | None,
) -> tuple[QueryCode, Terms]:
    term, terms = number_terms(
        no_terms() if known is None else known, read.word_group, read.is_prefix, read.byte_start, read.data
    )
    fill_idf(terms, dictionary)
    return QueryCode(
        group,
        threshold,
        read.step_start,
        read.step,
        read.leaf_start,
        read.negated,
        read.gap,
        read.word_start,
        term,
    ), terms
