"""Rules' ids by their numbers, written straight into an Arrow string column.

Arrow's own way is to take from a large_string column and to cast the result to string: two copies of
everything, and checks that are not needed here. These loops write offsets and bytes once.

    old      start  0    2    5         younger  start  0    1        numbers  1   2   0
             data   a b  x y z                   data   q             offsets  0   3   4   6
                                                                      bytes    x y z q a b

Ids are short, so their bytes are moved eight at a time; what is written too much, the next id writes
over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import prefetch
from tocsin.arrays.byte_copy import copy_span
from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.jit import bare_kernel, kernel

_MOST_BYTES = (1 << 31) - 1

AHEAD = 16
"""How many texts ahead memory is asked for: their places, and twice as far where those are kept."""


class NameColumns(NamedTuple):
    """Texts in two columns: the younger ones are numbered on from the last of the old ones.

    old_start     int64[n+1]   text i of the old ones is old_data[old_start[i] : old_start[i + 1]]
    old_data      uint8[...]
    young_start   int64[m+1]   the same for text n + i
    young_data    uint8[...]
    """

    old_start: Longs
    old_data: Bytes
    young_start: Longs
    young_data: Bytes


@kernel
def measure_names(number: Ints, names: NameColumns, offset: Ints) -> bool:
    """Fill `offset`, one more than there are texts; False when they are too much for 32 bits."""
    old_start, young_start = names.old_start, names.young_start
    old = old_start.size - 1
    total = 0
    offset[0] = 0
    last = number.size - 1
    for at in range(number.size):
        text = number[at]
        prefetch(old_start, min(np.int64(number[min(at + AHEAD, last)]), old))
        if text < old:
            total += old_start[text + 1] - old_start[text]
        else:
            total += young_start[text - old + 1] - young_start[text - old]
        if total > _MOST_BYTES:
            return False
        offset[at + 1] = total
    return True


@bare_kernel
def copy_names(number: Ints, names: NameColumns, out: Bytes) -> None:
    """The bytes of the texts, one after the other; `out` has room for eight more."""
    old_start, young_start = names.old_start, names.young_start
    old = old_start.size - 1
    place = 0
    last = number.size - 1
    for at in range(number.size):
        text = number[at]
        prefetch(old_start, min(np.int64(number[min(at + 2 * AHEAD, last)]), old))
        coming = min(int(number[min(at + AHEAD, last)]), old)
        prefetch(names.old_data, old_start[coming])
        if text < old:
            size = old_start[text + 1] - old_start[text]
            copy_span(names.old_data, old_start[text], size, out, place)
        else:
            text -= old
            size = young_start[text + 1] - young_start[text]
            copy_span(names.young_data, young_start[text], size, out, place)
        place += size


@kernel
def repeat_rows(first: int, per_row: Longs, row: Longs) -> None:
    """Fill `row` with the number of the first row as often as it says, then of the next, and so on."""
    place = 0
    for at in range(per_row.size):
        for _ in range(per_row[at]):
            row[place] = first + at
            place += 1
