"""Whether structures that come from a file are what kernels take them for.

Kernels follow references without a look at where they lead, and some follow them until they end. These
prove, in one pass each and in memory proportional to what they check, that everything leads to where it can
and that everything ends. What only makes an answer odd is not looked for. Each says the first place that is
wrong, or SOUND.

Arrays are taken to have their types and lengths, and offsets to ascend: graph/soundness.py sees to that.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.array_checks import SOUND
from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import kernel
from tocsin.conditions.kernels.automaton import BASE_SHIFT, BYTE_MASK, ENDS, FALL_SHIFT, FREE, OWN, SLOT_MASK
from tocsin.conditions.kernels.pattern_search import PLACES, Patterns


@kernel
def unsound_plane(level_start: Ints, child_start: Ints, child: Ints, first_inner: int) -> int:
    """Every inner plane has a child, and all its children lie below its level: so the graph has no cycle."""
    for level in range(level_start.size - 1):
        first = level_start[level]
        last = level_start[level + 1]
        for inner in range(first, last):
            if child_start[inner] >= child_start[inner + 1]:
                return inner
        begin = child_start[first]
        end = child_start[last]
        lowest = np.int32(0)
        highest = np.int32(0)
        for i in range(begin, end):
            lowest = min(lowest, child[i])
            highest = max(highest, child[i])
        if lowest < 0 or highest >= first_inner + first:
            return first
    return SOUND


@kernel
def unsound_slot(patterns: Patterns) -> int:
    """The automata are trees of bytes, apart from each other, and end in their own literals.

    A slot with a byte is the child of the one state whose base leads to it. From the roots down every state
    gets its automaton and depth; it falls to a shallower state of the same automaton, which therefore ends at
    the root. A literal is as long as the state that it owns is deep, and those behind it are shorter.
    """
    root, word, ending = patterns.root, patterns.word, patterns.ending
    shorter, literal_start = patterns.shorter, patterns.literal_start
    slots = word.size
    owner = np.full(slots, -1, np.int32)  # of each base the state that has it
    automaton = np.full(slots, -1, np.int32)
    depth = np.zeros(slots, np.int32)
    first_child = np.full(slots, -1, np.int32)
    sibling = np.full(slots, -1, np.int32)
    length = np.full(shorter.size, -1, np.int32)
    queue = np.empty(slots, np.int32)
    written = 0
    for a in range(root.size):
        if root[a] >= 0:
            if root[a] == 0 or automaton[root[a]] >= 0 or word[root[a]] & BYTE_MASK != FREE:
                return root[a]
            automaton[root[a]] = a
            queue[written] = root[a]
            written += 1
    for slot in range(slots):
        if word[slot] < 0:
            return slot
        base = word[slot] >> BASE_SHIFT
        if base | 255 >= slots or (word[slot] >> FALL_SHIFT) & SLOT_MASK >= slots:
            return slot
        if base != 0:
            if owner[base] >= 0:
                return slot
            owner[base] = slot
    for slot in range(slots):
        byte = word[slot] & BYTE_MASK
        if byte > FREE:
            return slot
        if byte != FREE:
            parent = owner[slot ^ byte]
            if parent < 0:
                return slot
            sibling[slot] = first_child[parent]
            first_child[parent] = slot
    read = 0
    while read < written:
        state = queue[read]
        read += 1
        child = first_child[state]
        while child >= 0:
            automaton[child] = automaton[state]
            depth[child] = depth[state] + 1
            queue[written] = child
            written += 1
            child = sibling[child]
    for i in range(written):
        state = queue[i]
        here = word[state]
        a = automaton[state]
        literal = np.int64(ending[state])
        if literal >= 0 and not literal_start[a] <= literal < literal_start[a + 1]:
            return state
        if depth[state] > 0:
            fall = (here >> FALL_SHIFT) & SLOT_MASK
            if automaton[fall] != a or depth[fall] >= depth[state]:
                return state
        if here & OWN:
            if literal < 0 or length[literal] >= 0 or here & ENDS == 0:
                return state
            length[literal] = depth[state]
    for slot in range(slots):
        if automaton[slot] < 0 and word[slot] & BYTE_MASK != FREE:
            return slot
    for a in range(root.size):
        for literal in range(literal_start[a], literal_start[a + 1]):
            after = np.int64(shorter[literal])
            if length[literal] < 0 or root[a] < 0:
                return 0
            if after >= 0:
                if not literal_start[a] <= after < literal_start[a + 1] or length[after] >= length[literal]:
                    return root[a]
    return SOUND


@kernel
def unsound_listing(patterns: Patterns, group_of: Ints, leaves_of: Longs) -> int:
    """What is listed under a literal is a leaf of its group, or a question of its automaton that waits.

    leaves_of[g] is how many pattern leaves group g has: no text can be given more than those.
    """
    literal_start, listed_start, listed = patterns.literal_start, patterns.listed_start, patterns.listed
    question_start, question_leaf = patterns.question_start, patterns.question_leaf
    leaves = group_of.size
    for a in range(literal_start.size - 1):
        group = a >> 1
        for i in range(listed_start[PLACES * literal_start[a]], listed_start[PLACES * literal_start[a + 1]]):
            says = np.int64(listed[i])
            if says < 0:
                if not question_start[2 * a + 1] <= ~says < question_start[2 * a + 2]:
                    return i
            elif says >= leaves or group_of[says] != group:
                return i
            else:
                leaves_of[group] -= 1
                if leaves_of[group] < 0:
                    return i
        for question in range(question_start[2 * a], question_start[2 * a + 2]):
            leaf = np.int64(question_leaf[question])
            leaves_of[group] -= 1
            if leaf < 0 or leaf >= leaves or group_of[leaf] != group or leaves_of[group] < 0:
                return listed.size + question
    return SOUND
