"""Labels of rules whose trees have the same shape: they are the same, and are stored once."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Longs, Words
from tocsin.arrays.jit import kernel

_MIX = np.uint64(0x9E37_79B9_7F4A_7C15)


@kernel
def share_labels(span: Longs, label: Words) -> tuple[Longs, int]:
    """Where each rule finds its labels, and how many labels are left; they are moved together in `label`.

    The labels of rule r are label[span[r] : span[r + 1]] before.
    """
    rules = span.size - 1
    start = np.zeros(rules, np.int64)
    size = 16
    while size < 2 * rules:
        size *= 2
    slot = np.full(size, -1, np.int32)
    mask = np.uint64(size - 1)
    kept = 0
    for rule in range(rules):
        begin = span[rule]
        count = span[rule + 1] - begin
        mixed = np.uint64(count)
        for i in range(begin, begin + count):
            mixed = (mixed ^ np.uint64(label[i])) * _MIX
            mixed ^= mixed >> np.uint64(29)
        at = mixed & mask
        known = slot[at]
        while known >= 0:
            same = span[known + 1] - span[known] == count
            for i in range(count if same else 0):
                if label[start[known] + i] != label[begin + i]:
                    same = False
                    break
            if same:
                break
            at = (at + np.uint64(1)) & mask
            known = slot[at]
        if known >= 0:
            start[rule] = start[known]
            continue
        slot[at] = rule
        start[rule] = kept
        for i in range(begin, begin + count):
            label[kept] = label[i]
            kept += 1
    return start, kept
