"""The scan of those rules alone that have a conjunction which holds."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.bits import prefetch
from tocsin.arrays.dtypes import Bytes, Ints, Words
from tocsin.arrays.jit import kernel
from tocsin.arrays.lists import Lists, with_room
from tocsin.conditions.kernels.literal_bitmap import SPARE, clear, mark, take
from tocsin.engines.kernels.tree_code import RULES_AHEAD, TreeCode, accepts, clear_bits, set_bits


@kernel
def scan_candidates(
    code: TreeCode,
    by_leaf: Lists,
    found: Lists,
    leaf_bit: Words,
    rule_bit: Words,
    rule_line: Bytes,
    candidate: Ints,
) -> Lists:
    """Ask the rules of every leaf that was found for an event. All bits are zero before and after."""
    start, asked, jump = code
    rules = start.size - 1
    always = by_leaf.start.size - 2
    events = found.start.size - 1
    out_start = np.zeros(events + 1, np.int64)
    item = np.empty(1024, np.int32)
    used = np.int64(0)
    for event in range(events):
        first, last = found.start[event], found.start[event + 1]
        set_bits(found.item, first, last, leaf_bit)
        leaf_bit[always >> 6] |= np.uint64(1) << np.uint64(always & 63)
        for i in range(first, last):
            leaf = np.int64(found.item[i])
            mark(by_leaf.item, by_leaf.start[leaf], by_leaf.start[leaf + 1], rule_bit, rule_line)
        mark(by_leaf.item, by_leaf.start[always], by_leaf.start[always + 1], rule_bit, rule_line)
        count = take(rule_bit, rule_line, 0, rules, 0, candidate) if rules > 0 else 0
        candidate[count : count + SPARE] = 0
        item = with_room(item, used, count)
        for i in range(count):
            prefetch(start, np.int64(candidate[min(i + RULES_AHEAD, count)]))
            prefetch(asked, start[candidate[min(i + RULES_AHEAD // 2, count)]])
            if accepts(candidate[i], start, asked, jump, leaf_bit):
                item[used] = candidate[i]
                used += 1
        clear(rule_bit, rule_line)
        clear_bits(found.item, first, last, leaf_bit)
        leaf_bit[always >> 6] = 0
        out_start[event + 1] = used
    return Lists(out_start, item[:used].copy())
