"""The leaves of an index, and the cells of a batch, or of one event, that meet them.

Leaves are grouped by field and kind. The cells of a group reach the kernels resolved: which literals a
value equals (a row of postings), where it lies among the group's sorted bounds (a slot), and what else
was found for it in this batch (patterns, decimals).

    slots of a group with bounds 10 < 20:     0 | 1 | 2 | 3 | 4
                                            <10  10  ..  20  >20
    x <= 10   slots 0..1   prefix            x > 10   slots 2..4   suffix
    x between 10 and 20    slots 1..3   middle
"""

from __future__ import annotations

from typing import NamedTuple

from tocsin.arrays.dtypes import Bytes, Ints, Longs


class Leaves(NamedTuple):
    """The leaves of all groups but the ranges; part of the saved index. G groups.

    null_leaf        int32[G]     the `is null` leaf of a null group, -1 for a group of values
    posting_start    int64[Q+1]   leaves that a literal satisfies (=, in):
    posting_leaf     int32[...]       posting_leaf[posting_start[q] : posting_start[q+1]]
    negated_start    int32[G+1]   leaves of a group whose falsehood some rule asks for, and the plane
    negated_leaf     int32[...]       that holds it
    negated_plane    int32[...]
    """

    null_leaf: Ints
    posting_start: Longs
    posting_leaf: Ints
    negated_start: Ints
    negated_leaf: Ints
    negated_plane: Ints


class Ranges(NamedTuple):
    """The leaves of all groups that are intervals of slots; part of the saved index. G groups.

    prefix_start     int32[G+1]   <, <= of a group: leaves with the last slot that satisfies them,
    prefix_leaf      int32[...]       ascending by that slot
    prefix_to        int32[...]
    suffix_start     int32[G+1]   >, >= of a group: leaves with the first slot that satisfies them,
    suffix_leaf      int32[...]       descending by that slot
    suffix_from      int32[...]
    middle_start     int32[G+1]   between, cidr: first and last slot, ascending by first
    middle_leaf      int32[...]
    middle_from      int32[...]
    middle_to        int32[...]
    """

    prefix_start: Ints
    prefix_leaf: Ints
    prefix_to: Ints
    suffix_start: Ints
    suffix_leaf: Ints
    suffix_from: Ints
    middle_start: Ints
    middle_leaf: Ints
    middle_from: Ints
    middle_to: Ints


class Cells(NamedTuple):
    """A batch of events, resolved against the index.

    group_start   int64[G+1]   cells of group g: group_start[g] ... group_start[g+1]
    row           int32[C]     the event, ascending within a group
    posting       int32[C]     the literal it equals: a row of postings, or -1
    slot          int32[C]     its place among the group's bounds, or -1
    found         int32[C]     a row of found_start, or -1
    found_start   int64[F+1]   leaves found for a value in this batch:
    found_leaf    int32[...]       found_leaf[found_start[f] : found_start[f+1]]

    An empty list is a cell without posting, slot and found: known, satisfying nothing. A null
    group has one cell for every event where the field is present.
    """

    group_start: Longs
    row: Ints
    posting: Ints
    slot: Ints
    found: Ints
    found_start: Longs
    found_leaf: Ints


class Span(NamedTuple):
    """The cells begin..end of one group and block, whose first event is `base`; row is that of Cells."""

    row: Ints
    begin: int
    end: int
    base: int


class OneEvent(NamedTuple):
    """The values of one event, each for the group that asks about it.

    values        int64[...]   how many integers, floats, other scalars and texts there are, and then
                               for each integer its group and itself, at most 2^53 and at least -2^53;
                               the groups of all floats, and the bits of all, none a NaN;
                               for each scalar its group and its key, high and low;
                               for each text its group and where its bytes end, beginning where the last end;
                               groups that know the event besides: null tests of fields that are present,
                               empty lists, decimals, free text
    text_bytes    uint8[...]
    found_leaf    int32[...]   leaves found already, by patterns, decimals and free text
    """

    values: Longs
    text_bytes: Bytes
    found_leaf: Ints
