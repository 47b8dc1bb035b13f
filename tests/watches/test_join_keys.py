"""Marks of values: two values have one in common just when they are equal."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tocsin.conditions.language import Test
from tocsin.conditions.meaning import Truth
from tocsin.rules import Comparison
from tocsin.rules.joins.meaning import comparison_truth
from tocsin.watches.join_keys import KeyField, Words, marks_of

SCALARS = st.one_of(
    st.sampled_from([None, True, False, 0, 1, 1.0, -0.0, "a", "1", 2**70, float(2**70), Decimal("0.5"), 0.5]),
    st.sampled_from(["2026-01-31T12:00:00Z", "2026-01-31T13:00:00+01:00", "2026-01-31T12:00:00.000000001Z"]),
    st.sampled_from([datetime(2026, 1, 31, 12), datetime(2026, 1, 31, 12, tzinfo=UTC), float("inf")]),
    st.integers(),
    st.floats(),
    st.decimals(),
)
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=4), st.just({"a": 1}))


@given(VALUES, VALUES)
def test_a_common_mark_is_equality(left: Any, right: Any) -> None:
    one = marks_of({"x": left}, KeyField(("x",), 0))
    other = marks_of({"x": right}, KeyField(("x",), 1))
    equal = comparison_truth(
        Comparison(("a", "x"), Test.EQ, ("b", "x")), {"a": {"x": left}, "b": {"x": right}}
    )
    assert bool(set(one) & set(other)) == (equal is Truth.TRUE)
    assert len(set(one)) == len(one)


def test_words_are_freed_when_nobody_uses_them() -> None:
    words = Words()
    first = words.use([("number", 1), ("string", "a")])
    assert words.use([("number", 1.0)]) == first[:1]
    assert words.numbers([("string", "a"), ("number", 1)]) == first[::-1]
    words.release(first)
    assert (("number", 1) in words, ("string", "a") in words, len(words)) == (True, False, 1)
    assert words.use([("string", "b")]) == first[1:]
    words.release(first)
    assert len(words) == 0
