"""The compiled `like` against the one of the grammar, which works on characters and not on bytes."""

from __future__ import annotations

import random
from itertools import product

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pools import FOLDED_PATTERNS, LIKE_PATTERNS, STRINGS, UNICODE_STRINGS

from tocsin.events.kinds import Kind
from tocsin.grammar.canonical.predicates import canonical_predicate
from tocsin.grammar.likes import compile_like, like_problem
from tocsin.grammar.tree import Literal, Predicate, Test
from tocsin.index.pattern_arrays import compile_patterns
from tocsin.index.patterns import PatternGroup

TEXTS = sorted({*STRINGS, *UNICODE_STRINGS, "aaaa", "abcabc", "a\\%c", "%%", "__", "ÀÉ", "日本語", "😀😀"})


def hits(patterns: list[str], texts: list[str], test: Test) -> list[list[int]]:
    """For each text the patterns that the kernel finds."""
    predicates = [Predicate(("s",), test, (Literal(Kind.STRING, pattern),)) for pattern in patterns]
    if test is Test.ILIKE:
        predicates = [canonical_predicate(predicate) for predicate in predicates]
    arrays = compile_patterns(range(len(patterns)), [0] * len(patterns), predicates, 1)
    group = PatternGroup(arrays, 0, len(patterns), patterns.__getitem__)
    start, leaf = group.find(pa.array(texts, pa.large_string()))
    return [sorted(leaf[start[number] : start[number + 1]].tolist()) for number in range(len(texts))]


def judged(patterns: list[str], texts: list[str], folded: bool) -> list[list[int]]:
    likes = [compile_like(pattern, folded) for pattern in patterns]
    return [[number for number, like in enumerate(likes) if like.matches(text)] for text in texts]


def test_the_pools() -> None:
    assert hits(LIKE_PATTERNS, TEXTS, Test.LIKE) == judged(LIKE_PATTERNS, TEXTS, folded=False)
    assert hits(FOLDED_PATTERNS, TEXTS, Test.ILIKE) == judged(FOLDED_PATTERNS, TEXTS, folded=True)


def test_every_short_pattern_on_every_short_text() -> None:
    patterns = ["".join(each) for size in range(5) for each in product("a%_é", repeat=size)]
    texts = ["".join(each) for size in range(5) for each in product("aé\n", repeat=size)]
    assert hits(patterns, texts, Test.LIKE) == judged(patterns, texts, folded=False)


@settings(max_examples=100)
@given(
    pattern=st.text(st.sampled_from("aAbß%_\\é😀ſK\u0301"), max_size=12).filter(
        lambda text: not like_problem(text)
    ),
    text=st.text(st.sampled_from("aAbß%_\\é😀ſkK\u0301\x00"), max_size=12),
)
def test_random_patterns(pattern: str, text: str) -> None:
    assert hits([pattern], [text], Test.LIKE) == judged([pattern], [text], folded=False)
    assert hits([pattern], [text], Test.ILIKE) == judged([pattern], [text], folded=True)


def test_a_pattern_that_backtracks() -> None:
    """Worst case is text times pattern, not two to the power of the `%`s."""
    text = "a" * 20_000
    pattern = "%a" * 60 + "%b"
    assert hits([pattern, "%a%" * 30], [text], Test.LIKE) == [[1]]


def test_many_hits_grow_the_room_for_them() -> None:
    rng = random.Random(2)
    patterns = [rng.choice(["%", "a%", "%a%"]) for _ in range(50)]
    texts = ["a" * number for number in range(100)]
    assert hits(patterns, texts, Test.LIKE) == judged(patterns, texts, folded=False)
