"""`like` over bytes, the simple way and segment by segment, against the grammar's own reading."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import tocsin
from tocsin.conditions.graph.pattern_arrays import like_codes
from tocsin.conditions.kernels.like_match import (
    NO,
    UNDECIDED,
    YES,
    begin_segments,
    like_by_segments,
    like_quickly,
)
from tocsin.conditions.language import like_tokens
from tocsin.conditions.language.like_patterns import MOST_SPACED, compile_like, like_problem

TEXTS = st.text("abé😀", max_size=12)


def by_segments(data: NDArray[np.uint8], codes: NDArray[np.int16], work: int) -> bool:
    """The second way's answer, when it may do so much work at once."""
    segments = begin_segments(data, 0, data.size, codes, 0, codes.size)
    answer = UNDECIDED
    while answer == UNDECIDED:
        answer = like_by_segments(data, codes, segments, np.full(1, work, np.int64))
    return answer == YES


@given(st.text("ab_%%é😀", max_size=9), TEXTS, st.integers(1, 9))
def test_both_ways_agree_with_the_grammar(pattern: str, text: str, work: int) -> None:
    codes = np.array(like_codes(like_tokens(pattern)), np.int16)
    data = np.frombuffer(text.encode(), np.uint8)
    wanted = compile_like(pattern, folded=False).matches(text)
    left = np.zeros(1, np.int64)
    answer = like_quickly(data, 0, data.size, codes, 0, codes.size, left)
    assert answer in (UNDECIDED, YES if wanted else NO)
    assert left[0] < 0
    if "%" in pattern:
        assert by_segments(data, codes, work) == wanted
    else:
        assert answer != UNDECIDED


@given(
    st.lists(st.sampled_from(["a", "b", "_", "é"]), max_size=150),
    st.text("aé", max_size=200),
    st.integers(1, 900),
)
def test_segments_longer_than_a_word(middle: list[str], around: str, work: int) -> None:
    pattern = "%a" + "".join(middle) + "a%b"
    codes = np.array(like_codes(like_tokens(pattern)), np.int16)
    like = compile_like(pattern, folded=False)
    for text in (around, f"{around}a{''.join(middle).replace('_', 'é')}a{around}b"):
        data = np.frombuffer(text.encode(), np.uint8)
        assert by_segments(data, codes, work) == like.matches(text)


LONG = 300_000


@pytest.mark.parametrize(
    ("pattern", "last", "wanted"),
    [
        ("%" + "a" * LONG + "b%" + "a" * LONG + "b", "b", False),
        ("%b" + "a" * (LONG // 2) + "%b", "b", False),
        ("%" + "_" * LONG, "b", True),
        ("%" + "_" * LONG + "b%", "b", True),
        ("%" + "_" * LONG + "%a%", "", False),
        ("%" + "a_" * 4999 + "b%", "a", False),
        ("%" + "a_" * 4999 + "b%", "b", True),
        ("%a" + "_a" * (LONG // 4) + "b", "b", True),
        ("a" + "_a" * (LONG // 4) + "b%", "b", False),
    ],
)
def test_long_patterns_over_long_texts_end(pattern: str, last: str, wanted: bool) -> None:
    """Each of them takes longer than anyone waits when it costs the pattern times the text."""
    text = "a" * LONG + last
    condition = f"s like '{pattern}'"
    assert bool(tocsin.build([("r", condition)]).match({"s": text})) is wanted
    assert bool(tocsin.build([("r", condition.replace("like", "ilike"))]).match({"s": text})) is wanted
    assert compile_like(pattern, folded=False).matches(text) is wanted


def test_too_long_a_segment_with_free_characters_is_refused() -> None:
    longest = "%_a" + "_" * (MOST_SPACED - 2) + "a_%"
    assert like_problem(longest) is None
    assert like_problem("%a" + "_" * (MOST_SPACED - 1) + "a") is None
    too_long = "%_a" + "_" * (MOST_SPACED - 1) + "a_%"
    reason = (
        "the pattern has 10,001 characters with _ among them between two %: at most 10,000 can be looked for"
    )
    assert like_problem(too_long) == reason
    for rule in (f"s like '{too_long}'", f"not s ilike '{too_long}'"):
        with pytest.raises(tocsin.RuleError) as caught:
            tocsin.build([("r", rule)])
        assert (caught.value.reason, caught.value.rule) == (reason, "r")
        with pytest.raises(tocsin.RuleError):
            tocsin.build([("r", "true")]).insert("s", rule)
