"""Leaves by operator family: every distinct predicate finds its place in the arrays that find it.

A group is one field and one kind (a field's null tests are a group of their own). Within a group a
predicate belongs to one family:

    points     =, in               literal -> leaves, by hash
    ranges     <, <=, >, >=,       sorted distinct bounds; each leaf an interval of slots
               between, cidr
    null       is null
    patterns   like, ilike,        asked of each distinct text of a batch (matching/pattern_finder.py)
               matches
    texts      contains,           found by the trie filter (text/), in a group of its own for each field:
               tm_contains         the strings of a list are one document
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.arrays.byte_copy import gather_spans
from tocsin.arrays.distinct_texts import number_pieces
from tocsin.arrays.dtypes import Bytes, Flags, Ints, Longs
from tocsin.arrays.lookup import Bounds, Literals
from tocsin.arrays.packed import starts
from tocsin.arrays.row_table import distinct_rows, table_of_rows
from tocsin.arrays.text_table import table_of_texts
from tocsin.conditions.graph.predicate_table import PredicateTable
from tocsin.conditions.kernels.leaves import Ranges
from tocsin.conditions.kernels.posting_lists import postings
from tocsin.conditions.kernels.predicate_parser import (
    BETWEEN,
    CIDR,
    EQ,
    GE,
    GT,
    IN,
    LE,
    LIKE,
    LT,
    MATCHES,
    NULL,
    TEXTS,
)
from tocsin.conditions.language.tree import Path
from tocsin.events import Kind

_KINDS = TEXTS + 1


class Families(NamedTuple):
    """Every leaf in its place.

    group_path      the field of each group; group_kind its Kind, or NULLS, or TEXTS
    group_of        int32[L]     the group of each leaf
    null_leaf       int32[G]
    posting_start   int64[Q+1]   with posting_leaf: the leaves of each literal
    pattern_leaf    int32[...]   leaves of the pattern family, ascending
    text_leaf       int32[...]   leaves of free text, ascending
    """

    group_path: list[Path]
    group_kind: Bytes
    group_of: Ints
    null_leaf: Ints
    posting_start: Longs
    posting_leaf: Ints
    pattern_leaf: Ints
    text_leaf: Ints
    literals: Literals
    bounds: Bounds
    ranges: Ranges


class _Operands(NamedTuple):
    """The operands of some leaves, a row for each.

    leaf, group   int32[n]
    kind          uint8[n]
    high, low     int64[n]     the key; of a string nothing and its size,
    begin         int64[n]     and where in the table's text its bytes begin
    """

    leaf: Ints
    group: Ints
    kind: Bytes
    high: Longs
    low: Longs
    begin: Longs

    def of(self, rows: Flags | Longs) -> _Operands:
        return _Operands._make(column[rows] for column in self)


def sort_into_families(table: PredicateTable) -> Families:
    """Give every predicate its place."""
    test = table.test
    groups, group_of = _groups(table)
    null_leaf = np.full(len(groups), -1, np.int32)
    nulls = np.flatnonzero(test == NULL)
    null_leaf[group_of[nulls]] = nulls
    operands = _operands(table, group_of)
    tests = test[operands.leaf]
    literals, posting_start, posting_leaf = _lay_out_points(
        operands.of((tests == EQ) | (tests == IN)), table.text
    )
    ranged = ((tests >= LT) & (tests <= GE)) | (tests == BETWEEN) | (tests == CIDR)
    bounds, ranges = _lay_out_ranges(operands.of(ranged), tests[ranged], table.text, len(groups))
    return Families(
        [table.paths[code // _KINDS] for code in groups],
        np.array([code % _KINDS for code in groups], np.uint8),
        group_of,
        null_leaf,
        posting_start,
        posting_leaf,
        np.flatnonzero((test >= LIKE) & (test <= MATCHES)).astype(np.int32),
        np.flatnonzero(table.kind == TEXTS).astype(np.int32),
        literals,
        bounds,
        ranges,
    )


def _groups(table: PredicateTable) -> tuple[list[int], Ints]:
    """The groups by path and kind, each as field * _KINDS + kind, and the group of each leaf."""
    paths = table.paths
    code = table.field * np.int64(_KINDS) + table.kind
    number = np.zeros(len(paths) * _KINDS, np.int32)
    number[code] = 1
    codes = sorted(np.flatnonzero(number).tolist(), key=lambda code: (paths[code // _KINDS], code % _KINDS))
    number[codes] = np.arange(len(codes))
    return codes, number[code]


def _operands(table: PredicateTable, group_of: Ints) -> _Operands:
    """All operands, by group and leaf."""
    leaf = np.repeat(np.arange(len(group_of), dtype=np.int32), np.diff(table.operand_start))
    kind = table.kind[leaf]
    low = table.operand_low
    before = starts(np.where(kind == Kind.STRING, low, 0), np.int64)
    begin = table.text_start[leaf] + before[:-1] - before[table.operand_start[leaf]]
    everything = _Operands(leaf, group_of[leaf], kind, table.operand_high, low, begin)
    return everything.of(_by_group(everything.group))


def _by_group(group: Ints) -> Longs:
    """The order of rows by group, else as they are; NumPy sorts 16 bits in linear time."""
    narrow = group.max(initial=0) <= np.iinfo(np.uint16).max
    return np.argsort(group.astype(np.uint16) if narrow else group, kind="stable")


def _lay_out_points(rows: _Operands, text: Bytes) -> tuple[Literals, Longs, Ints]:
    """The literals of = and in, and the leaves of each: scalars first, then texts."""
    scalars, texts = rows.of(rows.kind != Kind.STRING), rows.of(rows.kind == Kind.STRING)
    number, first = distinct_rows(scalars.group, scalars.high, scalars.low)
    start, data = gather_spans(text, texts.begin, texts.begin + texts.low)
    text_number, text_first = distinct_rows(texts.group, number_pieces(data, start)[0])
    posting_start, posting_leaf = postings(
        np.concatenate([number, text_number + np.int32(len(first))]),
        len(first) + len(text_first),
        np.concatenate([scalars.leaf, texts.leaf]),
    )
    scalars, texts = scalars.of(first), texts.of(text_first)
    scalar = np.stack((scalars.high, scalars.low, scalars.group), axis=1, dtype=np.int64).reshape(-1)
    text_start, text_bytes = gather_spans(data, start[text_first], start[text_first + 1])
    literals = Literals(
        scalar,
        table_of_rows(scalar, 3),
        texts.group,
        text_start,
        text_bytes,
        table_of_texts(texts.group, text_start, text_bytes),
    )
    return literals, posting_start, posting_leaf


def _lay_out_ranges(rows: _Operands, test: Bytes, text: Bytes, groups: int) -> tuple[Bounds, Ranges]:
    """Rows are bounds; those of between and cidr come in pairs, the lower one first."""
    texts = rows.kind == Kind.STRING
    keyed = rows._replace(
        high=np.where(texts, _ranks(rows, texts, text), rows.high), low=np.where(texts, 0, rows.low)
    )
    first, place = _distinct_bounds(keyed)
    prefixes = (test == LT) | (test == LE)
    suffixes = (test == GT) | (test == GE)
    pairs = np.flatnonzero((test == BETWEEN) | (test == CIDR))
    lower, upper = pairs[::2], pairs[1::2]
    lower, upper = lower[place[lower] <= place[upper]], upper[place[lower] <= place[upper]]
    to = 2 * place[prefixes] + (test[prefixes] == LE)
    since = 2 * place[suffixes] + np.where(test[suffixes] == GE, 1, 2)
    by_to = np.lexsort((to, rows.group[prefixes]))
    by_since = np.lexsort((-since, rows.group[suffixes]))
    by_ends = np.lexsort((place[upper], place[lower], rows.group[lower]))
    lower, upper = lower[by_ends], upper[by_ends]
    return (
        _bounds(rows.of(first), text, groups),
        Ranges(
            _group_starts(rows.group[prefixes], groups),
            rows.leaf[prefixes][by_to],
            to[by_to].astype(np.int32),
            _group_starts(rows.group[suffixes], groups),
            rows.leaf[suffixes][by_since],
            since[by_since].astype(np.int32),
            _group_starts(rows.group[lower], groups),
            rows.leaf[lower],
            (2 * place[lower] + 1).astype(np.int32),
            (2 * place[upper] + 1).astype(np.int32),
        ),
    )


def _ranks(rows: _Operands, texts: Flags, text: Bytes) -> Longs:
    """Numbers that compare as the strings among the rows do, and 0 for the others."""
    ranks = np.zeros(len(texts), np.int64)
    if texts.any():
        begin = rows.begin[texts]
        start, data = gather_spans(text, begin, begin + rows.low[texts])
        strings = pa.LargeBinaryArray.from_buffers(
            pa.large_binary(), len(begin), [None, pa.py_buffer(start), pa.py_buffer(data)]
        )
        ranks[texts] = pc.rank(strings, tiebreaker="dense").to_numpy()
    return ranks


def _distinct_bounds(rows: _Operands) -> tuple[Longs, Longs]:
    """The rows that are the first of their bound, by group and bound; and each row's place in its group."""
    order = np.lexsort((rows.low, rows.high, rows.group))
    ordered = rows.of(order)
    other_group = np.diff(ordered.group, prepend=-1) != 0
    fresh = other_group | (np.diff(ordered.high, prepend=0) != 0) | (np.diff(ordered.low, prepend=0) != 0)
    number = np.cumsum(fresh) - 1
    place = np.empty(len(order), np.int64)
    place[order] = number - np.maximum.accumulate(np.where(other_group, number, 0))
    return order[fresh], place


def _bounds(rows: _Operands, text: Bytes, groups: int) -> Bounds:
    """Bounds, from distinct ones that ascend within their groups."""
    texts = rows.kind == Kind.STRING
    strings, scalars = rows.of(texts), rows.of(~texts)
    return Bounds(
        _group_starts(scalars.group, groups),
        scalars.high,
        scalars.low,
        _group_starts(strings.group, groups),
        *gather_spans(text, strings.begin, strings.begin + strings.low),
    )


def _group_starts(group: Ints, groups: int) -> Ints:
    return starts(np.bincount(group, minlength=groups), np.int32)


def put_in_order(families: Families) -> tuple[Families, Longs]:
    """The families with their leaves renumbered, and which leaf each new number was before.

    Reading numbers predicates as they come. Matching goes from group to group, and within a group from
    literal to literal and from bound to bound; numbered in that order, the leaves it sets together lie
    together in memory.
    """
    count = len(families.group_of)
    ranges = families.ranges
    visits = np.concatenate(
        (
            families.null_leaf[families.null_leaf >= 0],
            families.posting_leaf,
            ranges.prefix_leaf,
            ranges.suffix_leaf,
            ranges.middle_leaf,
        )
    )
    visit = np.full(count, len(visits), np.int64)
    visit[visits[::-1]] = np.arange(len(visits) - 1, -1, -1)
    order = np.lexsort((visit, families.group_of))
    number = np.empty(count, np.int32)
    number[order] = np.arange(count, dtype=np.int32)
    null_leaf = families.null_leaf.copy()
    null_leaf[null_leaf >= 0] = number[null_leaf[null_leaf >= 0]]
    return families._replace(
        group_of=families.group_of[order],
        null_leaf=null_leaf,
        posting_leaf=number[families.posting_leaf],
        pattern_leaf=np.sort(number[families.pattern_leaf]),
        text_leaf=np.sort(number[families.text_leaf]),
        ranges=ranges._replace(
            prefix_leaf=number[ranges.prefix_leaf],
            suffix_leaf=number[ranges.suffix_leaf],
            middle_leaf=number[ranges.middle_leaf],
        ),
    ), order
