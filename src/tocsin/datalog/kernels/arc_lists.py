"""What one arc brings about, found by searches from its ends through the lists of arcs: see arcs.py.

view     the graph that is searched: the arcs of a set without those at some places, and with a few more
steps    arcs looked at and pairs written. Searches stop when they have taken as many as they may:
         then a look at the whole graph is no dearer
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import bare_kernel

STOPPED = -1

MARKS = 5
SEEN, NEAR, LEADING, CLEAN, COUNTED = range(MARKS)
NUMBER, STEPS = range(2)


class View(NamedTuple):
    """A graph, and what searches in it write on.

    ends, first, links           the arcs and their lists
    arcs                             how many arcs there are
    without     int32[n]             places of arcs that are left out
    more        int32[2, n]          tails and heads of arcs that are taken as if they were there
    marks       int64[MARKS, room]   the number that a search gave a vertex last; numbers only rise
    control     int64[2]             NUMBER: the highest number given; STEPS: how many may still be taken
    listed      int32[4, room]       vertices that were found; in the last row the place of one among sources
    """

    ends: Ints
    first: Ints
    links: Ints
    arcs: int
    without: Ints
    more: Ints
    marks: Longs
    control: Longs
    listed: Ints


@bare_kernel
def _first_arc(view: View, side: int, vertex: int) -> int:
    """The first arc of a vertex: a place, or arcs + the number of an arc of `more`; -1 without any."""
    place = np.int64(view.first[side, vertex])
    if place < 0:
        return _more_from(view, side, vertex, 0)
    return _next_arc(view, side, vertex, place) if _is_left_out(view, place) else place


@bare_kernel
def _next_arc(view: View, side: int, vertex: int, place: int) -> int:
    if place < view.arcs:
        place = np.int64(view.links[2 * side, place])
        while place >= 0 and _is_left_out(view, place):
            place = np.int64(view.links[2 * side, place])
        return place if place >= 0 else _more_from(view, side, vertex, 0)
    return _more_from(view, side, vertex, place - view.arcs + 1)


@bare_kernel
def _is_left_out(view: View, place: int) -> bool:
    for i in range(view.without.size):
        if view.without[i] == place:
            return True
    return False


@bare_kernel
def _more_from(view: View, side: int, vertex: int, start: int) -> int:
    for i in range(start, view.more.shape[1]):
        if view.more[side, i] == vertex:
            return view.arcs + i
    return -1


@bare_kernel
def _end_of(view: View, side: int, place: int) -> int:
    """Where an arc leads, followed forward (OUT) or backward."""
    if place >= view.arcs:
        return np.int64(view.more[1 - side, place - view.arcs])
    return np.int64(view.ends[2 * place + 1 - side])


@bare_kernel
def leads(view: View, source: int, target: int) -> int:
    """Whether a path of at least one arc leads from one vertex to the other: 1, 0 or STOPPED.

    Two searches, from both ends, take turns; the one that has taken fewer steps goes on.
    """
    marks, listed, control = view.marks, view.listed, view.control
    control[NUMBER] += 1
    number = control[NUMBER]
    marks[0, source] = number
    marks[1, target] = number
    listed[0, 0] = source
    listed[1, 0] = target
    used_forward = used_backward = 1
    done_forward = done_backward = ahead = 0
    while done_forward < used_forward and done_backward < used_backward:
        side = 0 if ahead <= 0 else 1
        vertex = np.int64(listed[side, done_backward if side else done_forward])
        used = used_backward if side else used_forward
        taken = 1
        place = _first_arc(view, side, vertex)
        while place >= 0:
            taken += 1
            other = _end_of(view, side, place)
            if marks[1 - side, other] == number:
                return 1
            if marks[side, other] != number:
                marks[side, other] = number
                listed[side, used] = other
                used += 1
            place = _next_arc(view, side, vertex, place)
        if side:
            used_backward = used
            done_backward += 1
            ahead -= taken
        else:
            used_forward = used
            done_forward += 1
            ahead += taken
        control[STEPS] -= taken
        if control[STEPS] < 0:
            return STOPPED
    return 0


@bare_kernel
def pairs_through(view: View, side: int, tail: int, head: int, pairs: Ints, starts: Longs) -> int:
    """The pairs of a closure that one more arc brings, where its tail does not lead to its head yet.

    NEAR are the head and what it leads to, as far as the tail does not lead there. Each vertex that leads to
    the tail, a *source*, is looked at, nearest first: it misses no more of these than those that it leads to,
    and what leads only to sources that miss nothing is no source. What leads to nothing near is CLEAN:
    searches end there.

    side     OUT; or IN to have it all turned round: the tail is then the arc's head, and so on
    pairs    int32[2, n]   vertices: as many steps may be taken. How many are written, or STOPPED
    starts   int64[n + 1]  where the pairs of each source start
    """
    marks, listed, control = view.marks, view.listed, view.control
    control[STEPS] = pairs.shape[1]
    run = control[NUMBER] + 1
    control[NUMBER] += 2
    if _spread(view, side, tail, CLEAN, run, 0) < 0:
        return STOPPED
    marks[NEAR, head] = run
    near = _spread(view, side, head, NEAR, run, 1)
    if near < 0:
        return STOPPED
    marks[CLEAN, tail] = run
    marks[LEADING, tail] = run
    listed[2, 0] = tail
    sources = 1
    done = total = 0
    starts[0] = 0
    while done < sources:
        source = np.int64(listed[2, done])
        missing = _missing_of(view, side, source, run, near, pairs, starts, total)
        if missing < 0:
            return STOPPED
        total += missing
        marks[LEADING, source] = run + 1
        listed[3, source] = done
        done += 1
        starts[done] = total
        if missing == 0:
            continue
        place = _first_arc(view, 1 - side, source)
        while place >= 0:
            other = _end_of(view, 1 - side, place)
            control[STEPS] -= 1
            if marks[LEADING, other] < run:
                marks[LEADING, other] = run
                listed[2, sources] = other
                sources += 1
            place = _next_arc(view, 1 - side, source, place)
        if control[STEPS] < 0:
            return STOPPED
    return total


@bare_kernel
def _spread(view: View, side: int, start: int, mark: int, run: int, row: int) -> int:
    """Mark what a vertex leads to that is not CLEAN, and list it behind the vertex. How many, or STOPPED."""
    marks, listed, control = view.marks, view.listed, view.control
    listed[row, 0] = start
    used = 1
    done = 0
    while done < used:
        vertex = np.int64(listed[row, done])
        done += 1
        control[STEPS] -= 1
        place = _first_arc(view, side, vertex)
        while place >= 0:
            other = _end_of(view, side, place)
            control[STEPS] -= 1
            if marks[CLEAN, other] != run and marks[mark, other] != run:
                marks[mark, other] = run
                listed[row, used] = other
                used += 1
            place = _next_arc(view, side, vertex, place)
        if control[STEPS] < 0:
            return STOPPED
    return used


@bare_kernel
def _missing_of(
    view: View, side: int, source: int, run: int, near: int, pairs: Ints, starts: Longs, total: int
) -> int:
    """Write the pairs of a source and each vertex near that it does not lead to. How many, or STOPPED."""
    marks, listed, control = view.marks, view.listed, view.control
    look = control[NUMBER] + 1
    control[NUMBER] = look
    met = 0  # sources met that were looked at before: COUNTED is look + how many of them miss a vertex
    last = -1
    used = 0
    if marks[CLEAN, source] != run:
        listed[0, 0] = source
        used = 1
        done = 0
        while done < used:
            vertex = np.int64(listed[0, done])
            done += 1
            place = _first_arc(view, side, vertex)
            while place >= 0:
                other = _end_of(view, side, place)
                control[STEPS] -= 1
                if marks[SEEN, other] != look:
                    marks[SEEN, other] = look
                    if marks[CLEAN, other] == run:
                        pass
                    elif marks[LEADING, other] == run + 1:
                        last = np.int64(listed[3, other])
                        for at in range(starts[last], starts[last + 1]):
                            target = pairs[1, at]
                            if met == 0 or marks[COUNTED, target] == look + met:
                                marks[COUNTED, target] = look + met + 1
                        met += 1
                        control[NUMBER] = look + met
                        control[STEPS] -= starts[last + 1] - starts[last]
                    else:
                        listed[0, used] = other
                        used += 1
                place = _next_arc(view, side, vertex, place)
            if control[STEPS] < 0:
                return STOPPED
    start, end = (starts[last], starts[last + 1]) if last >= 0 else (0, near)
    control[STEPS] -= end - start
    if total + end - start > pairs.shape[1] or control[STEPS] < 0:
        return STOPPED
    written = total
    for at in range(start, end):
        target = pairs[1, at] if last >= 0 else listed[1, at]
        if marks[SEEN, target] != look and (met == 0 or marks[COUNTED, target] == look + met):
            pairs[0, written] = source
            pairs[1, written] = target
            written += 1
    if written - total == near and marks[CLEAN, source] != run:
        marks[CLEAN, source] = run
        for at in range(used):
            marks[CLEAN, listed[0, at]] = run
    return written - total
