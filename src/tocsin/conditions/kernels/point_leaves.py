"""Leaves that a value satisfies by what it equals, or by what was found for it in the batch.

Events of equal value are taken together, and leaves that only one value satisfies share its plane.

A group's cells are sorted by key, and those of one key are a run. Where there are few keys and many cells,
sorting is spared: the events of every key are collected at once, each in a draft of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import lowest_bit
from tocsin.arrays.dtypes import Bytes, Ints, Longs, Words
from tocsin.arrays.jit import bare_kernel, inner_kernel
from tocsin.conditions.kernels.bitmap_store import (
    LATER,
    WORDS,
    Draft,
    Planes,
    Sheet,
    add_event,
    clear,
    first_word,
    is_whole,
    mask_of,
    store,
)
from tocsin.conditions.kernels.cell_sort import Runs, Sorter, sort_cells, spread_of
from tocsin.conditions.kernels.leaves import Span

MOST_TOGETHER = 64
"""Keys whose events are collected at once, at most."""

FEWEST_CELLS = 8
"""Cells for each of these keys, or slots, at least: else there is more to make zero than to sort."""


class Keyed(NamedTuple):
    """Runs, and the leaves that each key satisfies.

    count        how many runs
    together     whether the events of run r are those of draft r, uint64[WORDS], among `drafts`
    leaf_start   int64[Q+1]   leaves of a key: leaf[leaf_start[q] : leaf_start[q+1]]
    leaf         int32[...]
    """

    runs: Runs
    count: int
    together: bool
    leaf_start: Longs
    leaf: Ints


@bare_kernel
def find_runs(key: Ints, span: Span, may_collect: bool, runs: Runs, sorter: Sorter) -> tuple[int, bool]:
    """Find the runs of the cells of a span: how many, and whether their events are in the sorter's drafts.

    They may be there only if `may_collect`; there is room for MOST_TOGETHER + 1 drafts.
    """
    least, largest = spread_of(key, span)
    if largest < 0:
        return 0, False
    keys = np.int64(largest) - np.int64(least) + 1
    if may_collect and keys <= MOST_TOGETHER and span.end - span.begin >= FEWEST_CELLS * keys:
        return _collect(key, span, least, keys, runs, sorter.drafts), True
    size = sort_cells(key, span, least, largest, runs.cell, sorter)
    count = 0
    for i in range(size):
        value = key[runs.cell[i]]
        if count == 0 or runs.key[count - 1] != value:
            runs.key[count] = value
            count += 1
        runs.end[count - 1] = i + 1
    return count, False


@inner_kernel
def collect_events(key: Ints, span: Span, least: np.int32, keys: int, drafts: Words) -> None:
    """The events of each of so many keys, of `least` in draft 1; those of cells without a key in draft 0."""
    below = np.int64(least) - 1
    nothing = np.int64(0)
    for i in range((keys + 1) * WORDS):
        drafts[i] = 0
    for each in range(span.begin, span.end):
        event = np.int64(span.row[each] - span.base)
        at = max(np.int64(key[each]) - below, nothing) * WORDS + (event >> 6)
        drafts[at] |= np.uint64(1) << np.uint64(event & 63)


@inner_kernel
def _collect(key: Ints, span: Span, least: np.int32, keys: int, runs: Runs, drafts: Words) -> int:
    """Collect the events of every key that occurs, the first one's in draft 0; how many there are."""
    collect_events(key, span, least, keys, drafts)
    count = 0
    for k in range(1, keys + 1):
        events = np.uint64(0)
        for w in range(WORDS):
            drafts[count * WORDS + w] = drafts[k * WORDS + w]
            events |= drafts[k * WORDS + w]
        if events != 0:
            runs.key[count] = np.int32(least + k - 1)
            count += 1
    return count


@bare_kernel
def count_hits(keyed: Keyed, hits: Bytes) -> None:
    """Count each key for the leaves that it satisfies."""
    leaf = keyed.leaf
    for run in range(keyed.count):
        key = keyed.runs.key[run]
        for j in range(keyed.leaf_start[key], keyed.leaf_start[key + 1]):
            if hits[leaf[j]] < 2:
                hits[leaf[j]] += 1


@bare_kernel
def mark_hits(
    keyed: Keyed, span: Span, sorter: Sorter, sheet: Sheet, used: np.uint64, behind: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Give the leaves of each key its events; the new ends of what is stored.

    A leaf that only one key satisfies shares that key's plane, stored from `used` on. One that several
    satisfy gets all words of the block, from `behind` on, until settle_hits stores it.
    """
    runs, draft, hits = keyed.runs, sheet.draft, sorter.hits
    begin = np.int64(0)
    for run in range(keyed.count):
        if keyed.together:
            events = sorter.drafts[run * WORDS : run * WORDS + WORDS]
            used, behind = _give(keyed, run, events, mask_of(events, WORDS), hits, sheet, used, behind)
            continue
        end = np.int64(runs.end[run])
        mask = np.uint64(0)
        for i in range(begin, end):
            mask |= add_event(draft, span.row[runs.cell[i]] - span.base)
        begin = end
        used, behind = _give(keyed, run, draft, mask, hits, sheet, used, behind)
        clear(draft, mask)
    return used, behind


@inner_kernel
def _give(
    keyed: Keyed,
    run: int,
    draft: Draft,
    mask: np.uint64,
    hits: Bytes,
    sheet: Sheet,
    used: np.uint64,
    behind: np.uint64,
) -> tuple[np.uint64, np.uint64]:
    """Give the events of one key to its leaves."""
    words = sheet.words
    plane_mask, plane_at, word = sheet.planes
    leaf = keyed.leaf
    key = keyed.runs.key[run]
    one = np.uint64(1)
    shared = LATER
    for j in range(keyed.leaf_start[key], keyed.leaf_start[key + 1]):
        each = leaf[j]
        if hits[each] == 1:
            if shared == LATER:
                shared, used = store(draft, mask, words, word, used)
            plane_mask[each] = mask
            plane_at[each] = shared
            continue
        if plane_mask[each] == 0:
            word[behind : behind + np.uint64(words)] = 0
            plane_at[each] = behind
            behind += np.uint64(words)
        start = np.uint64(plane_at[each])
        if is_whole(mask):
            into = word[start : start + np.uint64(words)]
            for w in range(words):
                into[w] |= draft[w]
        else:
            bits = mask
            while bits != 0:
                place = np.uint64(lowest_bit(bits))
                word[start + place] |= draft[place]
                bits &= bits - one
        plane_mask[each] |= mask
    return used, behind


@bare_kernel
def settle_hits(keyed: Keyed, hits: Bytes, words: int, planes: Planes, used: np.uint64) -> np.uint64:
    """Store the planes that several keys were added to, and forget the hits; the new end.

    They are met in the order in which they got their words, so that none is written over unread.
    """
    leaf = keyed.leaf
    mask, at, word = planes
    for run in range(keyed.count):
        key = keyed.runs.key[run]
        for j in range(keyed.leaf_start[key], keyed.leaf_start[key + 1]):
            each = leaf[j]
            if hits[each] == 2:
                draft = word[first_word(at[each]) : first_word(at[each]) + np.uint64(words)]
                at[each], used = store(draft, mask[each], words, word, used)
            hits[each] = 0
    return used
