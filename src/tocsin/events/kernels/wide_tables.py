"""The cells of many Arrow columns at once, read where Arrow has them.

A column may have a few values in thousands of rows, and a table a thousand such columns: then it is what is
done for each column that counts. So the batch is handed over as a whole, by Arrow's C data interface, and the
loops follow its structures:

    ArrowArray   length, null_count, offset, n_buffers, n_children, buffers, children, dictionary, ...
                                                                     │        └──> ArrowArray of each column
                                                                     └──> validity, values | offsets, bytes
    (64 bits each)

What is found of column c is found[start[c] : end[c]], in the order of the rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.addresses import array_at
from tocsin.arrays.bits import count_bits, lowest_bit
from tocsin.arrays.dtypes import Bytes, Doubles, Ints, Longs
from tocsin.arrays.hash_slots import behind, home, slots_for
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.arrays.text_table import hash_span, same_bytes

BOOLEAN, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT, DOUBLE, TEXT, LARGE_TEXT = range(13)
"""What the values of a column are."""

SCALAR, LIST, LARGE_LIST = range(3)
"""Whether they are a row's own, or in lists with offsets of 32 or 64 bits."""

_LENGTH, _OFFSET, _BUFFERS, _CHILDREN, _WORDS = 0, 2, 5, 6, 10

_LEAST = np.int64(-(2**63))
_TWO_63 = 9223372036854775808.0
_TWO_64 = 18446744073709551616.0


class WideColumns(NamedTuple):
    """Which columns to read. C columns.

    place     int32[C]   where the column is among the batch's
    kind      int8[C]    BOOLEAN ...
    nesting   int8[C]    SCALAR ...
    """

    place: Ints
    kind: NDArray[np.int8]
    nesting: NDArray[np.int8]


class WideCells(NamedTuple):
    """What is found in C columns, each with room from start[c] on. Only what belongs to its kind is filled.

    start       int64[C+1]
    end         int64[C]     where its cells end
    row         int32[...]   the row of each cell
    high, low   float64, int64[...]   numbers, as in events/cells.py
    code        int32[...]   Booleans, or which of the column's distinct texts
    text_start  int64[C+1]   distinct texts of a column: text_start[c] ... text_start[c + 1]
    text_at     int64[T+1]   where the bytes of each begin
    data        uint8[...]
    list_start  int64[C+1]   where the room for rows with lists begins:
    listed      int32[...]   rows with a list,
    empty       int32[...]   and of these those with no cell
    lists       int64[C]     how many they are
    empties     int64[C]
    """

    start: Longs
    end: Longs
    row: Ints
    high: Doubles
    low: Longs
    code: Ints
    text_start: Longs
    text_at: Longs
    data: Bytes
    list_start: Longs
    listed: Ints
    empty: Ints
    lists: Longs
    empties: Longs


@inner_kernel
def _word(address: int, place: int) -> int:
    """One of the words that lie at an address."""
    return np.int64(array_at(address, place + 1, np.int64)[place])


@inner_kernel
def _child(children: int, place: int) -> int:
    """The address of a child's ArrowArray."""
    return _word(children, place)


@inner_kernel
def _buffer(column: int, place: int) -> int:
    """The address of one of a column's buffers; 0: there is none."""
    return _word(_word(column, _BUFFERS), place)


@inner_kernel
def _bit(bits: int, place: int) -> bool:
    """One of the bits that lie at an address."""
    at = place >> 3
    return (np.int64(array_at(bits, at + 1, np.uint8)[at]) >> (place & 7)) & 1 != 0


@inner_kernel
def _bytes_of_bits(column: int) -> int:
    """How many bytes of a column's bits are looked at."""
    return (_word(column, _OFFSET) + _word(column, _LENGTH) + 7) >> 3


@inner_kernel
def _valid_rows(column: int, row: Ints) -> int:
    """Write the places of what is not null, from 0; how many."""
    bits = _buffer(column, 0)
    length, offset = _word(column, _LENGTH), _word(column, _OFFSET)
    if bits == 0:
        for i in range(length):
            row[i] = i
        return length
    count = 0
    size = _bytes_of_bits(column)
    for at in range(offset >> 3, size):
        byte = np.uint64(array_at(bits, size, np.uint8)[at])
        while byte != 0:
            i = 8 * at - offset + lowest_bit(byte)
            byte &= byte - np.uint64(1)
            if 0 <= i < length:
                row[count] = i
                count += 1
    return count


@inner_kernel
def _list_bounds(column: int, nesting: int, row: int) -> tuple[int, int]:
    """Which elements the list of a row has, counted from the first of its child."""
    at = _word(column, _OFFSET) + row
    if nesting == LIST:
        offsets = array_at(_buffer(column, 1), at + 2, np.int32)
        return np.int64(offsets[at]), np.int64(offsets[at + 1])
    large = array_at(_buffer(column, 1), at + 2, np.int64)
    return large[at], large[at + 1]


@inner_kernel
def _integers(kind: int, address: int, place: Longs, count: int, high: Doubles, low: Longs) -> None:
    """The numbers at these places, of a type of integers, split as events/number_pairs.py does."""
    most = np.int64(0)
    for k in range(count):
        most = max(most, place[k] + 1)
    for k in range(count):
        at = place[k]
        low[k] = 0
        if kind == INT64:
            exact = array_at(address, most, np.int64)[at]
            high[k] = np.float64(exact)
            if high[k] >= _TWO_63:
                low[k] = exact - _LEAST
            else:
                low[k] = exact - np.int64(high[k])
        elif kind == UINT64:
            unsigned = array_at(address, most, np.uint64)[at]
            high[k] = np.float64(unsigned)
            whole = np.uint64(0)
            if high[k] < _TWO_64:
                whole = np.uint64(high[k])
            low[k] = np.int64(unsigned - whole)
        elif kind == INT32:
            high[k] = array_at(address, most, np.int32)[at]
        elif kind == UINT32:
            high[k] = array_at(address, most, np.uint32)[at]
        elif kind == INT16:
            high[k] = array_at(address, most, np.int16)[at]
        elif kind == UINT16:
            high[k] = array_at(address, most, np.uint16)[at]
        elif kind == INT8:
            high[k] = array_at(address, most, np.int8)[at]
        else:
            high[k] = array_at(address, most, np.uint8)[at]


@inner_kernel
def _floats(kind: int, address: int, place: Longs, count: int, row: Ints, high: Doubles, low: Longs) -> int:
    """The floats at these places but for NaNs, whose rows are left out too; how many."""
    kept = 0
    for k in range(count):
        at = place[k]
        if kind == DOUBLE:
            value = array_at(address, at + 1, np.float64)[at]
        else:
            value = np.float64(array_at(address, at + 1, np.float32)[at])
        if value == value:
            row[kept] = row[k]
            high[kept] = value + 0.0
            low[kept] = 0
            kept += 1
    return kept


@inner_kernel
def _text_bounds(kind: int, address: int, place: int) -> tuple[int, int]:
    if kind == TEXT:
        offsets = array_at(address, place + 2, np.int32)
        return np.int64(offsets[place]), np.int64(offsets[place + 1])
    large = array_at(address, place + 2, np.int64)
    return large[place], large[place + 1]


@kernel
def _distinct_texts(
    kind: int, values: int, place: Longs, count: int, slot: Ints, code: Ints, begin: Longs, end: Longs
) -> int:
    """Number the texts at these places as they come; where each different one begins and ends; how many."""
    offsets = _buffer(values, 1)
    size = np.int64(0)
    for k in range(count):
        size = max(size, _text_bounds(kind, offsets, place[k])[1])
    data = array_at(_buffer(values, 2), size, np.uint8)
    table = slot[: slots_for(count)]
    table[:] = 0
    different = 0
    for k in range(count):
        first, last = _text_bounds(kind, offsets, place[k])
        at = home(table, hash_span(data, first, last))
        while table[at] != 0:
            known = np.int64(table[at]) - 1
            if end[known] - begin[known] == last - first and same_bytes(
                data, begin[known], data, first, last - first
            ):
                break
            at = behind(table, at)
        if table[at] == 0:
            begin[different] = first
            end[different] = last
            different += 1
            table[at] = different
        code[k] = table[at] - 1
    return different


@inner_kernel
def _places(column: int, nesting: int, listed: Ints, lists: int, row: Ints, place: Longs) -> int:
    """Write row and place of each value that is not null, of rows that are not; how many.

    A place is counted from the beginning of the values' memory. `listed` are rows with a list, so many.
    """
    count = 0
    if nesting == SCALAR:
        count = _valid_rows(column, row)
        for k in range(count):
            place[k] = _word(column, _OFFSET) + row[k]
        return count
    values = _child(_word(column, _CHILDREN), 0)
    bits = _buffer(values, 0)
    for k in range(lists):
        first, last = _list_bounds(column, nesting, listed[k])
        for i in range(_word(values, _OFFSET) + first, _word(values, _OFFSET) + last):
            if bits == 0 or _bit(bits, i):
                row[count] = listed[k]
                place[count] = i
                count += 1
    return count


@kernel
def _room(children: int, columns: WideColumns) -> tuple[Longs, Longs]:
    """start and list_start of WideCells, with room for all that may be found."""
    count = columns.place.size
    start = np.zeros(count + 1, np.int64)
    list_start = np.zeros(count + 1, np.int64)
    for c in range(count):
        column = _child(children, columns.place[c])
        length = _word(column, _LENGTH)
        start[c + 1] = start[c] + length
        list_start[c + 1] = list_start[c]
        if columns.nesting[c] != SCALAR and length > 0:
            first, _ = _list_bounds(column, columns.nesting[c], 0)
            _, last = _list_bounds(column, columns.nesting[c], length - 1)
            start[c + 1] = start[c] + last - first
            list_start[c + 1] += length
        elif columns.nesting[c] == SCALAR:
            bits, size = _buffer(column, 0), _bytes_of_bits(column)
            if bits:
                valid = 0
                for at in range(_word(column, _OFFSET) >> 3, size):
                    valid += count_bits(np.uint64(array_at(bits, size, np.uint8)[at]))
                start[c + 1] = start[c] + min(valid, length)
    return start, list_start


@kernel
def read_wide(children: int, columns: WideColumns) -> WideCells:
    """The cells of columns of a batch, whose ArrowArrays `children` points to."""
    count = columns.place.size
    start, list_start = _room(children, columns)
    cells = start[count]
    most = 0
    texts = 0
    for c in range(count):
        most = max(most, start[c + 1] - start[c])
        if columns.kind[c] >= TEXT:
            texts += start[c + 1] - start[c]
    row, code = np.empty(cells, np.int32), np.empty(cells, np.int32)
    high, low = np.empty(cells, np.float64), np.empty(cells, np.int64)
    end = np.empty(count, np.int64)
    listed, empty = np.empty(list_start[count], np.int32), np.empty(list_start[count], np.int32)
    lists, empties = np.zeros(count, np.int64), np.zeros(count, np.int64)
    place = np.empty(most, np.int64)
    slot = np.empty(slots_for(most), np.int32)
    text_start = np.zeros(count + 1, np.int64)
    begins, ends = np.empty(texts, np.int64), np.empty(texts, np.int64)
    different = 0
    size = 0
    for c in range(count):
        kind, nesting = columns.kind[c], columns.nesting[c]
        column = _child(children, columns.place[c])
        values = column
        if nesting != SCALAR:
            values = _child(_word(column, _CHILDREN), 0)
            lists[c] = _valid_rows(column, listed[list_start[c] :])
        first = start[c]
        found = _places(column, nesting, listed[list_start[c] :], lists[c], row[first:], place)
        address = _buffer(values, 1)
        if kind == BOOLEAN:
            for k in range(found):
                code[first + k] = _bit(address, place[k])
        elif kind >= TEXT:
            new = _distinct_texts(
                kind, values, place, found, slot, code[first:], begins[different:], ends[different:]
            )
            for k in range(different, different + new):
                size += ends[k] - begins[k]
            different += new
        elif kind >= FLOAT:
            found = _floats(kind, address, place, found, row[first:], high[first:], low[first:])
        else:
            _integers(kind, address, place, found, high[first:], low[first:])
        text_start[c + 1] = different
        end[c] = first + found
        if nesting != SCALAR:
            k = first
            for each in range(list_start[c], list_start[c] + lists[c]):
                if k < end[c] and row[k] == listed[each]:
                    while k < end[c] and row[k] == listed[each]:
                        k += 1
                else:
                    empty[list_start[c] + empties[c]] = listed[each]
                    empties[c] += 1
    text_at = np.zeros(different + 1, np.int64)
    data = np.empty(size, np.uint8)
    for c in range(count):
        if columns.kind[c] >= TEXT:
            values = _child(children, columns.place[c])
            if columns.nesting[c] != SCALAR:
                values = _child(_word(values, _CHILDREN), 0)
            address = _buffer(values, 2)
            for t in range(text_start[c], text_start[c + 1]):
                at = text_at[t]
                source = array_at(address, ends[t], np.uint8)
                for i in range(ends[t] - begins[t]):
                    data[at + i] = source[begins[t] + i]
                text_at[t + 1] = at + ends[t] - begins[t]
    return WideCells(
        start, end, row, high, low, code, text_start, text_at, data, list_start, listed, empty, lists, empties
    )
