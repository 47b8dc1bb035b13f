"""The leaves of a group's patterns that texts satisfy, found in one pass over each text.

Every `like` pattern with plain text in it is listed under one literal, its longest plain piece, and a
regular expression under literals of which any text it matches has one. How a literal must stand in
the text is part of the listing:

    ANYWHERE   '%x%'        BEGINS   'x%'        ENDS_IT   '%x'        IS_IT   'x'

For such a pattern a literal so found decides. Any other pattern is a question, asked only when its
literal was found: `like` here, of the whole text, an expression by the caller. A question without a
literal ('_%', '[0-9]+') is asked of every text.

The automaton meets a literal as often as it stands in the text, but what is listed ANYWHERE is looked
at the first time only: each literal is stamped with the text it was last found in, and so are then
those that end where it ends. BEGINS is decided while the automaton has not fallen yet, ENDS_IT in its
last state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.jit import kernel
from tocsin.conditions.kernels.automaton import BASE_SHIFT, BYTE_MASK, ENDS, FALL_SHIFT, OWN, SLOT_MASK
from tocsin.conditions.kernels.case_folding import FoldTable, fold_text, room_to_fold
from tocsin.conditions.kernels.like_match import (
    UNDECIDED,
    YES,
    begin_segments,
    like_by_segments,
    like_quickly,
)

ANYWHERE = 0
BEGINS = 1
ENDS_IT = 2
IS_IT = 3
PLACES = 4

_BASE_SHIFT = np.uint64(BASE_SHIFT)
_FALL_SHIFT = np.uint64(FALL_SHIFT)
_SLOT_MASK = np.uint64(SLOT_MASK)
_BYTE_MASK = np.uint64(BYTE_MASK)
_ENDS = np.uint64(ENDS)
_OWN = np.uint64(OWN)

EXPRESSION = 258
"""The only code of a question that is a regular expression, beside those of like_match.py."""


class Patterns(NamedTuple):
    """The patterns of all groups; part of the saved index.

    Group g has two automata (automaton.py): 2g for its texts as they are, 2g + 1 for its texts
    folded. A automata, N literals and Q questions, both ordered by automaton.

    root             int32[A]
    word             int64[S]
    ending           int32[S]
    shorter          int32[N]
    literal_start    int64[A+1]    literals of automaton a
    listed_start     int32[4N+1]   what is listed under literal n to stand in place p:
    listed           int32[...]        listed[listed_start[4n + p] : listed_start[4n + p + 1]]; a leaf
                                       that is then true, or ~q for question q
    question_start   int64[2A+1]   questions of automaton a that are asked of every text:
                                       question_start[2a] ... question_start[2a + 1],
                                   and those that wait for a literal:
                                       question_start[2a + 1] ... question_start[2a + 2]
    question_leaf    int32[Q]      the leaf that is true if the answer is yes
    code_start       int64[Q+1]    its pattern, as conditions/kernels/like_match.py has it:
    code             int16[...]        code[code_start[q] : code_start[q + 1]]
    """

    root: Ints
    word: Longs
    ending: Ints
    shorter: Ints
    literal_start: Longs
    listed_start: Ints
    listed: Ints
    question_start: Longs
    question_leaf: Ints
    code_start: Longs
    code: NDArray[np.int16]


class _Answers(NamedTuple):
    """What is found for the texts of a batch, and how far it is filled.

    stamp      int64[...]   the text in which a literal, then a question, was last met
    leaf       int32[...]   leaves that are true, text by text
    asked      int32[...]   questions: of earlier texts those left to the caller, of this one all
    size       int64[2]     how many leaves and questions
    """

    stamp: Longs
    leaf: Ints
    asked: Ints
    size: Longs


@kernel
def _look_at_listed(
    listed_start: Ints, listed: Ints, row: int, questions_at: int, clock: int, answers: _Answers
) -> None:
    """What is listed in a row of listed_start is true, or to be asked; questions once in a text."""
    for i in range(listed_start[row], listed_start[row + 1]):
        if listed[i] >= 0:
            answers.leaf[answers.size[0]] = listed[i]
            answers.size[0] += 1
        else:
            question = ~listed[i]
            if answers.stamp[questions_at + question] != clock:
                answers.stamp[questions_at + question] = clock
                answers.asked[answers.size[1]] = question
                answers.size[1] += 1


@kernel
def _run_automaton(patterns: Patterns, automaton: int, clock: int, text: Bytes, answers: _Answers) -> None:
    """Add what an automaton finds in a text to the leaves and questions."""
    root = np.uint64(patterns.root[automaton])
    word = patterns.word.view(np.uint64)  # an index without sign is used as it is, without a check
    ending = patterns.ending
    shorter = patterns.shorter
    listed_start = patterns.listed_start
    listed = patterns.listed
    stamp = answers.stamp
    questions_at = patterns.shorter.size

    here = word[root]
    for at in range(text.size):
        byte = np.uint64(text[at])
        slot = (here >> _BASE_SHIFT) ^ byte
        here = word[slot]
        if here & _BYTE_MASK != byte:
            break
        if here & _OWN:
            row = PLACES * np.int64(ending[slot])
            _look_at_listed(listed_start, listed, row + BEGINS, questions_at, clock, answers)
            if at + 1 == text.size:
                _look_at_listed(listed_start, listed, row + IS_IT, questions_at, clock, answers)

    state = root
    here = word[root]
    for at in range(text.size):
        byte = np.uint64(text[at])
        while True:
            slot = (here >> _BASE_SHIFT) ^ byte
            there = word[slot]
            if there & _BYTE_MASK == byte:
                state = slot
                here = there
                break
            if state == root:
                break
            state = (here >> _FALL_SHIFT) & _SLOT_MASK
            here = word[state]
        if here & _ENDS:
            literal = np.int64(ending[state])
            while literal >= 0 and stamp[literal] != clock:
                stamp[literal] = clock
                row = PLACES * literal + ANYWHERE
                _look_at_listed(listed_start, listed, row, questions_at, clock, answers)
                literal = np.int64(shorter[literal])
    if here & _ENDS:
        literal = np.int64(ending[state])
        while literal >= 0:
            row = PLACES * literal + ENDS_IT
            _look_at_listed(listed_start, listed, row, questions_at, clock, answers)
            literal = np.int64(shorter[literal])


@kernel
def _answer(patterns: Patterns, question: int, text: Bytes, left: Longs) -> int:
    """Whether a text is like the pattern of a question; UNDECIDED if that takes more work than is left.

    Expressions are UNDECIDED too.
    """
    first = patterns.code_start[question]
    last = patterns.code_start[question + 1]
    if left[0] <= 0 or (last > first and patterns.code[first] == EXPRESSION):
        return UNDECIDED
    answer = like_quickly(text, 0, text.size, patterns.code, first, last, left)
    if answer == UNDECIDED and left[0] > 0:
        segments = begin_segments(text, 0, text.size, patterns.code, first, last)
        answer = like_by_segments(text, patterns.code, segments, left)
    return answer


@kernel
def _ask(patterns: Patterns, first: int, text: Bytes, answers: _Answers, left: Longs) -> None:
    """Answer the questions from the first on; those that are expressions, or too much work, stay."""
    last = answers.size[1]
    answers.size[1] = first
    for i in range(first, last):
        question = answers.asked[i]
        answer = _answer(patterns, question, text, left)
        if answer == UNDECIDED:
            answers.asked[answers.size[1]] = question
            answers.size[1] += 1
        elif answer == YES:
            answers.leaf[answers.size[0]] = patterns.question_leaf[question]
            answers.size[0] += 1


@kernel
def answer_questions(
    patterns: Patterns, asked: Ints, first: int, text: Bytes, answer: NDArray[np.int8], work: int
) -> int:
    """Answer questions of one text from the first on, until so much work is done; the first that is open.

    The answers of expressions stay as they are.
    """
    left = np.full(1, work, np.int64)
    for i in range(first, asked.size):
        start = patterns.code_start[asked[i]]
        if patterns.code_start[asked[i] + 1] > start and patterns.code[start] == EXPRESSION:
            continue
        answer[i] = _answer(patterns, asked[i], text, left)
        if answer[i] == UNDECIDED:
            return i
    return asked.size


@kernel
def _with_room(array: Ints, used: int, more: int) -> Ints:
    """The array, or a larger copy when it has no room for so many more."""
    if array.size - used >= more:
        return array
    grown = np.empty(2 * array.size + more, array.dtype)
    for i in range(used):
        grown[i] = array[i]
    return grown


@kernel
def search_patterns(
    patterns: Patterns,
    table: FoldTable,
    leaves: Longs,
    stamp: Longs,
    group: Ints,
    offset: Longs,
    data: Bytes,
    work: int,
) -> tuple[Longs, Ints, Longs, Ints, bool]:
    """found_start, found_leaf; asked_start, asked: rows of leaves and of open questions, by text.

    Text i is data[offset[i] : offset[i + 1]], and asked by the patterns of group[i]; -1: by none. It ends
    with the text at which so much work is done: the rows are of the texts so far. Then, says the last of
    what it returns, the open questions of that text may be any; those of other texts are expressions. Group
    g has leaves[g] leaves. stamp is scratch: one number for each literal, one for each question, and one
    that counts texts; zero at first, then left as it was.
    """
    texts = offset.size - 1
    longest = 0
    for text in range(texts):
        if group[text] >= 0:
            longest = max(longest, offset[text + 1] - offset[text])
    folded = np.empty(room_to_fold(longest), np.uint8)
    found_start = np.zeros(texts + 1, np.int64)
    asked_start = np.zeros(texts + 1, np.int64)
    answers = _Answers(stamp, np.empty(0, np.int32), np.empty(0, np.int32), np.zeros(2, np.int64))
    left = np.full(1, work, np.int64)
    done = 0
    while done < texts and left[0] > 0:
        text = done
        done += 1
        if group[text] < 0:
            found_start[done] = answers.size[0]
            asked_start[done] = answers.size[1]
            continue
        before = answers.size[0]
        first_automaton = 2 * np.int64(group[text])
        questions = (
            patterns.question_start[2 * first_automaton + 4] - patterns.question_start[2 * first_automaton]
        )
        answers = _Answers(
            stamp,
            _with_room(answers.leaf, answers.size[0], leaves[group[text]]),
            _with_room(answers.asked, answers.size[1], questions),
            answers.size,
        )
        stamp[-1] += 1
        for automaton in range(first_automaton, first_automaton + 2):
            always = patterns.question_start[2 * automaton]
            always_end = patterns.question_start[2 * automaton + 1]
            if always == always_end and patterns.root[automaton] < 0:
                continue
            content = data[offset[text] : offset[text + 1]]
            if automaton & 1:
                content = folded[: fold_text(table, content, folded)]
            left[0] -= content.size
            asked = answers.size[1]
            for question in range(always, always_end):
                answers.asked[answers.size[1]] = question
                answers.size[1] += 1
            if patterns.root[automaton] >= 0:
                _run_automaton(patterns, automaton, stamp[-1], content, answers)
            _ask(patterns, asked, content, answers, left)
        left[0] -= answers.size[0] - before
        found_start[done] = answers.size[0]
        asked_start[done] = answers.size[1]
    return (
        found_start[: done + 1],
        answers.leaf[: answers.size[0]].copy(),
        asked_start[: done + 1],
        answers.asked[: answers.size[1]].copy(),
        left[0] <= 0,
    )
