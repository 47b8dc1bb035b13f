"""Activation: every way in which a rule's body holds with one given tuple in the place of one atom.

A plan is a list of steps. Those that find tuples (FOLLOW, SEARCH, RANGE) may find several; when a later step
fails, or all is done, the last of them goes on to its next tuple. Partners are followed from entry to entry,
so a tuple is not read before every atom that can be asked without it has a partner.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.arrays.dtypes import Longs
from tocsin.arrays.jit import bare_kernel, inner_kernel
from tocsin.datalog.kernels import layout
from tocsin.datalog.kernels.arithmetic import evaluate
from tocsin.datalog.kernels.data_index import find_entry, passes
from tocsin.datalog.kernels.key_order import entry_of_node, first_in_range, next_in_range
from tocsin.datalog.kernels.memory_table import index_record, numbers, relation_record, words


class Run(NamedTuple):
    """What the steps of a plan work on: arrays of the table, and the table itself for what they point to."""

    table: Longs
    control: Longs
    steps: Longs
    tuples: Longs
    registers: Longs
    details: Longs
    nodes: Longs


@bare_kernel
def activate(table: Longs, plan: int, coming: int, sign: int) -> int:
    """Run a plan for the tuple `coming`; what it derives is appended to EMISSIONS, `sign` telling which way.

    Returns GOES_ON, FAILED, or NEEDS_EMISSIONS when there was no room: then nothing is appended. A tuple that
    has to wait, because an atom that can be asked from it alone has no partner, is not activated at all.

    What cannot be worked out is an error only where all else holds. So a step that fails leaves a mark, those
    that need its value are taken to hold, and when a derivation would be found, it is counted in FAILURES
    instead: it may cease to be before all is settled. A plan of a listener, which is not, returns FAILED.
    Where the plan says that it is no error, there is no derivation then, or then alone.
    A test that has no mark to leave does not hold.
    """
    plans, control = words(table, layout.PLANS), words(table, layout.CONTROL)
    steps = words(table, layout.STEPS)
    record = plan * layout.PLAN
    owner = relation_record(table, plans[record + layout.P_RELATION])
    rows, start = words(table, owner[layout.R_BASE] + layout.ROWS), coming * owner[layout.R_ARITY]
    if not passes(table, rows, start, plans[record + layout.P_TESTS], plans[record + layout.P_TESTS_END]):
        return layout.GOES_ON
    tuples, cursors = words(table, layout.TUPLES), words(table, layout.CURSORS)
    registers, operands = words(table, layout.REGISTERS), words(table, layout.OPERANDS)
    details, nodes = words(table, layout.DETAILS), words(table, layout.NODES)
    run = Run(table, control, steps, tuples, registers, details, nodes)
    tuples[plans[record + layout.P_ATOM]] = coming
    emitted_before, failing_before = control[layout.EMITTED], control[layout.FAILING]
    is_active = False
    poison = np.int64(0)
    failure = layout.GOES_ON
    depth = 0
    at = plans[record + layout.P_STEPS]
    while True:
        code = steps[at]
        holds = True
        if code <= layout.RANGE:
            holds = _stand_at_first(run, at, code)
            if holds:
                cursors[depth] = at
                depth += 1
                is_active = True
        elif layout.ASK_SEARCHED <= code <= layout.TEST and steps[at + layout.NEEDED] & poison:
            poison |= steps[at + layout.MARK]
            holds = code != layout.TEST or steps[at + layout.MARK] != 0
        elif code <= layout.ASK_SEARCHED:
            holds = _is_as_asked(run, at, code)
        elif code == layout.LOAD:
            _load(run, at)
        elif code == layout.OTHER:
            holds = tuples[steps[at + 1]] != coming
        elif code == layout.EMIT:
            status = _derive(run, at, poison, failure, plans[record + layout.P_RULE], sign)
            if status == layout.NEEDS_EMISSIONS:
                control[layout.EMITTED] = emitted_before
                counted = failing_before - control[layout.FAILING]
                _count_failure(table, plans[record + layout.P_RULE], failure, counted)
            if status != layout.GOES_ON:
                return status
            is_active = True
            holds = False
        else:
            status = evaluate(table, steps[at + 2], steps[at + 3])
            if status != layout.GOES_ON:
                failure = status
                poison |= steps[at + layout.MARK]
                holds = steps[at + layout.MARK] != 0
            elif code == layout.COMPUTE:
                registers[steps[at + 1]] = operands[0]
            else:
                holds = operands[0] != 0
        if not holds:
            poison = np.int64(0)
            while depth > 0 and not _stand_at_next(run, cursors[depth - 1]):
                depth -= 1
            if depth == 0:
                control[layout.ACTIVATIONS] += is_active
                control[layout.BARREN] += is_active and control[layout.EMITTED] == emitted_before
                return layout.GOES_ON
            at = cursors[depth - 1]
        at += layout.STEP


@inner_kernel
def _stand_at_first(run: Run, at: int, code: int) -> bool:
    """Have the atom of FOLLOW, SEARCH or RANGE stand at the first tuple that it finds; False for none."""
    table, control, steps, tuples, registers, _, _ = run
    control[layout.INDEX_ACCESSES] += 1
    if code == layout.RANGE:
        node = first_in_range(table, steps[at + 2], steps[at + 6], registers[steps[at + 4]])
        return _stand_at_node(table, at, node)
    found = np.int64(0)
    if code == layout.FOLLOW:
        found = _followed_head(run, at + 2, _followed_entry(run, at + 2))
    else:
        entry = find_entry(table, steps[at + 2], registers, 0, steps[at + 4])
        if entry >= 0:
            found = _head(table, steps[at + 2], entry, steps[at + 3])
    if found:
        tuples[steps[at + 1]] = found - 1
    return found != 0


@inner_kernel
def _stand_at_next(run: Run, at: int) -> bool:
    """Have the atom of FOLLOW, SEARCH or RANGE stand at the tuple behind the one where it is."""
    table, control, steps, tuples, _, _, nodes = run
    nexts = numbers(table, steps[at + 7] if steps[at] == layout.FOLLOW else steps[at + 5])
    following = np.int64(nexts[tuples[steps[at + 1]]])
    if following:
        control[layout.INDEX_ACCESSES] += 1
        tuples[steps[at + 1]] = following - 1
        return True
    if steps[at] != layout.RANGE:
        return False
    node = next_in_range(table, steps[at + 2], steps[at + 6], nodes[steps[at + 1]])
    control[layout.INDEX_ACCESSES] += node >= 0
    return _stand_at_node(table, at, node)


@bare_kernel
def _stand_at_node(table: Longs, at: int, node: int) -> bool:
    """Have the atom of a RANGE step stand at the first tuple from a key on; False if there is none.

    A key that is in order has a tuple, but maybe only of other atoms that share the index.
    """
    steps = words(table, layout.STEPS)
    atom, index = steps[at + 1], steps[at + 2]
    while node >= 0:
        head = _head(table, index, entry_of_node(table, index, node), steps[at + 3])
        if head:
            words(table, layout.NODES)[atom] = node
            words(table, layout.TUPLES)[atom] = head - 1
            return True
        node = next_in_range(table, index, steps[at + 6], node)
        words(table, layout.CONTROL)[layout.INDEX_ACCESSES] += node >= 0
    return False


@inner_kernel
def _is_as_asked(run: Run, at: int, code: int) -> bool:
    """Whether there are tuples of the link that SOME, ASK_FOLLOWED or ASK_SEARCHED names, or none."""
    table, control, steps, _, registers, _, _ = run
    control[layout.INDEX_ACCESSES] += 1
    if code == layout.SOME:
        return _followed_head(run, at + 1, _followed_entry(run, at + 1)) != 0
    is_followed = code == layout.ASK_FOLLOWED
    if is_followed:
        entry = _followed_entry(run, at + 1)
    else:
        entry = find_entry(table, steps[at + 1], registers, 0, steps[at + 3])
    how = at + 6 if is_followed else at + 4
    if steps[how] != layout.AS_IT_IS and entry == control[layout.TURNED_ENTRY]:
        return steps[how] == layout.AS_HOLDING
    head = np.int64(0)
    if is_followed:
        head = _followed_head(run, at + 1, entry)
    elif entry >= 0:
        head = _head(table, steps[at + 1], entry, steps[at + 2])
    return (head != 0) == (steps[how + 1] != 0)


@inner_kernel
def _followed_entry(run: Run, at: int) -> int:
    """The entry where another atom's tuple hangs; a step has (..., from atom, its entries slot) at `at`."""
    return np.int64(numbers(run.table, run.steps[at + 4])[run.tuples[run.steps[at + 3]]])


@inner_kernel
def _followed_head(run: Run, at: int, entry: int) -> int:
    """The head of a member in that entry, or 0; a step has (heads slot, members, member, ...) at `at`."""
    if entry < 0:
        return np.int64(0)
    return np.int64(numbers(run.table, run.steps[at])[entry * run.steps[at + 1] + run.steps[at + 2]])


@bare_kernel
def _head(table: Longs, index: int, entry: int, member: int) -> int:
    record = index_record(table, index)
    heads = numbers(table, record[layout.I_BASE] + layout.HEADS)
    return np.int64(heads[entry * record[layout.I_MEMBERS] + member])


@inner_kernel
def _load(run: Run, at: int) -> None:
    """Read columns of an atom's tuple into registers."""
    table, control, steps, tuples, registers, details, _ = run
    source = words(table, steps[at + 2])
    first = tuples[steps[at + 1]] * steps[at + 3]
    pair = steps[at + 4]
    for _ in range(steps[at + 5]):
        registers[details[pair + 1]] = source[first + details[pair]]
        pair += 2
    if steps[at + 6] == 0:
        control[layout.TUPLE_ACCESSES] += 1


@inner_kernel
def _derive(run: Run, at: int, poison: int, failure: int, rule: int, sign: int) -> int:
    """A derivation is found: append it, or count it as one that says what has no value."""
    when_failed = run.steps[at + layout.WHEN_FAILED]
    if poison and when_failed == layout.AN_ERROR:
        return layout.GOES_ON if _count_failure(run.table, rule, failure, sign) else layout.FAILED
    if (poison != 0) == (when_failed == layout.THE_HEAD) and not _emit(run.table, at, sign):
        return layout.NEEDS_EMISSIONS
    return layout.GOES_ON


@bare_kernel
def _count_failure(table: Longs, rule: int, failure: int, count: int) -> bool:
    """Count derivations of a rule that say what has no value. False for a rule that is only listened to."""
    control, failures = words(table, layout.CONTROL), words(table, layout.FAILURES)
    if 2 * rule >= failures.size:
        control[layout.WANTING] = rule
        control[layout.FAILURE] = failure
        return False
    control[layout.FAILING] += count
    failures[2 * rule] += count
    if count > 0:
        failures[2 * rule + 1] = failure
    return True


@bare_kernel
def _emit(table: Longs, at: int, sign: int) -> bool:
    """Append (relation, sign, rank, columns...) to EMISSIONS: the rank is the highest of the tuples used."""
    control, steps = words(table, layout.CONTROL), words(table, layout.STEPS)
    emissions, details = words(table, layout.EMISSIONS), words(table, layout.DETAILS)
    registers, tuples = words(table, layout.REGISTERS), words(table, layout.TUPLES)
    filled, columns = control[layout.EMITTED], steps[at + 3]
    if filled + 3 + columns > emissions.size:
        return False
    rank = np.int64(0)
    pair = steps[at + 4]
    for _ in range(steps[at + 5]):
        rank = max(rank, words(table, details[pair + 1])[tuples[details[pair]]])
        pair += 2
    emissions[filled] = steps[at + 1]
    emissions[filled + 1] = sign
    emissions[filled + 2] = rank
    for column in range(columns):
        emissions[filled + 3 + column] = registers[details[steps[at + 2] + column]]
    control[layout.EMITTED] = filled + 3 + columns
    return True


@bare_kernel
def activate_all(table: Longs, plan: int, first: int) -> int:
    """Run a plan for every present tuple of its relation, from number `first` on: whole relations at once.

    Returns -1 when all is done, else the number to go on with: EMISSIONS is full, or, if CONTROL names a
    failure, the tuple that failed.
    """
    owner = relation_record(table, words(table, layout.PLANS)[plan * layout.PLAN + layout.P_RELATION])
    states = numbers(table, owner[layout.R_BASE] + layout.STATES)
    words(table, layout.CONTROL)[layout.FAILURE] = layout.GOES_ON
    for number in range(first, owner[layout.R_SIZE]):
        if states[number] < 0 or states[number] & layout.PRESENT == 0:
            continue
        if activate(table, plan, number, 1) != layout.GOES_ON:
            return number
    return -1
