"""Records of CSV to cells, in one pass over their bytes; and what the values of a column have in common.

    id,name,"said, here"     a value ends at a comma or a line end, one in quotes at the closing quote
    7,ann,"as ""x"" said"    found: id 7, name ann, said, here: as "x" said

A record with too many or too few values, text behind a closing quote, or bytes that are not UTF-8 is set
apart. Where a quote is not closed the loop stops.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import EVERY_BYTE, eight_bytes, lowest_bit
from tocsin.arrays.byte_classes import TOPS, bytes_equal
from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.jit import inner_kernel, kernel
from tocsin.events.kernels.cell_stream import (
    BOOLEAN,
    KEPT,
    KINDS,
    STRING,
    CellStream,
    add_cell,
)
from tocsin.events.kernels.csv_values import read_decimal, traits_of, trimmed
from tocsin.events.kernels.utf8 import is_utf8
from tocsin.events.kernels.value_traits import NO_CHANCE, SEEN

_FEEDS = EVERY_BYTE * np.uint64(ord("\n"))
_RETURNS = EVERY_BYTE * np.uint64(ord("\r"))

WHOLE, CUT, FAULTY = range(3)


class CsvColumns(NamedTuple):
    """What to do with each column; -1 is nothing.

    field    int32[n]   the field that its values are cells of,
    kind     int32[n]       and of which kind: STRING, BOOLEAN, WRITTEN_INTEGER or WRITTEN_FLOAT
    kept     int32[n]   the field that its texts are kept for as they are
    traits   uint8[n]   what its values have in common (value_traits.py), NO_CHANCE where nobody asks
    """

    field: Ints
    kind: Ints
    kept: Ints
    traits: Bytes


class ScannedRecords(NamedTuple):
    """Records that were scanned.

    at         where the next one begins
    cells      how many were found, or counted: then the stream was too short, and nothing else is good
    row        int64[...]   of each good record, how many came before
    bad_row    int64[...]   the same of those that were set apart,
    bad_start  int64[...]       and where they begin
    bad_end    int64[...]       and end
    """

    at: int
    cells: int
    row: Longs
    bad_row: Longs
    bad_start: Longs
    bad_end: Longs


@inner_kernel
def _end_of_value(data: Bytes, at: int, delimiters: np.uint64) -> int:
    """The next delimiter or line end; there is one. `delimiters` is a word of the former."""
    while True:
        word = eight_bytes(data, at)
        # The lowest bit that is set is right.
        marks = (
            (
                ((word ^ delimiters) - EVERY_BYTE)
                | ((word ^ _FEEDS) - EVERY_BYTE)
                | ((word ^ _RETURNS) - EVERY_BYTE)
            )
            & ~word
            & TOPS
        )
        if marks != np.uint64(0):
            return at + (lowest_bit(marks) >> 3)
        at += 8


@inner_kernel
def _closing_quote(data: Bytes, at: int, end: int) -> tuple[int, bool]:
    """The quote that closes the value which begins at `at`, or `end`; whether doubled ones are before."""
    doubled = False
    while at < end:
        quotes = bytes_equal(eight_bytes(data, at), 34)
        if quotes == 0:
            at += 8
            continue
        at += lowest_bit(quotes) >> 3
        if at >= end or data[at + 1] != 34 or at + 1 >= end:
            break
        doubled = True
        at += 2
    return min(at, end), doubled


@kernel
def _without_doubles(data: Bytes, at: int, end: int, to: int) -> int:
    """Write data[at:end] with one quote for two to `to`; where that ends."""
    while at < end:
        data[to] = data[at]
        at += 2 if data[at] == 34 else 1
        to += 1
    return to


@inner_kernel
def _behind_line(data: Bytes, at: int, end: int) -> int:
    """Behind the line end at `at`; two bytes may be one."""
    return at + 2 if data[at] == 13 and at + 1 < end and data[at + 1] == 10 else at + 1


@kernel
def scan_records(
    data: Bytes,
    at: int,
    end: int,
    is_last: bool,
    most: int,
    longest: int,
    delimiter: int,
    columns: CsvColumns,
    stream: CellStream,
) -> ScannedRecords:
    """Scan up to `most` records of data[at:end], shorter than `longest`, all whole unless it `is_last`.

    Behind the end there is a line feed, sixteen bytes, and then room for as many bytes as there are before.
    """
    row, bad_row = np.empty(most, np.int64), np.empty(most, np.int64)
    bad_start, bad_end = np.empty(most, np.int64), np.empty(most, np.int64)
    delimiters = EVERY_BYTE * np.uint64(delimiter)
    width = columns.field.size
    room = stream.key.size
    saved = columns.traits.copy()
    free = end + 16
    records = good = bad = count = 0
    while records < most and at < end:
        begin = at
        before = count
        if data[at] == 10 or data[at] == 13:
            if data[at] == 13 and at + 1 >= end and not is_last:
                break
            at = _behind_line(data, at, end)
            continue
        state = WHOLE
        is_changed = False
        place = 0
        while True:
            if data[at] == 34:
                start = at + 1
                upto, doubled = _closing_quote(data, start, end)
                if upto >= end:
                    state = CUT
                    break
                at = upto + 1
                if at < end and data[at] != delimiter and data[at] != 10 and data[at] != 13:
                    state = FAULTY
                    break
                if doubled and place < width:
                    begin_free = free
                    free = _without_doubles(data, start, upto, free)
                    start, upto = begin_free, free
            else:
                start = at
                at = _end_of_value(data, at, delimiters)
                upto = at
            if place < width and start < upto:
                known = columns.traits[place]
                if known & NO_CHANCE != NO_CHANCE:
                    traits = known | SEEN | traits_of(data, start, upto)
                    if traits != known:
                        if not is_changed:
                            saved[:] = columns.traits
                            is_changed = True
                        columns.traits[place] = traits
                field = columns.field[place]
                if field >= 0:
                    kind = columns.kind[place]
                    first, last = start, upto
                    if kind != STRING:
                        first, last = trimmed(data, start, upto)
                        if kind == BOOLEAN:
                            first = np.int64(data[first] | 32 == 116)
                        else:
                            kind, first, last = read_decimal(data, first, last, kind)
                    count = add_cell(stream, count, field * KINDS + kind, good, first, last)
                kept = columns.kept[place]
                if kept >= 0:
                    count = add_cell(stream, count, kept * KINDS + KEPT, good, start, upto)
            place += 1
            if at < end and data[at] == delimiter:
                at += 1
                continue
            break
        if state == FAULTY:
            while data[at] != 10 and data[at] != 13:
                at += 1
        if at + 1 >= end and not is_last and (at >= end or data[at] == 13):
            state = CUT
        is_stop = state == CUT or at - begin >= longest or count > room
        is_good = state == WHOLE and place == width and not is_stop and is_utf8(data, begin, at)
        if is_changed and not is_good:
            columns.traits[:] = saved
        if is_stop:
            at = begin
            if count <= room:
                count = before
            break
        if is_good:
            row[good] = records
            good += 1
        else:
            count = before
            bad_row[bad], bad_start[bad] = records, begin
            bad += 1
        at = min(_behind_line(data, at, end), end)
        if not is_good:
            bad_end[bad - 1] = at
        records += 1
    return ScannedRecords(at, count, row[:good], bad_row[:bad], bad_start[:bad], bad_end[:bad])
