"""Leaves that are asked of each distinct text of a batch: like, ilike, matches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.grammar.patterns import Regex, Wildcard, compile_regex, fold, like_tokens
from tocsin.grammar.tree import Predicate, Test
from tocsin.index.packing import packed_bytes, starts, text_arrays
from tocsin.kernels.likes import ANY_ONE, ANY_RUN, like_hits

_CODE = {Wildcard.ONE: ANY_ONE, Wildcard.RUN: ANY_RUN}


class Likes:
    """The `like` patterns of a group, or its `ilike` patterns already folded, as one array of codes."""

    def __init__(self, leaves: Sequence[int], patterns: Sequence[str]) -> None:
        codes = [_pattern_codes(pattern) for pattern in patterns]
        self.leaf = np.array(leaves, np.int32)
        self.start = starts([len(row) for row in codes], np.int64)
        self.code = np.array([code for row in codes for code in row], np.int16)

    def hits(
        self, start: NDArray[np.int64], data: NDArray[np.uint8]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The text and the leaf of every hit."""
        hit_start, hit = like_hits(start, data, self.start, self.code)
        return np.repeat(np.arange(len(start) - 1), np.diff(hit_start)), self.leaf[hit]


class PatternGroup:
    """The pattern leaves of one field."""

    def __init__(self, leaves: Sequence[int], predicates: Sequence[Predicate]) -> None:
        texts = [str(predicate.operands[0].value) for predicate in predicates]
        tests = [predicate.test for predicate in predicates]

        def of(test: Test) -> tuple[list[int], list[str]]:
            chosen = [place for place, its in enumerate(tests) if its is test]
            return [leaves[place] for place in chosen], [texts[place] for place in chosen]

        self._likes = Likes(*of(Test.LIKE))
        self._folded_likes = Likes(*of(Test.ILIKE))
        regex_leaves, expressions = of(Test.MATCHES)
        self._regexes: list[tuple[int, Regex]] = [
            (leaf, compile_regex(expression))
            for leaf, expression in zip(regex_leaves, expressions, strict=True)
        ]

    def find(self, texts: pa.LargeStringArray) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """found_start and found_leaf: the leaves that each text satisfies."""
        start, data = text_arrays(texts)
        parts = [self._likes.hits(start, data)]
        if len(self._folded_likes.leaf):
            folded = packed_bytes([fold(text).encode() for text in texts.to_pylist()])
            parts.append(self._folded_likes.hits(*folded))
        if self._regexes:
            parts.append(self._regex_hits(start, data))
        text = np.concatenate([part[0] for part in parts])
        leaf = np.concatenate([part[1] for part in parts])
        order = np.argsort(text, kind="stable")
        return starts(np.bincount(text, minlength=len(texts)), np.int64), leaf[order]

    def _regex_hits(
        self, start: NDArray[np.int64], data: NDArray[np.uint8]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        whole = data.tobytes()
        hit_text: list[int] = []
        hit_leaf: list[int] = []
        for number, (begin, end) in enumerate(zip(start[:-1].tolist(), start[1:].tolist(), strict=True)):
            text = whole[begin:end]
            for leaf, regex in self._regexes:
                if regex.search_utf8(text):
                    hit_text.append(number)
                    hit_leaf.append(leaf)
        return np.array(hit_text, np.int64), np.array(hit_leaf, np.int32)


def _pattern_codes(pattern: str) -> list[int]:
    codes: list[int] = []
    for token in like_tokens(pattern):
        if isinstance(token, Wildcard):
            codes.append(_CODE[token])
        else:
            codes.extend(token.encode())
    return codes
