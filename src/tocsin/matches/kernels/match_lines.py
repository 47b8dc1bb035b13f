"""Lines of matches put together: a head and a tail for each event, and between them what a rule is.

{"event": 7, "rule":  "r1"  , "score": null}        head of event 7, rule, middle, tail of event 7
{"event": 7, "rule":  "r2"  , "score": null}
"""

from __future__ import annotations

from typing import NamedTuple

from tocsin.arrays.byte_copy import copy_span
from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.jit import bare_kernel


class LineParts(NamedTuple):
    """Text i of each kind is data[start[i] : start[i + 1]]. Middles are the matches' own, or there are none.

    event, rule     int32[M]   of each match, which head and tail, and which text of a rule
    """

    event: Ints
    rule: Ints
    head_start: Longs
    head: Bytes
    rule_start: Longs
    rules: Bytes
    middle_start: Longs
    middle: Bytes
    tail_start: Longs
    tail: Bytes


@bare_kernel
def measure_lines(parts: LineParts, first: int, limit: int) -> tuple[int, int]:
    """Of matches from the first on, which is the last whose lines are within the limit, and their bytes.

    One line at least is taken, however long it is.
    """
    has_middle = parts.middle_start.size > 1
    total = 0
    for match in range(first, parts.event.size):
        event, rule = parts.event[match], parts.rule[match]
        size = parts.head_start[event + 1] - parts.head_start[event]
        size += parts.rule_start[rule + 1] - parts.rule_start[rule]
        size += parts.tail_start[event + 1] - parts.tail_start[event]
        if has_middle:
            size += parts.middle_start[match + 1] - parts.middle_start[match]
        if match > first and total + size > limit:
            return match, total
        total += size
    return parts.event.size, total


@bare_kernel
def write_lines(parts: LineParts, first: int, last: int, out: Bytes) -> None:
    """The lines of matches first ... last; `out` has room for eight bytes more."""
    has_middle = parts.middle_start.size > 1
    place = 0
    for match in range(first, last):
        event, rule = parts.event[match], parts.rule[match]
        begin = parts.head_start[event]
        size = parts.head_start[event + 1] - begin
        copy_span(parts.head, begin, size, out, place)
        place += size
        begin = parts.rule_start[rule]
        size = parts.rule_start[rule + 1] - begin
        copy_span(parts.rules, begin, size, out, place)
        place += size
        if has_middle:
            begin = parts.middle_start[match]
            size = parts.middle_start[match + 1] - begin
            copy_span(parts.middle, begin, size, out, place)
            place += size
        begin = parts.tail_start[event]
        size = parts.tail_start[event + 1] - begin
        copy_span(parts.tail, begin, size, out, place)
        place += size
