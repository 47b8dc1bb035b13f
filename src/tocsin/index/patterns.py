"""Leaves that are asked of each distinct text of a batch: like, ilike, matches."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.grammar.patterns import Regex, compile_regex
from tocsin.index.folding import fold_table
from tocsin.index.packing import starts, text_arrays
from tocsin.kernels.pattern_search import Patterns, search_patterns

_AT_ONCE = 1 << 28
"""Bytes of texts, times what may be asked of each text, for a call of the kernel: Ctrl-C waits for it."""


class PatternGroup:
    """The pattern leaves of one field. Threads may share it.

    `expression` gives the regular expression of a leaf; it is compiled when a text first needs it,
    which with a required literal may be never.
    """

    def __init__(self, patterns: Patterns, group: int, leaves: int, expression: Callable[[int], str]) -> None:
        self._patterns = patterns
        self._group = group
        self._leaves = leaves
        self._expression = expression
        self._regexes: dict[int, Regex] = {}
        literals = int(patterns.literal_start[2 * group + 2] - patterns.literal_start[2 * group])
        questions = int(patterns.question_start[4 * group + 4] - patterns.question_start[4 * group])
        self._stamps = literals + questions + 1
        self._bytes_at_once = max(1, _AT_ONCE // (questions + 1))
        self._idle_stamps: list[NDArray[np.int64]] = []

    def find(self, texts: pa.LargeStringArray) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """found_start and found_leaf: the leaves that each text satisfies, each once."""
        start, data = text_arrays(texts)
        if start[-1] - start[0] <= self._bytes_at_once or len(texts) < 2:
            return self._find(start, data)
        cuts = np.flatnonzero(np.diff(start[:-1] // self._bytes_at_once)) + 1
        bounds = [0, *cuts.tolist(), len(texts)]
        found = [self._find(start[first : end + 1], data) for first, end in pairwise(bounds)]
        sizes = np.concatenate([np.diff(found_start) for found_start, _ in found])
        return starts(sizes, np.int64), np.concatenate([leaf for _, leaf in found])

    def _find(
        self, start: NDArray[np.int64], data: NDArray[np.uint8]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        texts = len(start) - 1
        try:
            stamp = self._idle_stamps.pop()
        except IndexError:
            stamp = np.zeros(self._stamps, np.int64)
        found_start, found_leaf, asked_start, asked = search_patterns(
            self._patterns, *fold_table(), self._group, self._leaves, stamp, start, data
        )
        self._idle_stamps.append(stamp)
        if not len(asked):
            return found_start, found_leaf
        text, leaf = self._matching(start, data, asked_start, asked)
        all_texts = np.concatenate([np.repeat(np.arange(texts), np.diff(found_start)), text])
        all_leaves = np.concatenate([found_leaf, leaf])
        order = np.argsort(all_texts, kind="stable")
        return starts(np.bincount(all_texts, minlength=texts), np.int64), all_leaves[order]

    def _matching(
        self,
        start: NDArray[np.int64],
        data: NDArray[np.uint8],
        asked_start: NDArray[np.int64],
        asked: NDArray[np.int32],
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The texts and leaves of the expressions that match, of those asked."""
        hit_text: list[int] = []
        hit_leaf: list[int] = []
        leaves = self._patterns.question_leaf[asked].tolist()
        for text in np.flatnonzero(np.diff(asked_start)).tolist():
            content = data[start[text] : start[text + 1]].tobytes()
            for leaf in leaves[asked_start[text] : asked_start[text + 1]]:
                if self._regex(leaf).search_utf8(content):
                    hit_text.append(text)
                    hit_leaf.append(leaf)
        return np.array(hit_text, np.int64), np.array(hit_leaf, np.int32)

    def _regex(self, leaf: int) -> Regex:
        regex = self._regexes.get(leaf)
        if regex is None:
            regex = self._regexes[leaf] = compile_regex(self._expression(leaf))
        return regex
