"""Activation: every way in which a rule's body holds with one given tuple in the place of one atom.

A plan is a list of steps. Those that find tuples (FOLLOW, SEARCH) may find several; when a later step fails,
or all is done, the last of them goes on to its next tuple. Partners are followed from entry to entry, so a
tuple is not read before every atom that can be asked without it has a partner.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import bare_kernel
from tocsin.datalog.kernels.arithmetic import evaluate
from tocsin.datalog.kernels.data_index import find_entry, passes
from tocsin.datalog.kernels.key_ranges import entry_of_node, first_in_range, next_in_range
from tocsin.datalog.kernels.layout import (
    ACTIVATIONS,
    AN_ERROR,
    AS_HOLDING,
    AS_IT_IS,
    ASK_FOLLOWED,
    ASK_SEARCHED,
    BARREN,
    COMPUTE,
    CONTROL,
    CURSORS,
    DETAILS,
    EMISSIONS,
    EMIT,
    EMITTED,
    FAILED,
    FAILING,
    FAILURE,
    FAILURES,
    FOLLOW,
    GOES_ON,
    HEADS,
    I_BASE,
    I_MEMBERS,
    INDEX,
    INDEX_ACCESSES,
    INDEXES,
    LOAD,
    MARK,
    NEEDED,
    NEEDS_EMISSIONS,
    NODES,
    OPERANDS,
    OTHER,
    P_ATOM,
    P_RELATION,
    P_RULE,
    P_STEPS,
    P_TESTS,
    P_TESTS_END,
    PLAN,
    PLANS,
    PRESENT,
    R_ARITY,
    R_BASE,
    R_SIZE,
    RANGE,
    REGISTERS,
    RELATION,
    RELATIONS,
    ROWS,
    SEARCH,
    SOME,
    STATES,
    STEP,
    STEPS,
    TEST,
    THE_HEAD,
    TUPLE_ACCESSES,
    TUPLES,
    TURNED_ENTRY,
    WANTING,
    WHEN_FAILED,
)
from tocsin.datalog.kernels.memory_table import numbers, words


@bare_kernel
def activate(table: NDArray[np.int64], plan: int, coming: int, sign: int) -> int:
    """Run a plan for the tuple `coming`; what it derives is appended to EMISSIONS, `sign` telling which way.

    Returns GOES_ON, FAILED, or NEEDS_EMISSIONS when there was no room: then nothing is appended. A tuple that
    has to wait, because an atom that can be asked from it alone has no partner, is not activated at all.

    What cannot be worked out is an error only where all else holds. So a step that fails leaves a mark, those
    that need its value are taken to hold, and when a derivation would be found, it is counted in FAILURES
    instead: it may cease to be before all is settled. A plan of a listener, which is not, returns FAILED.
    Where the plan says that it is no error, there is no derivation then, or then alone.
    A test that has no mark to leave does not hold.
    """
    plans, control = words(table, PLANS), words(table, CONTROL)
    relations, steps = words(table, RELATIONS), words(table, STEPS)
    record = plan * PLAN
    owner = plans[record + P_RELATION] * RELATION
    rows = words(table, relations[owner + R_BASE] + ROWS)
    start = coming * relations[owner + R_ARITY]
    if not passes(table, rows, start, plans[record + P_TESTS], plans[record + P_TESTS_END]):
        return GOES_ON
    tuples, cursors, registers = words(table, TUPLES), words(table, CURSORS), words(table, REGISTERS)
    nodes, details, operands = words(table, NODES), words(table, DETAILS), words(table, OPERANDS)
    here = plans[record + P_ATOM]
    tuples[here] = coming
    emitted_before, failing_before = control[EMITTED], control[FAILING]
    is_active = False
    poison = np.int64(0)
    failure = GOES_ON
    depth = 0
    at = plans[record + P_STEPS]
    while True:
        code = steps[at]
        holds = True
        if code == FOLLOW:
            entry = np.int64(numbers(table, steps[at + 6])[tuples[steps[at + 5]]])
            control[INDEX_ACCESSES] += 1
            found = np.int64(0)
            if entry >= 0:
                found = np.int64(numbers(table, steps[at + 2])[entry * steps[at + 3] + steps[at + 4]])
            if found:
                tuples[steps[at + 1]] = found - 1
                cursors[depth] = at
                depth += 1
            holds = found != 0
        elif code == SOME:
            entry = np.int64(numbers(table, steps[at + 5])[tuples[steps[at + 4]]])
            control[INDEX_ACCESSES] += 1
            holds = entry >= 0 and numbers(table, steps[at + 1])[entry * steps[at + 2] + steps[at + 3]] != 0
        elif code == SEARCH:
            entry = find_entry(table, steps[at + 2], registers, 0, steps[at + 4])
            control[INDEX_ACCESSES] += 1
            found = np.int64(0)
            if entry >= 0:
                found = _head(table, steps[at + 2], entry, steps[at + 3])
            if found:
                tuples[steps[at + 1]] = found - 1
                cursors[depth] = at
                depth += 1
            holds = found != 0
        elif code == RANGE:
            node = first_in_range(table, steps[at + 2], steps[at + 6], registers[steps[at + 4]])
            control[INDEX_ACCESSES] += 1
            holds = _stand_at_node(table, at, node)
            if holds:
                cursors[depth] = at
                depth += 1
        elif code == ASK_FOLLOWED:
            entry = np.int64(numbers(table, steps[at + 5])[tuples[steps[at + 4]]])
            control[INDEX_ACCESSES] += 1
            if steps[at + 6] != AS_IT_IS and entry == control[TURNED_ENTRY]:
                holds = steps[at + 6] == AS_HOLDING
            else:
                has_some = (
                    entry >= 0 and numbers(table, steps[at + 1])[entry * steps[at + 2] + steps[at + 3]] != 0
                )
                holds = has_some == (steps[at + 7] != 0)
        elif ASK_SEARCHED <= code <= TEST and steps[at + NEEDED] & poison:
            poison |= steps[at + MARK]
            holds = code != TEST or steps[at + MARK] != 0
        elif code == ASK_SEARCHED:
            entry = find_entry(table, steps[at + 1], registers, 0, steps[at + 3])
            control[INDEX_ACCESSES] += 1
            if steps[at + 4] != AS_IT_IS and entry == control[TURNED_ENTRY]:
                holds = steps[at + 4] == AS_HOLDING
            else:
                has_some = entry >= 0 and _head(table, steps[at + 1], entry, steps[at + 2]) != 0
                holds = has_some == (steps[at + 5] != 0)
        elif code == LOAD:
            source = words(table, steps[at + 2])
            first = tuples[steps[at + 1]] * steps[at + 3]
            pair = steps[at + 4]
            for _ in range(steps[at + 5]):
                registers[details[pair + 1]] = source[first + details[pair]]
                pair += 2
            if steps[at + 6] == 0:
                control[TUPLE_ACCESSES] += 1
        elif code == OTHER:
            holds = tuples[steps[at + 1]] != coming
        elif code == EMIT:
            if poison and steps[at + WHEN_FAILED] == AN_ERROR:
                if not _count_failure(table, plans[record + P_RULE], failure, sign):
                    return FAILED
            elif (poison != 0) == (steps[at + WHEN_FAILED] == THE_HEAD) and not _emit(table, at, sign):
                control[EMITTED] = emitted_before
                _count_failure(table, plans[record + P_RULE], failure, failing_before - control[FAILING])
                return NEEDS_EMISSIONS
            is_active = True
            holds = False
        else:
            status = evaluate(table, steps[at + 2], steps[at + 3])
            if status != GOES_ON:
                failure = status
                poison |= steps[at + MARK]
                holds = steps[at + MARK] != 0
            elif code == COMPUTE:
                registers[steps[at + 1]] = operands[0]
            else:
                holds = operands[0] != 0
        is_active |= depth > 0
        if holds:
            at += STEP
            continue
        while True:
            if depth == 0:
                control[ACTIVATIONS] += is_active
                control[BARREN] += is_active and control[EMITTED] == emitted_before
                return GOES_ON
            at = cursors[depth - 1]
            poison = np.int64(0)
            nexts = numbers(table, steps[at + 7] if steps[at] == FOLLOW else steps[at + 5])
            following = np.int64(nexts[tuples[steps[at + 1]]])
            if following:
                control[INDEX_ACCESSES] += 1
                tuples[steps[at + 1]] = following - 1
                at += STEP
                break
            if steps[at] == RANGE:
                node = next_in_range(table, steps[at + 2], steps[at + 6], nodes[steps[at + 1]])
                control[INDEX_ACCESSES] += node >= 0
                if _stand_at_node(table, at, node):
                    at += STEP
                    break
            depth -= 1


@bare_kernel
def _stand_at_node(table: NDArray[np.int64], at: int, node: int) -> bool:
    """Have the atom of a RANGE step stand at the first tuple from a key on; False if there is none.

    A key that is in order has a tuple, but maybe only of other atoms that share the index.
    """
    steps = words(table, STEPS)
    atom, index = steps[at + 1], steps[at + 2]
    while node >= 0:
        head = _head(table, index, entry_of_node(table, index, node), steps[at + 3])
        if head:
            words(table, NODES)[atom] = node
            words(table, TUPLES)[atom] = head - 1
            return True
        node = next_in_range(table, index, steps[at + 6], node)
        words(table, CONTROL)[INDEX_ACCESSES] += node >= 0
    return False


@bare_kernel
def _head(table: NDArray[np.int64], index: int, entry: int, member: int) -> int:
    indexes = words(table, INDEXES)
    record = index * INDEX
    heads = numbers(table, indexes[record + I_BASE] + HEADS)
    return np.int64(heads[entry * indexes[record + I_MEMBERS] + member])


@bare_kernel
def _count_failure(table: NDArray[np.int64], rule: int, failure: int, count: int) -> bool:
    """Count derivations of a rule that say what has no value. False for a rule that is only listened to."""
    control, failures = words(table, CONTROL), words(table, FAILURES)
    if 2 * rule >= failures.size:
        control[WANTING] = rule
        control[FAILURE] = failure
        return False
    control[FAILING] += count
    failures[2 * rule] += count
    if count > 0:
        failures[2 * rule + 1] = failure
    return True


@bare_kernel
def _emit(table: NDArray[np.int64], at: int, sign: int) -> bool:
    """Append (relation, sign, rank, columns...) to EMISSIONS: the rank is the highest of the tuples used."""
    control, steps, emissions = words(table, CONTROL), words(table, STEPS), words(table, EMISSIONS)
    details, registers, tuples = words(table, DETAILS), words(table, REGISTERS), words(table, TUPLES)
    filled, columns = control[EMITTED], steps[at + 3]
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
    control[EMITTED] = filled + 3 + columns
    return True


@bare_kernel
def activate_all(table: NDArray[np.int64], plan: int, first: int) -> int:
    """Run a plan for every present tuple of its relation, from number `first` on: whole relations at once.

    Returns -1 when all is done, else the number to go on with: EMISSIONS is full, or, if CONTROL names a
    failure, the tuple that failed.
    """
    relations, control = words(table, RELATIONS), words(table, CONTROL)
    owner = words(table, PLANS)[plan * PLAN + P_RELATION] * RELATION
    states = numbers(table, relations[owner + R_BASE] + STATES)
    control[FAILURE] = GOES_ON
    for number in range(first, relations[owner + R_SIZE]):
        if states[number] >= 0 and states[number] & PRESENT and activate(table, plan, number, 1) != GOES_ON:
            return number
    return -1
