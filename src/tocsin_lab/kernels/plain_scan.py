"""The scan that figure 8 of the A-Tree paper is measured against: every rule by itself, nothing shared."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import kernel
from tocsin_lab.kernels.atree_nodes import AND, NOT, OR, XOR
from tocsin_lab.kernels.atree_updates import Groups


@kernel
def scan(groups: Groups, start: Longs, true_ref: Ints, truth: NDArray[np.int8], matches: Longs) -> None:
    """Count the rules that each event satisfies, rule by rule, group by group.

    truth[r] is the truth of reference r, all unknown before and after; and, or stop where they are
    decided.
    """
    truth[0], truth[1] = 1, -1
    value = np.zeros(groups.operator.size, np.int8)
    for event in range(start.size - 1):
        for i in range(start[event], start[event + 1]):
            truth[true_ref[i]] = 1
            truth[true_ref[i] ^ 1] = -1
        for group in range(groups.operator.size):
            operator = groups.operator[group]
            begin, end = groups.operand_start[group], groups.operand_start[group + 1]
            found = -1 if operator in (OR, NOT) else 1
            if operator == XOR and (end - begin) & 1 == 0:
                found = -1
            for i in range(begin, end):
                code = groups.operand[i]
                each = truth[code] if code >= 0 else value[-1 - code]
                if operator == AND:
                    found = min(found, each)
                    if found < 0:
                        break
                elif operator == OR:
                    found = max(found, each)
                    if found > 0:
                        break
                else:
                    found *= each
            value[group] = found
        count = 0
        for rule in range(groups.root.size):
            code = groups.root[rule]
            count += (truth[code] if code >= 0 else value[-1 - code]) == 1
        matches[event] = count
        for i in range(start[event], start[event + 1]):
            truth[true_ref[i]] = 0
            truth[true_ref[i] ^ 1] = 0
