"""Leaves that are asked of each distinct text of a batch: like, ilike, matches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.packed import starts
from tocsin.conditions.graph.pattern_arrays import fold_table
from tocsin.conditions.kernels.case_folding import fold_text, room_to_fold
from tocsin.conditions.kernels.like_match import NO, UNDECIDED, YES, begin_segments, like_by_segments
from tocsin.conditions.kernels.pattern_search import Patterns, answer_questions, search_patterns
from tocsin.syntax import Regex, compile_regex

_WORK_AT_ONCE = 1 << 27
"""Bytes read, and words of bits made of them, in a call of a kernel: Ctrl-C waits for it."""


class PatternFinder:
    """The pattern leaves of all groups: texts of many fields are searched by one call. Threads may share it.

    `group_of` has the group of every leaf, and `expression` gives the regular expression of one; that is
    compiled when a text first needs it, which with a required literal may be never.
    """

    def __init__(self, patterns: Patterns, group_of: Ints, expression: Callable[[int], str]) -> None:
        self._patterns = patterns
        self._leaves = np.bincount(group_of, minlength=len(patterns.root) // 2)
        self._expression = expression
        self._regexes: dict[int, Regex] = {}
        self._idle_stamps: list[Longs] = []
        self.groups = frozenset(np.flatnonzero(self._leaves).tolist())

    def find(self, group: Ints, start: Longs, data: Bytes) -> tuple[Longs, Ints]:
        """found_start and found_leaf: the leaves of its group that each text satisfies.

        Text i is data[start[i] : start[i + 1]], and of group[i]; -1 for one that nobody asks.
        """
        found = [self._find(group, start, data)]
        done = len(found[0][0]) - 1
        while done < len(start) - 1:
            found.append(self._find(group[done:], start[done:], data))
            done += len(found[-1][0]) - 1
        if len(found) == 1:
            return found[0]
        sizes = np.concatenate([np.diff(found_start) for found_start, _ in found])
        return starts(sizes, np.int64), np.concatenate([leaf for _, leaf in found])

    def _find(self, group: Ints, start: Longs, data: Bytes) -> tuple[Longs, Ints]:
        """The same of as many of the first texts as take _WORK_AT_ONCE, and of one in any case."""
        try:
            stamp = self._idle_stamps.pop()
        except IndexError:
            stamp = np.zeros(len(self._patterns.shorter) + len(self._patterns.question_leaf) + 1, np.int64)
        found_start, found_leaf, asked_start, asked, is_cut = search_patterns(
            self._patterns, fold_table(), self._leaves, stamp, group, start, data, _WORK_AT_ONCE
        )
        self._idle_stamps.append(stamp)
        if not len(asked):
            return found_start, found_leaf
        texts = len(found_start) - 1
        answer = np.full(len(asked), UNDECIDED, np.int8)
        if is_cut:
            last = data[start[texts - 1] : start[texts]]
            self._answer(int(group[texts - 1]), last, asked, asked_start[-2], answer)
        asked_text = np.repeat(np.arange(texts), np.diff(asked_start))
        self._search(start, data, asked_text, asked, answer)
        leaf = self._patterns.question_leaf[asked[answer == YES]]
        all_texts = np.concatenate(
            [np.repeat(np.arange(texts), np.diff(found_start)), asked_text[answer == YES]]
        )
        all_leaves = np.concatenate([found_leaf, leaf])
        order = np.argsort(all_texts, kind="stable")
        return starts(np.bincount(all_texts, minlength=texts), np.int64), all_leaves[order]

    def _answer(self, group: int, text: Bytes, asked: Ints, first: int, answer: NDArray[np.int8]) -> None:
        """Answer the likes among the questions from the first on, all of one text, a piece at a time."""
        middle = first + np.count_nonzero(asked[first:] < self._patterns.question_start[4 * group + 2])
        self._answer_all(text, asked[first:middle], answer[first:middle])
        if middle < len(asked):
            folded = np.empty(room_to_fold(len(text)), np.uint8)
            size = fold_text(fold_table(), text, folded)
            self._answer_all(folded[:size], asked[middle:], answer[middle:])

    def _answer_all(self, text: Bytes, asked: Ints, answer: NDArray[np.int8]) -> None:
        done = 0
        while done < len(asked):
            before = done
            done = answer_questions(self._patterns, asked, before, text, answer, _WORK_AT_ONCE)
            if done == before:  # it alone is more than is done at once
                answer[done] = self._answer_long(text, int(asked[done]))
                done += 1

    def _answer_long(self, text: Bytes, question: int) -> int:
        first, last = self._patterns.code_start[question : question + 2].tolist()
        segments = begin_segments(text, 0, len(text), self._patterns.code, first, last)
        answer = UNDECIDED
        while answer == UNDECIDED:
            left = np.full(1, _WORK_AT_ONCE, np.int64)
            answer = like_by_segments(text, self._patterns.code, segments, left)
        return answer

    def _search(
        self, start: Longs, data: Bytes, asked_text: Longs, asked: Ints, answer: NDArray[np.int8]
    ) -> None:
        """Answer what is UNDECIDED: the expressions, each of the text it is asked of."""
        leaves = self._patterns.question_leaf[asked].tolist()
        text, content = -1, b""
        for place in np.flatnonzero(answer == UNDECIDED).tolist():
            if asked_text[place] != text:
                text = int(asked_text[place])
                content = data[start[text] : start[text + 1]].tobytes()
            answer[place] = YES if self._regex(leaves[place]).search_utf8(content) else NO

    def _regex(self, leaf: int) -> Regex:
        regex = self._regexes.get(leaf)
        if regex is None:
            regex = self._regexes[leaf] = compile_regex(self._expression(leaf))
        return regex
