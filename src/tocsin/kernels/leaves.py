"""The truth of every leaf over a block of events.

Leaves are grouped by field and kind. The cells of a group reach here resolved: which literals a
value equals (a row of postings), where it lies among the group's sorted bounds (a slot), and what
else was found for it in this batch (patterns, decimals). Setting bits is all that is left, and events
of equal value are taken together: leaves that hold for the same events share one stored plane.

    slots of a group with bounds 10 < 20:     0 | 1 | 2 | 3 | 4
                                            <10  10  ..  20  >20
    x <= 10   slots 0..1   prefix            x > 10   slots 2..4   suffix
    x between 10 and 20    slots 1..3   middle
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.kernels.bits import count_bits, lowest_bit
from tocsin.kernels.jit import kernel
from tocsin.kernels.rows import (
    CHUNK,
    CHUNK_BITS,
    MOST_SPARSE,
    PER_WORD,
    PER_WORD_BITS,
    Chunk,
    Draft,
    Planes,
    add_plane,
    clear,
    fill,
    full_mask,
    place_of_chunk,
    store,
)

RADIX_BITS = 11
RADIX = 1 << RADIX_BITS

FEW = 48
"""Cells that are sorted by insertion: up to here that is quicker."""


class Leaves(NamedTuple):
    """The leaves of all groups but the ranges; part of the saved index. G groups.

    null_leaf        int32[G]     the `is null` leaf of a null group, -1 for a group of values
    posting_start    int64[Q+1]   leaves that a literal satisfies (=, in):
    posting_leaf     int32[...]       posting_leaf[posting_start[q] : posting_start[q+1]]
    negated_start    int32[G+1]   leaves of a group whose falsehood some rule asks for, and the plane
    negated_leaf     int32[...]       that holds it
    negated_plane    int32[...]
    """

    null_leaf: NDArray[np.int32]
    posting_start: NDArray[np.int64]
    posting_leaf: NDArray[np.int32]
    negated_start: NDArray[np.int32]
    negated_leaf: NDArray[np.int32]
    negated_plane: NDArray[np.int32]


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

    prefix_start: NDArray[np.int32]
    prefix_leaf: NDArray[np.int32]
    prefix_to: NDArray[np.int32]
    suffix_start: NDArray[np.int32]
    suffix_leaf: NDArray[np.int32]
    suffix_from: NDArray[np.int32]
    middle_start: NDArray[np.int32]
    middle_leaf: NDArray[np.int32]
    middle_from: NDArray[np.int32]
    middle_to: NDArray[np.int32]


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

    group_start: NDArray[np.int64]
    row: NDArray[np.int32]
    posting: NDArray[np.int32]
    slot: NDArray[np.int32]
    found: NDArray[np.int32]
    found_start: NDArray[np.int64]
    found_leaf: NDArray[np.int32]


class Sorter(NamedTuple):
    """Room for the cells of one group and block, made for a batch.

    by_posting   int32[c]       cells that equal a literal, by literal
    by_found     int32[c]       cells for which something was found, by what
    by_slot      int32[c]       cells with a place among the bounds, ascending by place
    other        int32[c]       for sorting
    tally        int64[RADIX]   for sorting
    hits         uint8[L]       how many of the group's values satisfy a leaf: 0, 1, or 2 for more;
                                all zero between groups
    """

    by_posting: NDArray[np.int32]
    by_found: NDArray[np.int32]
    by_slot: NDArray[np.int32]
    other: NDArray[np.int32]
    tally: NDArray[np.int64]
    hits: NDArray[np.uint8]


@kernel
def _sort_cells(
    key: NDArray[np.int32],
    begin: int,
    end: int,
    cell: NDArray[np.int32],
    other: NDArray[np.int32],
    tally: NDArray[np.int64],
) -> int:
    """Put the cells of begin..end whose key is not negative into `cell`, ascending by key; how many."""
    size = 0
    largest = 0
    for each in range(begin, end):
        if key[each] >= 0:
            cell[size] = each
            size += 1
            largest = max(largest, key[each])
    if size <= FEW:
        for i in range(1, size):
            moved = cell[i]
            j = i
            while j > 0 and key[cell[j - 1]] > key[moved]:
                cell[j] = cell[j - 1]
                j -= 1
            cell[j] = moved
        return size
    shift = 0
    while largest >> shift > 0:
        tally[:] = 0
        for i in range(size):
            tally[(key[cell[i]] >> shift) & (RADIX - 1)] += 1
        total = 0
        for digit in range(RADIX):
            here = tally[digit]
            tally[digit] = total
            total += here
        for i in range(size):
            digit = (key[cell[i]] >> shift) & (RADIX - 1)
            other[tally[digit]] = cell[i]
            tally[digit] += 1
        for i in range(size):
            cell[i] = other[i]
        shift += RADIX_BITS
    return size


@kernel
def _count_hits(
    key: NDArray[np.int32],
    cell: NDArray[np.int32],
    size: int,
    leaf_start: NDArray[np.int64],
    leaf: NDArray[np.int32],
    hits: NDArray[np.uint8],
) -> None:
    """For each distinct key of the sorted cells, count it for the leaves that it satisfies."""
    last = -1
    for i in range(size):
        value = key[cell[i]]
        if value != last:
            last = value
            for j in range(leaf_start[value], leaf_start[value + 1]):
                if hits[leaf[j]] < 2:
                    hits[leaf[j]] += 1


@kernel
def _mark_hits(
    key: NDArray[np.int32],
    cell: NDArray[np.int32],
    size: int,
    row: NDArray[np.int32],
    base: int,
    leaf_start: NDArray[np.int64],
    leaf: NDArray[np.int32],
    hits: NDArray[np.uint8],
    draft: Draft,
    words: int,
    planes: Planes,
    used: int,
) -> int:
    """Give the leaves of each distinct key its events; the new end of what is stored.

    A leaf that only one key satisfies shares that key's plane. One that several satisfy gets a whole
    plane of its own, which is still changed here and settled by _settle_hits.
    """
    entry, chunk, word = planes
    draft_chunk = draft.chunk
    full = full_mask(words)
    i = 0
    while i < size:
        value = key[cell[i]]
        mask = np.uint64(0)
        while i < size and key[cell[i]] == value:
            event = row[cell[i]] - base
            draft_chunk[event >> CHUNK_BITS] |= Chunk(np.uint64(1) << np.uint64(event & (CHUNK - 1)))
            mask |= np.uint64(1) << np.uint64(event >> CHUNK_BITS)
            i += 1
        shared = -1
        stored = np.uint64(0)
        for j in range(leaf_start[value], leaf_start[value + 1]):
            each = leaf[j]
            if hits[each] == 1:
                if shared < 0:
                    stored, shared, used = store(draft, mask, words, chunk, word, used)
                entry[2 * each] = stored
                entry[2 * each + 1] = shared
                continue
            if entry[2 * each] == 0:
                start = (used + PER_WORD - 1) & -PER_WORD
                used = start + PER_WORD * words
                for w in range(words):
                    word[(start >> PER_WORD_BITS) + w] = 0
                entry[2 * each] = full
                entry[2 * each + 1] = start
            bits = mask
            while bits != 0:
                place = lowest_bit(bits)
                chunk[np.int64(entry[2 * each + 1]) + place] |= draft_chunk[place]
                bits &= bits - np.uint64(1)
        clear(draft, mask)
    return used


@kernel
def _settle_hits(
    key: NDArray[np.int32],
    cell: NDArray[np.int32],
    size: int,
    leaf_start: NDArray[np.int64],
    leaf: NDArray[np.int32],
    hits: NDArray[np.uint8],
    words: int,
    planes: Planes,
) -> None:
    """Close up the planes that several keys were added to, and forget the hits."""
    last = -1
    for i in range(size):
        value = key[cell[i]]
        if value == last:
            continue
        last = value
        for j in range(leaf_start[value], leaf_start[value + 1]):
            each = leaf[j]
            if hits[each] == 2:
                _close_up(planes, each, words)
            hits[each] = 0


@kernel
def _close_up(planes: Planes, plane: int, words: int) -> None:
    """Store a plane that is whole, and is nobody else's, by its chunks if these are few."""
    entry, chunk, _word = planes
    at = np.int64(entry[2 * plane + 1])
    mask = np.uint64(0)
    filled = 0
    for place in range(PER_WORD * words):
        if chunk[at + place] != 0:
            mask |= np.uint64(1) << np.uint64(place)
            filled += 1
    if filled > MOST_SPARSE or mask == entry[2 * plane]:
        return
    entry[2 * plane] = mask
    source = at
    while mask != 0:
        chunk[at] = chunk[source + lowest_bit(mask)]
        at += 1
        mask &= mask - np.uint64(1)


@kernel
def _assign(planes: Planes, leaf: int, draft: Draft, mask: np.uint64, words: int, used: int) -> int:
    """Give a leaf the events of a draft, besides those it has already; the new end."""
    entry, chunk, word = planes
    draft_chunk = draft.chunk
    if entry[2 * leaf] == 0:
        stored, at, used = store(draft, mask, words, chunk, word, used)
    else:
        own = draft_chunk.copy()
        both = Draft(own, own.view(np.uint64))
        mask |= add_plane(planes, leaf, full_mask(words), both)
        stored, at, used = store(both, mask, words, chunk, word, used)
    entry[2 * leaf] = stored
    entry[2 * leaf + 1] = at
    return used


@kernel
def _mark_rays(
    leaf: NDArray[np.int32],
    limit: NDArray[np.int32],
    first: int,
    last: int,
    upward: bool,
    cells: Cells,
    by_slot: NDArray[np.int32],
    size: int,
    base: int,
    draft: Draft,
    words: int,
    planes: Planes,
    used: int,
) -> int:
    """Ranges that are open on one side, each a superset of the one before: one growing draft.

    upward: from the lowest slot, limit the last slot of each range; else from the highest, limit the
    first. A range that adds no event shares the plane of the one before.
    """
    entry, chunk, word = planes
    draft_chunk = draft.chunk
    row, slot = cells.row, cells.slot
    mask = np.uint64(0)
    at = 0 if upward else size
    shared = -1
    stored = np.uint64(0)
    for i in range(first, last):
        while at < size if upward else at > 0:
            cell = by_slot[at if upward else at - 1]
            if slot[cell] > limit[i] if upward else slot[cell] < limit[i]:
                break
            event = row[cell] - base
            draft_chunk[event >> CHUNK_BITS] |= Chunk(np.uint64(1) << np.uint64(event & (CHUNK - 1)))
            mask |= np.uint64(1) << np.uint64(event >> CHUNK_BITS)
            shared = -1
            at += 1 if upward else -1
        if mask == 0:
            continue
        if entry[2 * leaf[i]] != 0:
            used = _assign(planes, leaf[i], draft, mask, words, used)
            continue
        if shared < 0:
            stored, shared, used = store(draft, mask, words, chunk, word, used)
        entry[2 * leaf[i]] = stored
        entry[2 * leaf[i] + 1] = shared
    clear(draft, mask)
    return used


@kernel
def _mark_middles(
    ranges: Ranges,
    group: int,
    cells: Cells,
    by_slot: NDArray[np.int32],
    size: int,
    base: int,
    draft: Draft,
    words: int,
    planes: Planes,
    used: int,
) -> int:
    """Ranges with two ends."""
    draft_chunk = draft.chunk
    row, slot = cells.row, cells.slot
    at = 0
    for i in range(ranges.middle_start[group], ranges.middle_start[group + 1]):
        while at < size and slot[by_slot[at]] < ranges.middle_from[i]:
            at += 1
        inside = at
        mask = np.uint64(0)
        while inside < size and slot[by_slot[inside]] <= ranges.middle_to[i]:
            event = row[by_slot[inside]] - base
            draft_chunk[event >> CHUNK_BITS] |= Chunk(np.uint64(1) << np.uint64(event & (CHUNK - 1)))
            mask |= np.uint64(1) << np.uint64(event >> CHUNK_BITS)
            inside += 1
        if mask != 0:
            used = _assign(planes, ranges.middle_leaf[i], draft, mask, words, used)
            clear(draft, mask)
    return used


@kernel
def _mark_negated(
    leaves: Leaves,
    group: int,
    known: Draft,
    known_mask: np.uint64,
    draft: Draft,
    words: int,
    planes: Planes,
    used: int,
) -> int:
    """Falsehood of the group's leaves: known and not true. Where nothing is true, all share one plane."""
    entry, chunk, word = planes
    draft_chunk = draft.chunk
    known_chunk, known_word = known
    full = full_mask(words)
    known_whole = count_bits(known_mask) > MOST_SPARSE
    shared = -1
    stored = np.uint64(0)
    for i in range(leaves.negated_start[group], leaves.negated_start[group + 1]):
        leaf = leaves.negated_leaf[i]
        plane = leaves.negated_plane[i]
        true = entry[2 * leaf]
        if true & known_mask == 0:
            if shared < 0:
                stored, shared, used = store(known, known_mask, words, chunk, word, used)
            entry[2 * plane] = stored
            entry[2 * plane + 1] = shared
            continue
        if known_whole:
            start = (used + PER_WORD - 1) & -PER_WORD
            used = start + PER_WORD * words
            target = start >> PER_WORD_BITS
            source = np.int64(entry[2 * leaf + 1])
            if true == full:
                for w in range(words):
                    word[target + w] = known_word[w] & ~word[(source >> PER_WORD_BITS) + w]
            else:
                for w in range(words):
                    word[target + w] = known_word[w]
                while true != 0:
                    chunk[start + lowest_bit(true)] &= ~chunk[source]
                    source += 1
                    true &= true - np.uint64(1)
            entry[2 * plane] = full
            entry[2 * plane + 1] = start
            continue
        mask = np.uint64(0)
        bits = known_mask
        while bits != 0:
            place = lowest_bit(bits)
            bits &= bits - np.uint64(1)
            rest = known_chunk[place]
            if true & (np.uint64(1) << np.uint64(place)):
                rest &= ~chunk[place_of_chunk(true, np.int64(entry[2 * leaf + 1]), place, full)]
            if rest != 0:
                draft_chunk[place] = rest
                mask |= np.uint64(1) << np.uint64(place)
        if mask != 0:
            stored_mask, at, used = store(draft, mask, words, chunk, word, used)
            entry[2 * plane] = stored_mask
            entry[2 * plane + 1] = at
            clear(draft, mask)
    return used


@kernel
def mark_leaves(
    leaves: Leaves,
    ranges: Ranges,
    cells: Cells,
    cursor: NDArray[np.int64],
    base: int,
    size: int,
    sorter: Sorter,
    drafts: tuple[Draft, Draft],
    words: int,
    planes: Planes,
    used: int,
) -> int:
    """Set the planes of all leaves for the events base .. base + size; the new end of what is stored.

    cursor[g] is the first cell of group g not yet used, and moves on. The leaves' masks are zero
    before, and so are both drafts, before and after.
    """
    draft, known = drafts
    for group in range(leaves.null_leaf.size):
        begin = cursor[group]
        end = begin
        limit = cells.group_start[group + 1]
        while end < limit and cells.row[end] < base + size:
            end += 1
        cursor[group] = end
        null_leaf = leaves.null_leaf[group]
        if begin == end and null_leaf < 0:
            continue
        known_mask = np.uint64(0)
        for cell in range(begin, end):
            event = cells.row[cell] - base
            known.chunk[event >> CHUNK_BITS] |= Chunk(np.uint64(1) << np.uint64(event & (CHUNK - 1)))
            known_mask |= np.uint64(1) << np.uint64(event >> CHUNK_BITS)
        if null_leaf >= 0:
            used = _mark_null(null_leaf, size, known, known_mask, draft, words, planes, used)
            known_mask = fill(known, size)
        else:
            used = _mark_values(
                leaves, ranges, cells, group, begin, end, base, sorter, draft, words, planes, used
            )
        if leaves.negated_start[group + 1] > leaves.negated_start[group]:
            used = _mark_negated(leaves, group, known, known_mask, draft, words, planes, used)
        clear(known, known_mask)
    return used


@kernel
def _mark_null(
    leaf: int,
    size: int,
    known: Draft,
    known_mask: np.uint64,
    draft: Draft,
    words: int,
    planes: Planes,
    used: int,
) -> int:
    """`is null`: the events of the block that the field is not known for."""
    entry, chunk, word = planes
    draft_chunk = draft.chunk
    known_chunk, _known_word = known
    mask = fill(draft, size)
    bits = known_mask
    while bits != 0:
        place = lowest_bit(bits)
        draft_chunk[place] &= ~known_chunk[place]
        if draft_chunk[place] == 0:
            mask ^= np.uint64(1) << np.uint64(place)
        bits &= bits - np.uint64(1)
    if mask != 0:
        stored, at, used = store(draft, mask, words, chunk, word, used)
        entry[2 * leaf] = stored
        entry[2 * leaf + 1] = at
    clear(draft, mask)
    return used


@kernel
def _mark_values(
    leaves: Leaves,
    ranges: Ranges,
    cells: Cells,
    group: int,
    begin: int,
    end: int,
    base: int,
    sorter: Sorter,
    draft: Draft,
    words: int,
    planes: Planes,
    used: int,
) -> int:
    """The leaves that a group's values satisfy: by literal, by what was found, by range."""
    row, hits = cells.row, sorter.hits
    equal = _sort_cells(cells.posting, begin, end, sorter.by_posting, sorter.other, sorter.tally)
    found = _sort_cells(cells.found, begin, end, sorter.by_found, sorter.other, sorter.tally)
    post_start, post_leaf = leaves.posting_start, leaves.posting_leaf
    _count_hits(cells.posting, sorter.by_posting, equal, post_start, post_leaf, hits)
    _count_hits(cells.found, sorter.by_found, found, cells.found_start, cells.found_leaf, hits)
    used = _mark_hits(
        cells.posting,
        sorter.by_posting,
        equal,
        row,
        base,
        post_start,
        post_leaf,
        hits,
        draft,
        words,
        planes,
        used,
    )
    used = _mark_hits(
        cells.found,
        sorter.by_found,
        found,
        row,
        base,
        cells.found_start,
        cells.found_leaf,
        hits,
        draft,
        words,
        planes,
        used,
    )
    _settle_hits(cells.posting, sorter.by_posting, equal, post_start, post_leaf, hits, words, planes)
    _settle_hits(
        cells.found, sorter.by_found, found, cells.found_start, cells.found_leaf, hits, words, planes
    )
    by_slot = sorter.by_slot
    size = _sort_cells(cells.slot, begin, end, by_slot, sorter.other, sorter.tally)
    if size == 0:
        return used
    first, last = ranges.prefix_start[group], ranges.prefix_start[group + 1]
    used = _mark_rays(
        ranges.prefix_leaf,
        ranges.prefix_to,
        first,
        last,
        True,
        cells,
        by_slot,
        size,
        base,
        draft,
        words,
        planes,
        used,
    )
    first, last = ranges.suffix_start[group], ranges.suffix_start[group + 1]
    used = _mark_rays(
        ranges.suffix_leaf,
        ranges.suffix_from,
        first,
        last,
        False,
        cells,
        by_slot,
        size,
        base,
        draft,
        words,
        planes,
        used,
    )
    return _mark_middles(ranges, group, cells, by_slot, size, base, draft, words, planes, used)
