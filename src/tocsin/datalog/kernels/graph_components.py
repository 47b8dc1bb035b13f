"""Strongly connected components of a graph, and the graph without cycles that they make.

    vertices      0 -> 1 -> 2 -> 1,  2 -> 3           components   {3} = 0,  {1, 2} = 1,  {0} = 2
    condensed     2 -> 1 -> 0                         a component only leads to lower ones

A graph is its arcs sorted by tail: those of v end at target[start[v] : start[v + 1]].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Flags, Ints
from tocsin.arrays.jit import kernel


class Condensation(NamedTuple):
    """A graph of n vertices, each of its C components taken as one.

    component      int32[n]       the component of a vertex
    member_start   int32[C + 1]   the vertices of component c:
    member         int32[n]           member[member_start[c] : member_start[c + 1]]
    cyclic         bool[C]        whether its vertices reach themselves
    next_start     int32[C + 1]   the other components that arcs from c lead to, each once, all below c:
    next_one       int32[...]         next_one[next_start[c] : next_start[c + 1]]
    """

    component: Ints
    member_start: Ints
    member: Ints
    cyclic: Flags
    next_start: Ints
    next_one: Ints


@kernel
def strong_components(start: Ints, target: Ints) -> tuple[Ints, int]:
    """The component of each vertex, by Tarjan's algorithm, and how many there are.

    A component is numbered when all that it leads to has been, so that arcs lead to lower numbers.
    """
    vertices = start.size - 1
    component = np.full(vertices, -1, np.int32)
    seen = np.zeros(vertices, np.int32)  # from 1, in the order of arrival
    lowest = np.empty(vertices, np.int32)  # the earliest unnumbered vertex that it is known to reach
    following = np.empty(vertices, np.int32)  # its next arc
    path = np.empty(vertices, np.int32)
    unnumbered = np.empty(vertices, np.int32)
    arrived = waiting = count = 0
    for root in range(vertices):
        if seen[root]:
            continue
        depth = 0
        entered = root
        while True:
            if entered >= 0:
                arrived += 1
                seen[entered] = arrived
                lowest[entered] = arrived
                following[entered] = start[entered]
                path[depth] = entered
                depth += 1
                unnumbered[waiting] = entered
                waiting += 1
            vertex = path[depth - 1]
            arc = following[vertex]
            end = start[vertex + 1]
            low = lowest[vertex]
            entered = -1
            while arc < end:
                reached = target[arc]
                arc += 1
                if not seen[reached]:
                    if start[reached] != start[reached + 1]:
                        entered = reached
                        break
                    arrived += 1
                    seen[reached] = arrived
                    component[reached] = count
                    count += 1
                elif component[reached] < 0 and lowest[reached] < low:
                    low = lowest[reached]
            lowest[vertex] = low
            if entered >= 0:
                following[vertex] = arc
                continue
            if low == seen[vertex]:
                done = -1
                while done != vertex:
                    waiting -= 1
                    done = unnumbered[waiting]
                    component[done] = count
                count += 1
            depth -= 1
            if depth == 0:
                break
            above = path[depth - 1]
            lowest[above] = min(lowest[above], low)
    return component, count


@kernel
def condense(start: Ints, target: Ints, component: Ints, count: int) -> Condensation:
    """The graph of the components."""
    member_start = np.zeros(count + 1, np.int32)
    for vertex in range(component.size):
        member_start[component[vertex] + 1] += 1
    for one in range(count):
        member_start[one + 1] += member_start[one]
    member = np.empty(component.size, np.int32)
    room = member_start[:-1].copy()
    for vertex in range(component.size):
        member[room[component[vertex]]] = vertex
        room[component[vertex]] += 1
    cyclic = np.empty(count, np.bool_)
    next_start = np.empty(count + 1, np.int32)
    next_one = np.empty(target.size, np.int32)
    last_from = np.full(count, -1, np.int32)  # the last component that was found to lead here
    used = 0
    for one in range(count):
        next_start[one] = used
        cyclic[one] = member_start[one + 1] - member_start[one] > 1
        for place in range(member_start[one], member_start[one + 1]):
            vertex = member[place]
            for arc in range(start[vertex], start[vertex + 1]):
                other = component[target[arc]]
                if other == one:
                    cyclic[one] = True
                elif last_from[other] != one:
                    last_from[other] = one
                    next_one[used] = other
                    used += 1
    next_start[count] = used
    return Condensation(component, member_start, member, cyclic, next_start, next_one[:used].copy())
