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

from tocsin.arrays.dtypes import Longs
from tocsin.arrays.jit import bare_kernel
from tocsin.datalog.kernels import data_index, layout, tuple_table
from tocsin.datalog.kernels.activation import activate
from tocsin.datalog.kernels.memory_table import link_record, numbers, relation_record, words

_MANY = 3
"""Derivations of a tuple, on average, that are many."""

_AT_ONCE = 1 << 21
"""Steps, and words of what they derive, after which `run` gives way: a small part of a second."""


@bare_kernel
def begin(table: Longs) -> None:
    """Forget the changes of the batch before, and the tuples that are gone."""
    relations, control = words(table, layout.RELATIONS), words(table, layout.CONTROL)
    for relation in range(relations.size // layout.RELATION):
        record = relation_record(table, relation)
        count = record[layout.R_CHANGED]
        if count == 0:
            continue
        base = record[layout.R_BASE]
        changed = numbers(table, base + layout.CHANGED)
        states, counts = numbers(table, base + layout.STATES), numbers(table, base + layout.COUNTS)
        for at in range(count):
            number = np.int64(changed[at])
            states[number] &= ~(layout.NOTED | layout.BEFORE)
            if states[number] == 0 and counts[number] == 0:
                tuple_table.remove_tuple(table, relation, number)
        record[layout.R_CHANGED] = 0
    control[layout.COMPONENT] = relations.size
    control[layout.PHASE] = layout.TAKING_AWAY
    control[layout.REPORTS] = 0
    control[layout.REMOVED] = 0


@bare_kernel
def stage(table: Longs, relation: int, count: int, coming: bool) -> None:
    """Give facts to a relation, or take them back: the first `count` rows of INBOX. There must be room."""
    record, inbox = relation_record(table, relation), words(table, layout.INBOX)
    states, arity = numbers(table, record[layout.R_BASE] + layout.STATES), record[layout.R_ARITY]
    control = words(table, layout.CONTROL)
    for row in range(count):
        number = tuple_table.find_tuple(table, relation, inbox, row * arity)
        if coming:
            if number < 0:
                number = tuple_table.add_tuple(table, relation, inbox, row * arity, -1 - number)
            states[number] |= layout.GIVEN
        elif number >= 0:
            states[number] &= ~layout.GIVEN
        if number >= 0 and _is_to_be_looked_at(table, relation, number):
            tuple_table.touch_tuple(table, relation, number)
            control[layout.COMPONENT] = min(control[layout.COMPONENT], record[layout.R_COMPONENT])


@bare_kernel
def _is_to_be_looked_at(table: Longs, relation: int, number: int) -> bool:
    """Whether a tuple is present and may have to go, or is absent and may have to come."""
    record = relation_record(table, relation)
    base = record[layout.R_BASE]
    state = numbers(table, base + layout.STATES)[number]
    if state & layout.PRESENT == 0:
        return state & layout.GIVEN != 0 or numbers(table, base + layout.COUNTS)[number] > 0
    if state & layout.GIVEN:
        return False
    if record[layout.R_RECURSIVE]:
        return numbers(table, base + layout.SUPPORTS)[number] == 0
    return numbers(table, base + layout.COUNTS)[number] == 0


@bare_kernel
def run(table: Longs) -> int:
    """Go on until all is settled (FINISHED), or something is needed from outside, or for long enough."""
    control = words(table, layout.CONTROL)
    left = _AT_ONCE
    while True:
        left -= 1 + control[layout.EMITTED]
        if control[layout.TAKEN] < control[layout.EMITTED]:
            status = _count_emissions(table)
        elif control[layout.ITEM_RELATION] >= 0:
            status = _go_on_with_item(table)
        else:
            status = _next_item(table)
        if status == layout.FINISHED and control[layout.FAILING]:
            return _name_failure(table)
        if status != layout.GOES_ON:
            return status
        if left < 0:
            return layout.GIVES_WAY


@bare_kernel
def _name_failure(table: Longs) -> int:
    """All is settled, and some derivation says what has no value: tell of which rule."""
    control, failures = words(table, layout.CONTROL), words(table, layout.FAILURES)
    rule = 0
    while failures[2 * rule] == 0:
        rule += 1
    control[layout.WANTING] = rule
    control[layout.FAILURE] = failures[2 * rule + 1]
    return layout.FAILED


@bare_kernel
def _fetch_places(table: Longs, relation: int, row: Longs, start: int) -> None:
    """Have all places on their way that a tuple of a relation will be looked for at."""
    record, schedules = relation_record(table, relation), words(table, layout.SCHEDULES)
    tuple_table.fetch_tuple(table, relation, row, start)
    for at in range(record[layout.R_COMING], record[layout.R_COMING_END]):
        if schedules[2 * at] == layout.JOIN or schedules[2 * at] == layout.HANG:
            data_index.fetch_place(table, schedules[2 * at + 1], row, start)


@bare_kernel
def change_one(table: Longs, relation: int, coming: bool) -> int:
    """Begin, stage the row in INBOX and run, in one call: for a single tuple.

    Returns -1 - the tuples noted in reported relations when it has finished, else what `run` would say.
    """
    record = relation_record(table, relation)
    _fetch_places(table, relation, words(table, layout.INBOX), 0)
    begin(table)
    if record[layout.R_SIZE] == record[layout.R_ROOM]:
        return layout.NEEDS_ROOM_FIRST
    stage(table, relation, 1, coming)
    status = run(table)
    return -1 - words(table, layout.CONTROL)[layout.REPORTS] if status == layout.FINISHED else status


@bare_kernel
def _count_emissions(table: Longs) -> int:
    """Count each derivation that was found, for its head. A head that may change is to be looked at."""
    control, emissions = words(table, layout.CONTROL), words(table, layout.EMISSIONS)
    while control[layout.TAKEN] < control[layout.EMITTED]:
        at = control[layout.TAKEN]
        relation, sign, rank = emissions[at], emissions[at + 1], emissions[at + 2]
        record = relation_record(table, relation)
        base = record[layout.R_BASE]
        if (
            record[layout.R_SIZE] == record[layout.R_ROOM]
            or record[layout.R_CHANGED] == numbers(table, base + layout.CHANGED).size
        ):
            control[layout.WANTING] = relation
            return layout.NEEDS_RELATION
        number = tuple_table.find_tuple(table, relation, emissions, at + 3)
        if number < 0:
            number = tuple_table.add_tuple(table, relation, emissions, at + 3, -1 - number)
        numbers(table, base + layout.COUNTS)[number] += np.int32(sign)
        if numbers(table, base + layout.COUNTS)[number] < 0:
            control[layout.WANTING] = -1
            control[layout.FAILURE] = layout.NEVER_COUNTED
            return layout.FAILED
        control[layout.DERIVATIONS] += sign
        control[layout.REMOVED] += sign < 0
        if (
            record[layout.R_RECURSIVE]
            and numbers(table, base + layout.STATES)[number] & layout.PRESENT
            and rank < words(table, base + layout.RANKS)[number]
        ):
            numbers(table, base + layout.SUPPORTS)[number] += np.int32(sign)
        if not _is_to_be_looked_at(table, relation, number):
            pass
        elif (
            control[layout.PHASE] == layout.TAKING_AWAY
            and record[layout.R_RECURSIVE]
            and numbers(table, base + layout.STATES)[number] & layout.PRESENT == 0
        ):
            tuple_table.note_tuple(table, relation, number)  # its time comes when all that goes is gone
        else:
            tuple_table.touch_tuple(table, relation, number)
        control[layout.TAKEN] = at + 3 + record[layout.R_ARITY]
    control[layout.TAKEN] = 0
    control[layout.EMITTED] = 0
    if control[layout.REMOVED] < control[layout.LEAST_OVERTURNED] or not _is_overturned(table):
        return layout.GOES_ON
    return layout.NEEDS_NEW_START


@bare_kernel
def _is_overturned(table: Longs) -> bool:
    """Whether so much has gone that what remains, facts and derivations, is sooner worked out anew.

    Where tuples have one derivation or two, taking one away takes no longer than finding it did, and four
    fifths may go. Where they have many, it takes longer, and much of what goes comes back: a fifth is enough.
    """
    control, relations = words(table, layout.CONTROL), words(table, layout.RELATIONS)
    removed, remaining = control[layout.REMOVED], control[layout.DERIVATIONS]
    weight = 16 if remaining > _MANY * control[layout.DERIVED] else 1
    if removed * weight < 4 * remaining:
        return False
    for relation in range(relations.size // layout.RELATION):
        record = relation_record(table, relation)
        if not record[layout.R_DERIVED]:
            remaining += record[layout.R_LIVE]
    return removed * weight >= 4 * remaining


@bare_kernel
def _next_item(table: Longs) -> int:
    """Find the next tuple that has to come or go, in this component or a later one."""
    control = words(table, layout.CONTROL)
    components, membership = words(table, layout.COMPONENTS), words(table, layout.MEMBERSHIP)
    while control[layout.COMPONENT] * layout.COMPONENT_WORDS < components.size:
        record = control[layout.COMPONENT] * layout.COMPONENT_WORDS
        for at in range(components[record + layout.C_FROM], components[record + layout.C_TO]):
            relation = membership[at]
            owner = relation_record(table, relation)
            base = owner[layout.R_BASE]
            pending, states = numbers(table, base + layout.PENDING), numbers(table, base + layout.STATES)
            while owner[layout.R_PENDING]:
                owner[layout.R_PENDING] -= 1
                number = np.int64(pending[owner[layout.R_PENDING]])
                states[number] &= ~layout.QUEUED
                is_there = states[number] & layout.PRESENT != 0
                if owner[layout.R_RECURSIVE] and is_there == (control[layout.PHASE] == layout.PUTTING_IN):
                    continue
                if _is_to_be_looked_at(table, relation, number):
                    return _start_item(table, relation, number, -1 if is_there else 1)
        if control[layout.SENT]:
            return layout.NEEDS_OUTSIDE
        if components[record + layout.C_RECURSIVE] and control[layout.PHASE] == layout.TAKING_AWAY:
            control[layout.PHASE] = layout.PUTTING_IN
            for at in range(components[record + layout.C_FROM], components[record + layout.C_TO]):
                _look_again(table, membership[at])
        else:
            control[layout.PHASE] = layout.TAKING_AWAY
            control[layout.COMPONENT] += 1
    return layout.FINISHED


@bare_kernel
def _look_again(table: Longs, relation: int) -> None:
    """Queue the tuples of a recursive relation that are absent and have a derivation left, or a new one."""
    record = relation_record(table, relation)
    base = record[layout.R_BASE]
    states, changed = numbers(table, base + layout.STATES), numbers(table, base + layout.CHANGED)
    for at in range(record[layout.R_CHANGED]):
        number = np.int64(changed[at])
        if states[number] & layout.PRESENT == 0 and _is_to_be_looked_at(table, relation, number):
            tuple_table.touch_tuple(table, relation, number)


@bare_kernel
def _start_item(table: Longs, relation: int, number: int, sign: int) -> int:
    control, record = words(table, layout.CONTROL), relation_record(table, relation)
    base = record[layout.R_BASE]
    states = numbers(table, base + layout.STATES)
    control[layout.ITEM_RELATION] = relation
    control[layout.ITEM_TUPLE] = number
    control[layout.ITEM_SIGN] = sign
    record[layout.R_LIVE] += sign
    if record[layout.R_DERIVED]:
        control[layout.DERIVED] += sign
        if control[layout.DERIVED] > control[layout.LIMIT]:
            control[layout.WANTING] = -1
            control[layout.FAILURE] = layout.TOO_MANY
            return layout.FAILED
    if sign > 0:
        states[number] |= layout.PRESENT
        control[layout.ITEM_AT] = record[layout.R_COMING]
        control[layout.ITEM_END] = record[layout.R_COMING_END]
        if record[layout.R_RECURSIVE]:
            control[layout.CLOCK] += 1
            words(table, base + layout.RANKS)[number] = control[layout.CLOCK]
            numbers(table, base + layout.SUPPORTS)[number] = numbers(table, base + layout.COUNTS)[number]
    else:
        states[number] &= ~layout.PRESENT
        control[layout.ITEM_AT] = record[layout.R_GOING]
        control[layout.ITEM_END] = record[layout.R_GOING_END]
    return layout.GOES_ON


@bare_kernel
def _go_on_with_item(table: Longs) -> int:
    """Take the item through its schedule, up to the next plan that derives something."""
    control, schedules = words(table, layout.CONTROL), words(table, layout.SCHEDULES)
    number, sign = control[layout.ITEM_TUPLE], control[layout.ITEM_SIGN]
    while control[layout.ITEM_AT] < control[layout.ITEM_END]:
        action, what = schedules[2 * control[layout.ITEM_AT]], schedules[2 * control[layout.ITEM_AT] + 1]
        is_turning = action == layout.ACTIVATE_SOME or action == layout.ACTIVATE_NONE
        if action == layout.ACTIVATE or (is_turning and control[layout.TURNED]):
            before = control[layout.EMITTED]
            status = activate(table, what, number, -sign if action == layout.ACTIVATE_NONE else sign)
            if status != layout.GOES_ON:
                return status
            control[layout.ITEM_AT] += 1
            if control[layout.EMITTED] != before:
                return layout.GOES_ON
            continue
        if action == layout.JOIN or action == layout.HANG:
            index = link_record(table, what)[layout.L_INDEX]
            if not data_index.has_room(table, index):
                control[layout.WANTING] = index
                return layout.NEEDS_INDEX
            entry = data_index.hang(table, what, number)
            control[layout.INDEX_ACCESSES] += entry >= 0
            if action == layout.JOIN and entry >= 0:
                data_index.join_list(table, what, number, entry)
        elif action == layout.SEND:
            status = _send(table, what)
            if status != layout.GOES_ON:
                return status
        elif not is_turning:
            base = link_record(table, what)[layout.L_BASE]
            entry = np.int64(numbers(table, base + layout.ENTRIES)[number])
            if action == layout.LEAVE:
                if entry >= 0:
                    data_index.leave_list(table, what, number, entry)
            elif action == layout.JOIN_COUNTED:
                control[layout.TURNED] = entry >= 0 and data_index.change_count(table, what, entry, 1) == 1
                control[layout.TURNED_ENTRY] = entry
            elif action == layout.LEAVE_COUNTED:
                control[layout.TURNED] = entry >= 0 and data_index.change_count(table, what, entry, -1) == 0
                control[layout.TURNED_ENTRY] = entry
            elif action == layout.RELEASE and entry >= 0:
                data_index.release_entry(table, what, entry)
        control[layout.ITEM_AT] += 1
    control[layout.ITEM_RELATION] = -1
    return layout.GOES_ON


@bare_kernel
def _send(table: Longs, what: int) -> int:
    """Put the item into OUTBOX: (what waits for it, relation, tuple, sign)."""
    control, outbox = words(table, layout.CONTROL), words(table, layout.OUTBOX)
    at = control[layout.SENT]
    if at + 4 > outbox.size:
        return layout.NEEDS_OUTSIDE
    outbox[at] = what
    outbox[at + 1] = control[layout.ITEM_RELATION]
    outbox[at + 2] = control[layout.ITEM_TUPLE]
    outbox[at + 3] = control[layout.ITEM_SIGN]
    control[layout.SENT] = at + 4
    return layout.GOES_ON
