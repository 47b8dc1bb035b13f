"""`like`, `ilike` and `matches` become arrays: literals to look for, and what each of them says.

A `like` pattern with one plain piece is decided by where that stands. Of several pieces the longest is
looked for, and the pattern asked when it is found. See conditions/kernels/pattern_search.py for how.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from tocsin.arrays.packed import packed_bytes, starts
from tocsin.conditions.kernels.automaton import BLOCK, FREE, Automata, build_automata
from tocsin.conditions.kernels.case_folding import PAGE, FoldTable
from tocsin.conditions.kernels.like_match import ANY_ONE, ANY_RUN
from tocsin.conditions.kernels.pattern_search import (
    ANYWHERE,
    BEGINS,
    ENDS_IT,
    EXPRESSION,
    IS_IT,
    PLACES,
    Patterns,
)
from tocsin.conditions.language.like_patterns import Token, Wildcard, fold, like_tokens
from tocsin.conditions.language.required_literals import required_literals
from tocsin.conditions.language.tree import Predicate, Test
from tocsin.errors import UnsupportedError

_CODE = {Wildcard.ONE: ANY_ONE, Wildcard.RUN: ANY_RUN}


class _Sought(NamedTuple):
    """How a leaf is found: in which automaton, under which literals and where they must stand.

    `codes` is the question to ask then, or at once when there is no literal; None: the literal decides.
    """

    automaton: int
    leaf: int
    literals: tuple[bytes, ...]
    place: int
    codes: list[int] | None


def compile_patterns(
    leaves: Sequence[int], groups: Sequence[int], predicates: Sequence[Predicate], group_count: int
) -> Patterns:
    """The pattern leaves of all groups as arrays: leaf i stands in groups[i] and asks predicates[i].

    Predicates are canonical: the patterns of `ilike` are folded.
    """
    sought = [
        _sought(leaf, group, predicate)
        for leaf, group, predicate in zip(leaves, groups, predicates, strict=True)
    ]
    questions = [each for each in sought if each.codes is not None]
    questions.sort(key=lambda each: (each.automaton, bool(each.literals)))
    listings = [
        (each.automaton, literal, each.place, says)
        for each, says in chain(
            ((each, each.leaf) for each in sought if each.codes is None),
            ((each, ~number) for number, each in enumerate(questions)),
        )
        for literal in each.literals
    ]
    listings.sort()
    number_of: dict[tuple[int, bytes], int] = {}
    for automaton, literal, _, _ in listings:
        number_of.setdefault((automaton, literal), len(number_of))
    automata = 2 * group_count
    literal_start = _starts_of((automaton for automaton, _ in number_of), automata)
    try:
        literals = packed_bytes([literal for _, literal in number_of])
        built = build_automata(literal_start, *literals) if number_of else _no_automata(automata)
    except OverflowError as error:
        raise UnsupportedError("the patterns have more text than one index can hold") from error
    rows = (PLACES * number_of[automaton, literal] + place for automaton, literal, place, _ in listings)
    codes = [each.codes or [] for each in questions]
    return Patterns(
        *built,
        literal_start,
        _starts_of(rows, PLACES * len(number_of)).astype(np.int32),
        np.array([says for _, _, _, says in listings], np.int32),
        _starts_of((2 * each.automaton + bool(each.literals) for each in questions), 2 * automata),
        np.array([each.leaf for each in questions], np.int32),
        starts([len(row) for row in codes], np.int64),
        np.array([code for row in codes for code in row], np.int16),
    )


def _no_automata(count: int) -> Automata:
    """What the kernel makes of no literal: so it is not compiled for rules without patterns."""
    return Automata(
        np.full(count, -1, np.int32),
        np.full(BLOCK, FREE, np.int64),
        np.full(BLOCK, -1, np.int32),
        np.empty(0, np.int32),
    )


def _starts_of(owners: Iterable[int], count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Where the things of each of so many owners begin, given the owner of each thing, ascending."""
    return starts(np.bincount(np.fromiter(owners, np.int64), minlength=count), np.int64)


def _sought(leaf: int, group: int, predicate: Predicate) -> _Sought:
    text = str(predicate.operands[0].value)
    if predicate.test is Test.MATCHES:
        return _expression_sought(leaf, group, text)
    return _like_sought(leaf, 2 * group + (predicate.test is Test.ILIKE), text)


def _expression_sought(leaf: int, group: int, expression: str) -> _Sought:
    required = required_literals(expression)
    if required is None:
        return _Sought(2 * group, leaf, (), ANYWHERE, [EXPRESSION])
    literals = tuple(literal.encode() for literal in sorted(required.literals))
    return _Sought(2 * group + required.folded, leaf, literals, ANYWHERE, [EXPRESSION])


def _like_sought(leaf: int, automaton: int, pattern: str) -> _Sought:
    tokens = like_tokens(pattern)
    pieces = [token for token in tokens if isinstance(token, str)]
    if not pieces:
        return _Sought(automaton, leaf, (), ANYWHERE, like_codes(tokens))
    piece = max(pieces, key=lambda piece: len(piece.encode()))
    at = tokens.index(piece)
    begins, ends = at == 0, at == len(tokens) - 1
    place = IS_IT if begins and ends else BEGINS if begins else ENDS_IT if ends else ANYWHERE
    decided = len(pieces) == 1 and Wildcard.ONE not in tokens
    return _Sought(automaton, leaf, (piece.encode(),), place, None if decided else like_codes(tokens))


def like_codes(tokens: Sequence[Token]) -> list[int]:
    """A pattern as conditions/kernels/like_match.py reads it."""
    codes: list[int] = []
    for token in tokens:
        if isinstance(token, Wildcard):
            codes.append(_CODE[token])
        else:
            codes.extend(token.encode())
    return codes


@cache
def fold_table() -> FoldTable:
    """The grammar's folding of every code point; made once in a process, in some hundredths of a second."""
    page = np.zeros((sys.maxunicode + 1) // PAGE, np.int32)
    pages = [np.zeros(PAGE, np.int32)]
    for number in range(len(page)):
        codes = np.arange(number * PAGE, (number + 1) * PAGE, dtype=np.uint32)
        text = codes.tobytes().decode("utf-32-le", "surrogatepass")
        if text.casefold() != text:
            folded = np.frombuffer(fold(text).encode("utf-32-le", "surrogatepass"), np.uint32)
            fold_by = folded.astype(np.int32) - codes.astype(np.int32)
            if fold_by.any():
                page[number] = len(pages)
                pages.append(fold_by)
    return FoldTable(page, np.concatenate(pages))
