"""Settling: changes of the given facts go through all rules, until every relation is what it should be.

Components of relations are done in the order of their dependencies. A tuple is present while it is given or
has a derivation, so a relation without recursion is kept by counting derivations alone. In a recursive one a
tuple may hang in a circle with others that support each other. Therefore each tuple has a *rank*, the moment
it became present, and counts apart the derivations from tuples of lower rank: its *support*. While that is
not zero a finite derivation is certain. A tuple that loses its support is taken away, though it may have
other derivations; when all such are gone, those that still have one come back with a new rank: it is made of
tuples that stayed.

One tuple, the *item*, comes or goes at a time, along a schedule that its relation was given: it joins or
leaves its lists, and plans are run. What they derive is counted at once. The kernel stops wherever an array
has no room, and goes on there when it is called again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import bare_kernel
from tocsin.datalog.kernels.activation import activate
from tocsin.datalog.kernels.data_index import (
    change_count,
    fetch_place,
    hang,
    has_room,
    join_list,
    leave_list,
    release_entry,
)
from tocsin.datalog.kernels.layout import (
    ACTIVATE,
    ACTIVATE_NONE,
    ACTIVATE_SOME,
    BEFORE,
    C_FROM,
    C_RECURSIVE,
    C_TO,
    CHANGED,
    CLOCK,
    COMPONENT,
    COMPONENT_WORDS,
    COMPONENTS,
    CONTROL,
    COUNTS,
    DERIVATIONS,
    DERIVED,
    EMISSIONS,
    EMITTED,
    ENTRIES,
    FAILED,
    FAILING,
    FAILURE,
    FAILURES,
    FINISHED,
    GIVEN,
    GIVES_WAY,
    GOES_ON,
    HANG,
    INBOX,
    INDEX_ACCESSES,
    ITEM_AT,
    ITEM_END,
    ITEM_RELATION,
    ITEM_SIGN,
    ITEM_TUPLE,
    JOIN,
    JOIN_COUNTED,
    L_BASE,
    L_INDEX,
    LEAST_OVERTURNED,
    LEAVE,
    LEAVE_COUNTED,
    LIMIT,
    LINK,
    LINKS,
    MEMBERSHIP,
    NEEDS_INDEX,
    NEEDS_NEW_START,
    NEEDS_OUTSIDE,
    NEEDS_RELATION,
    NEEDS_ROOM_FIRST,
    NEVER_COUNTED,
    NOTED,
    OUTBOX,
    PENDING,
    PHASE,
    PRESENT,
    PUTTING_IN,
    QUEUED,
    R_ARITY,
    R_BASE,
    R_CHANGED,
    R_COMING,
    R_COMING_END,
    R_COMPONENT,
    R_DERIVED,
    R_GOING,
    R_GOING_END,
    R_LIVE,
    R_PENDING,
    R_RECURSIVE,
    R_ROOM,
    R_SIZE,
    RANKS,
    RELATION,
    RELATIONS,
    RELEASE,
    REMOVED,
    REPORTS,
    SCHEDULES,
    SEND,
    SENT,
    STATES,
    SUPPORTS,
    TAKEN,
    TAKING_AWAY,
    TOO_MANY,
    TURNED,
    TURNED_ENTRY,
    WANTING,
)
from tocsin.datalog.kernels.memory_table import numbers, words
from tocsin.datalog.kernels.tuple_table import (
    add_tuple,
    fetch_tuple,
    find_tuple,
    note_tuple,
    remove_tuple,
    touch_tuple,
)

_MANY = 3
"""Derivations of a tuple, on average, that are many."""

_AT_ONCE = 1 << 21
"""Steps, and words of what they derive, after which `run` gives way: a small part of a second."""


@bare_kernel
def begin(table: NDArray[np.int64]) -> None:
    """Forget the changes of the batch before, and the tuples that are gone."""
    relations, control = words(table, RELATIONS), words(table, CONTROL)
    for relation in range(relations.size // RELATION):
        record = relation * RELATION
        count = relations[record + R_CHANGED]
        if count == 0:
            continue
        base = relations[record + R_BASE]
        states, counts, changed = (
            numbers(table, base + STATES),
            numbers(table, base + COUNTS),
            numbers(table, base + CHANGED),
        )
        for at in range(count):
            number = np.int64(changed[at])
            states[number] &= ~(NOTED | BEFORE)
            if states[number] == 0 and counts[number] == 0:
                remove_tuple(table, relation, number)
        relations[record + R_CHANGED] = 0
    control[COMPONENT] = relations.size
    control[PHASE] = TAKING_AWAY
    control[REPORTS] = 0
    control[REMOVED] = 0


@bare_kernel
def stage(table: NDArray[np.int64], relation: int, count: int, coming: bool) -> None:
    """Give facts to a relation, or take them back: the first `count` rows of INBOX. There must be room."""
    relations, inbox = words(table, RELATIONS), words(table, INBOX)
    record = relation * RELATION
    base, arity = relations[record + R_BASE], relations[record + R_ARITY]
    states = numbers(table, base + STATES)
    for row in range(count):
        number = find_tuple(table, relation, inbox, row * arity)
        if coming:
            if number < 0:
                number = add_tuple(table, relation, inbox, row * arity, -1 - number)
            states[number] |= GIVEN
        elif number >= 0:
            states[number] &= ~GIVEN
        if number >= 0 and _is_to_be_looked_at(table, relation, number):
            _touch(table, relation, number)


@bare_kernel
def _is_to_be_looked_at(table: NDArray[np.int64], relation: int, number: int) -> bool:
    """Whether a tuple is present and may have to go, or is absent and may have to come."""
    relations = words(table, RELATIONS)
    record = relation * RELATION
    base = relations[record + R_BASE]
    state = numbers(table, base + STATES)[number]
    if state & PRESENT == 0:
        return state & GIVEN != 0 or numbers(table, base + COUNTS)[number] > 0
    if state & GIVEN:
        return False
    if relations[record + R_RECURSIVE]:
        return numbers(table, base + SUPPORTS)[number] == 0
    return numbers(table, base + COUNTS)[number] == 0


@bare_kernel
def _touch(table: NDArray[np.int64], relation: int, number: int) -> None:
    touch_tuple(table, relation, number)
    control = words(table, CONTROL)
    control[COMPONENT] = min(control[COMPONENT], words(table, RELATIONS)[relation * RELATION + R_COMPONENT])


@bare_kernel
def run(table: NDArray[np.int64]) -> int:
    """Go on until all is settled (FINISHED), or something is needed from outside, or for long enough."""
    control = words(table, CONTROL)
    left = _AT_ONCE
    while True:
        left -= 1 + control[EMITTED]
        if control[TAKEN] < control[EMITTED]:
            status = _count_emissions(table)
        elif control[ITEM_RELATION] >= 0:
            status = _go_on_with_item(table)
        else:
            status = _next_item(table)
        if status == FINISHED and control[FAILING]:
            return _name_failure(table)
        if status != GOES_ON:
            return status
        if left < 0:
            return GIVES_WAY


@bare_kernel
def _name_failure(table: NDArray[np.int64]) -> int:
    """All is settled, and some derivation says what has no value: tell of which rule."""
    control, failures = words(table, CONTROL), words(table, FAILURES)
    rule = 0
    while failures[2 * rule] == 0:
        rule += 1
    control[WANTING] = rule
    control[FAILURE] = failures[2 * rule + 1]
    return FAILED


@bare_kernel
def _fetch_places(table: NDArray[np.int64], relation: int, row: NDArray[np.int64], start: int) -> None:
    """Have all places on their way that a tuple of a relation will be looked for at."""
    relations, schedules = words(table, RELATIONS), words(table, SCHEDULES)
    record = relation * RELATION
    fetch_tuple(table, relation, row, start)
    for at in range(relations[record + R_COMING], relations[record + R_COMING_END]):
        if schedules[2 * at] == JOIN or schedules[2 * at] == HANG:
            fetch_place(table, schedules[2 * at + 1], row, start)


@bare_kernel
def change_one(table: NDArray[np.int64], relation: int, coming: bool) -> int:
    """Begin, stage the row in INBOX and run, in one call: for a single tuple.

    Returns -1 - the tuples noted in reported relations when it has finished, else what `run` would say.
    """
    relations = words(table, RELATIONS)
    record = relation * RELATION
    _fetch_places(table, relation, words(table, INBOX), 0)
    begin(table)
    if relations[record + R_SIZE] == relations[record + R_ROOM]:
        return NEEDS_ROOM_FIRST
    stage(table, relation, 1, coming)
    status = run(table)
    return -1 - words(table, CONTROL)[REPORTS] if status == FINISHED else status


@bare_kernel
def _count_emissions(table: NDArray[np.int64]) -> int:
    """Count each derivation that was found, for its head. A head that may change is to be looked at."""
    control, relations, emissions = words(table, CONTROL), words(table, RELATIONS), words(table, EMISSIONS)
    while control[TAKEN] < control[EMITTED]:
        at = control[TAKEN]
        relation, sign, rank = emissions[at], emissions[at + 1], emissions[at + 2]
        record = relation * RELATION
        base = relations[record + R_BASE]
        if (
            relations[record + R_SIZE] == relations[record + R_ROOM]
            or relations[record + R_CHANGED] == numbers(table, base + CHANGED).size
        ):
            control[WANTING] = relation
            return NEEDS_RELATION
        number = find_tuple(table, relation, emissions, at + 3)
        if number < 0:
            number = add_tuple(table, relation, emissions, at + 3, -1 - number)
        numbers(table, base + COUNTS)[number] += np.int32(sign)
        if numbers(table, base + COUNTS)[number] < 0:
            control[WANTING] = -1
            control[FAILURE] = NEVER_COUNTED
            return FAILED
        control[DERIVATIONS] += sign
        control[REMOVED] += sign < 0
        if (
            relations[record + R_RECURSIVE]
            and numbers(table, base + STATES)[number] & PRESENT
            and rank < words(table, base + RANKS)[number]
        ):
            numbers(table, base + SUPPORTS)[number] += np.int32(sign)
        if not _is_to_be_looked_at(table, relation, number):
            pass
        elif (
            control[PHASE] == TAKING_AWAY
            and relations[record + R_RECURSIVE]
            and numbers(table, base + STATES)[number] & PRESENT == 0
        ):
            note_tuple(table, relation, number)  # its time comes when all that goes is gone
        else:
            touch_tuple(table, relation, number)
        control[TAKEN] = at + 3 + relations[record + R_ARITY]
    control[TAKEN] = 0
    control[EMITTED] = 0
    if control[REMOVED] < control[LEAST_OVERTURNED] or not _is_overturned(table):
        return GOES_ON
    return NEEDS_NEW_START


@bare_kernel
def _is_overturned(table: NDArray[np.int64]) -> bool:
    """Whether so much has gone that what remains, facts and derivations, is sooner worked out anew.

    Where tuples have one derivation or two, taking one away takes no longer than finding it did, and four
    fifths may go. Where they have many, it takes longer, and much of what goes comes back: a fifth is enough.
    """
    control, relations = words(table, CONTROL), words(table, RELATIONS)
    removed, remaining = control[REMOVED], control[DERIVATIONS]
    weight = 16 if remaining > _MANY * control[DERIVED] else 1
    if removed * weight < 4 * remaining:
        return False
    for relation in range(relations.size // RELATION):
        record = relation * RELATION
        if not relations[record + R_DERIVED]:
            remaining += relations[record + R_LIVE]
    return removed * weight >= 4 * remaining


@bare_kernel
def _next_item(table: NDArray[np.int64]) -> int:
    """Find the next tuple that has to come or go, in this component or a later one."""
    control, relations = words(table, CONTROL), words(table, RELATIONS)
    components, membership = words(table, COMPONENTS), words(table, MEMBERSHIP)
    while control[COMPONENT] * COMPONENT_WORDS < components.size:
        record = control[COMPONENT] * COMPONENT_WORDS
        for at in range(components[record + C_FROM], components[record + C_TO]):
            relation = membership[at]
            owner = relation * RELATION
            base = relations[owner + R_BASE]
            pending, states = numbers(table, base + PENDING), numbers(table, base + STATES)
            while relations[owner + R_PENDING]:
                relations[owner + R_PENDING] -= 1
                number = np.int64(pending[relations[owner + R_PENDING]])
                states[number] &= ~QUEUED
                is_there = states[number] & PRESENT != 0
                if relations[owner + R_RECURSIVE] and is_there == (control[PHASE] == PUTTING_IN):
                    continue
                if _is_to_be_looked_at(table, relation, number):
                    return _start_item(table, relation, number, -1 if is_there else 1)
        if control[SENT]:
            return NEEDS_OUTSIDE
        if components[record + C_RECURSIVE] and control[PHASE] == TAKING_AWAY:
            control[PHASE] = PUTTING_IN
            for at in range(components[record + C_FROM], components[record + C_TO]):
                _look_again(table, membership[at])
        else:
            control[PHASE] = TAKING_AWAY
            control[COMPONENT] += 1
    return FINISHED


@bare_kernel
def _look_again(table: NDArray[np.int64], relation: int) -> None:
    """Queue the tuples of a recursive relation that are absent and have a derivation left, or a new one."""
    relations = words(table, RELATIONS)
    record = relation * RELATION
    base = relations[record + R_BASE]
    states, changed = numbers(table, base + STATES), numbers(table, base + CHANGED)
    for at in range(relations[record + R_CHANGED]):
        number = np.int64(changed[at])
        if states[number] & PRESENT == 0 and _is_to_be_looked_at(table, relation, number):
            touch_tuple(table, relation, number)


@bare_kernel
def _start_item(table: NDArray[np.int64], relation: int, number: int, sign: int) -> int:
    control, relations = words(table, CONTROL), words(table, RELATIONS)
    record = relation * RELATION
    base = relations[record + R_BASE]
    states = numbers(table, base + STATES)
    control[ITEM_RELATION] = relation
    control[ITEM_TUPLE] = number
    control[ITEM_SIGN] = sign
    relations[record + R_LIVE] += sign
    if relations[record + R_DERIVED]:
        control[DERIVED] += sign
        if control[DERIVED] > control[LIMIT]:
            control[WANTING] = -1
            control[FAILURE] = TOO_MANY
            return FAILED
    if sign > 0:
        states[number] |= PRESENT
        control[ITEM_AT] = relations[record + R_COMING]
        control[ITEM_END] = relations[record + R_COMING_END]
        if relations[record + R_RECURSIVE]:
            control[CLOCK] += 1
            words(table, base + RANKS)[number] = control[CLOCK]
            numbers(table, base + SUPPORTS)[number] = numbers(table, base + COUNTS)[number]
    else:
        states[number] &= ~PRESENT
        control[ITEM_AT] = relations[record + R_GOING]
        control[ITEM_END] = relations[record + R_GOING_END]
    return GOES_ON


@bare_kernel
def _go_on_with_item(table: NDArray[np.int64]) -> int:
    """Take the item through its schedule, up to the next plan that derives something."""
    control, schedules, links = words(table, CONTROL), words(table, SCHEDULES), words(table, LINKS)
    number, sign = control[ITEM_TUPLE], control[ITEM_SIGN]
    while control[ITEM_AT] < control[ITEM_END]:
        action, what = schedules[2 * control[ITEM_AT]], schedules[2 * control[ITEM_AT] + 1]
        is_turning = action == ACTIVATE_SOME or action == ACTIVATE_NONE
        if action == ACTIVATE or (is_turning and control[TURNED]):
            before = control[EMITTED]
            status = activate(table, what, number, -sign if action == ACTIVATE_NONE else sign)
            if status != GOES_ON:
                return status
            control[ITEM_AT] += 1
            if control[EMITTED] != before:
                return GOES_ON
            continue
        if action == JOIN or action == HANG:
            if not has_room(table, links[what * LINK + L_INDEX]):
                control[WANTING] = links[what * LINK + L_INDEX]
                return NEEDS_INDEX
            entry = hang(table, what, number)
            control[INDEX_ACCESSES] += entry >= 0
            if action == JOIN and entry >= 0:
                join_list(table, what, number, entry)
        elif action == SEND:
            status = _send(table, what)
            if status != GOES_ON:
                return status
        elif not is_turning:
            entry = np.int64(numbers(table, links[what * LINK + L_BASE] + ENTRIES)[number])
            if action == LEAVE:
                if entry >= 0:
                    leave_list(table, what, number, entry)
            elif action == JOIN_COUNTED:
                control[TURNED] = entry >= 0 and change_count(table, what, entry, 1) == 1
                control[TURNED_ENTRY] = entry
            elif action == LEAVE_COUNTED:
                control[TURNED] = entry >= 0 and change_count(table, what, entry, -1) == 0
                control[TURNED_ENTRY] = entry
            elif action == RELEASE and entry >= 0:
                release_entry(table, what, entry)
        control[ITEM_AT] += 1
    control[ITEM_RELATION] = -1
    return GOES_ON


@bare_kernel
def _send(table: NDArray[np.int64], what: int) -> int:
    """Put the item into OUTBOX: (what waits for it, relation, tuple, sign)."""
    control, outbox = words(table, CONTROL), words(table, OUTBOX)
    at = control[SENT]
    if at + 4 > outbox.size:
        return NEEDS_OUTSIDE
    outbox[at] = what
    outbox[at + 1] = control[ITEM_RELATION]
    outbox[at + 2] = control[ITEM_TUPLE]
    outbox[at + 3] = control[ITEM_SIGN]
    control[SENT] = at + 4
    return GOES_ON
