"""Lines of JSON to cells, in one pass over their bytes.

A line is taken when it is an object by all rules of tables/json_lines.py; others are set apart for that to
say what is wrong. Of what no field wants, nothing is kept, but it has to be JSON all the same.

    {"a": {"b": 1}, "x": [{"a": 2}], "a": {"b": 3}}       wanted: a.b

An object that is open has a number of its own, and a node remembers in which object it was found last, and
which cells that gave. So the second "a" above is known for one, and the cells of the first count no more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.bits import eight_bytes, lowest_bit
from tocsin.arrays.byte_classes import bytes_equal
from tocsin.arrays.dtypes import Bytes, Flags, Longs
from tocsin.arrays.jit import kernel
from tocsin.events.kernels.cell_stream import (
    KEPT,
    KINDS,
    LISTED,
    NOTHING,
    OBJECT,
    STRING,
    CellStream,
    add_cell,
)
from tocsin.events.kernels.field_names import ROOT, UNWANTED, FieldNames, node_of
from tocsin.events.kernels.json_text import (
    REFUSED,
    behind_blanks,
    end_of_string,
    read_number,
    read_word,
    unescaped,
)


class Limits(NamedTuple):
    """What is beyond is set apart: see tables/json_lines.py."""

    depth: int
    line: int
    digits: int


class Scanned(NamedTuple):
    """Lines that were scanned.

    at         where the next one begins
    cells      how many were found, or counted: then the stream was too short, and nothing else is good
    row        int64[...]   of each event, how many lines came before
    start      int64[...]   where its line begins,
    end        int64[...]       and the line feed that ends it, or the end of the data
    bad_row    int64[...]   the same of lines that were set apart
    bad_start  int64[...]
    bad_end    int64[...]
    """

    at: int
    cells: int
    row: Longs
    start: Longs
    end: Longs
    bad_row: Longs
    bad_start: Longs
    bad_end: Longs


@kernel
def count_lines(data: Bytes, start: int, end: int) -> int:
    """How many lines of data[start:end] are not blank; behind it are a line feed and eight bytes."""
    count = 0
    at = start
    while at < end:
        at = behind_blanks(data, at)
        count += data[at] != 10
        while True:
            feeds = bytes_equal(eight_bytes(data, at), 10)
            if feeds != 0:
                break
            at += 8
        at += (lowest_bit(feeds) >> 3) + 1
    return count


@kernel
def scan_lines(
    data: Bytes,
    at: int,
    end: int,
    is_last: bool,
    most: int,
    limits: Limits,
    names: FieldNames,
    repeated: Flags,
    stream: CellStream,
) -> Scanned:
    """Scan up to `most` lines of data[at:end]; unless it `is_last`, the last one is whole.

    Behind the end there is a line feed, sixteen bytes, and then room for as many bytes as there are before.
    A field is noted in `repeated` when it was found in a list.
    """
    row, start_of, end_of = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    bad_row, bad_start, bad_end = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    nodes = names.field.size
    found_in = np.zeros(nodes, np.int64)
    found_from = np.empty(nodes, np.int64)
    found_upto = np.empty(nodes, np.int64)
    member_at = np.empty(limits.depth + 1, np.int64)  # the node that a container is a value of
    node_at = np.empty(limits.depth + 1, np.int64)  # and the one that its elements are below
    object_at = np.empty(limits.depth + 1, np.int64)  # 0 for a list
    begin_at = np.empty(limits.depth + 1, np.int64)
    room = stream.key.size
    free = end + 16
    objects = 0
    lines = events = bad = count = 0
    while lines < most and at < end:
        line = at
        at = behind_blanks(data, at)
        if data[at] == 10:
            if at >= end and not is_last:
                at = line
                break
            at += 1
            continue
        before = count
        depth = 0
        lists = 0
        is_good = data[at] == 123
        if is_good:
            at += 1
            objects += 1
            depth = 1
            member_at[1] = UNWANTED
            node_at[1] = ROOT
            object_at[1] = objects
            begin_at[1] = at
            at = behind_blanks(data, at)
            is_empty = data[at] == 125
        else:
            is_empty = False
        while is_good:
            # Here a container is open, and its next element or its end is to come.
            above = node_at[depth]
            holder = object_at[depth]
            node = above
            begin = at
            if not is_empty:
                if holder != 0:
                    if data[at] != 34:
                        is_good = False
                        break
                    begin = at + 1
                    at, escaped = end_of_string(data, begin)
                    if at < 0:
                        is_good = False
                        break
                    node = UNWANTED
                    if above >= 0:
                        upto = at
                        if escaped:
                            begin, upto = free, unescaped(data, begin, at, free)
                        node = node_of(names, above, data, begin, upto)
                        if node >= 0:
                            if found_in[node] == holder:
                                for cell in range(found_from[node], min(found_upto[node], room)):
                                    stream.key[cell] = NOTHING
                            found_in[node] = holder
                            found_from[node] = count
                    at = behind_blanks(data, at + 1)
                    if data[at] != 58:
                        is_good = False
                        break
                    at = behind_blanks(data, at + 1)
                field = names.field[node] if node >= 0 else UNWANTED
                if field >= 0 and lists > 0:
                    repeated[field] = True
                begin = at
                byte = data[at]
                if byte == 123 or byte == 91:
                    if depth == limits.depth:
                        is_good = False
                        break
                    depth += 1
                    member_at[depth] = node
                    begin_at[depth] = begin
                    kind = LISTED
                    if byte == 123:
                        kind = OBJECT
                        objects += 1
                        object_at[depth] = objects
                        node_at[depth] = node if node >= 0 and names.inner[node] > 0 else UNWANTED
                    else:
                        if field >= 0:
                            repeated[field] = True
                        lists += 1
                        object_at[depth] = 0
                        node_at[depth] = node
                    if field >= 0:
                        count = add_cell(stream, count, field * KINDS + kind, events, 0, 0)
                    at = behind_blanks(data, at + 1)
                    is_empty = data[at] == 125 if byte == 123 else data[at] == 93
                    continue
                low = 0
                if byte == 34:
                    place = begin + 1
                    low, escaped = end_of_string(data, place)
                    at = low + 1 if low >= 0 else REFUSED
                    kind = STRING
                    if escaped and field >= 0 and at >= 0:
                        place, low = free, unescaped(data, place, low, free)
                        free = low
                elif byte == 45 or 48 <= byte <= 57:
                    at, kind, place, low = read_number(data, begin, limits.digits)
                else:
                    at, kind, place = read_word(data, begin)
                if at < 0:
                    is_good = False
                    break
                if field >= 0 and kind >= 0:
                    count = add_cell(stream, count, field * KINDS + kind, events, place, low)
            # Here a value has ended, or an empty container is at its end.
            while True:
                if not is_empty:
                    if node >= 0 and object_at[depth] != 0:
                        kept = names.kept[node]
                        if kept >= 0:
                            count = add_cell(stream, count, kept * KINDS + KEPT, events, begin, at)
                        found_upto[node] = count
                    at = behind_blanks(data, at)
                    if data[at] == 44:
                        at = behind_blanks(data, at + 1)
                        break
                if data[at] != (125 if object_at[depth] != 0 else 93):
                    is_good = False
                    break
                is_empty = False
                at += 1
                node = member_at[depth]
                begin = begin_at[depth]
                if object_at[depth] == 0:
                    lists -= 1
                depth -= 1
                if depth == 0:
                    break
            if depth == 0 or not is_good:
                break
        if is_good:
            at = behind_blanks(data, at)
            is_good = data[at] == 10
        if not is_good:
            at = max(at, line)
            while data[at] != 10:
                at += 1
        if (at >= end and not is_last) or count > room:
            at = line
            if count <= room:
                count = before
            break
        if is_good and at + 1 - line <= limits.line:
            row[events], start_of[events], end_of[events] = lines, line, at
            events += 1
        else:
            bad_row[bad], bad_start[bad], bad_end[bad] = lines, line, at
            bad += 1
            count = before
        lines += 1
        at = min(at + 1, end)
    return Scanned(
        at,
        count,
        row[:events],
        start_of[:events],
        end_of[:events],
        bad_row[:bad],
        bad_start[:bad],
        bad_end[:bad],
    )
