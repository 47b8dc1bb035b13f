"""Scores of whole columns: bit for bit what the slow evaluator says of each row."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin import Dictionary
from tocsin.errors import InputError, UsageError
from tocsin.text import ColumnScores, TextSettings, judge, parse_query

WORDS = ["golf", "Golf", "tennis", "trophy", "day", "日本", "é", "\0", "🙂", "gol"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
ROWS = st.lists(st.one_of(st.none(), st.lists(st.one_of(st.none(), TEXTS), max_size=3)), max_size=10)
QUERIES = st.sampled_from(
    ["golf", "golf, tennis", '"golf tennis"~1 | 日本', "gol* & !day", "golf, (tennis & day), !é", '"a b"~*']
)
DICTIONARIES = st.builds(
    lambda texts, idf: Dictionary.count(texts).with_idf(idf),
    st.lists(TEXTS, max_size=5),
    st.dictionaries(st.sampled_from(["golf", "day"]), st.sampled_from([0.0, 2.5]), max_size=2),
)
STOPS = st.frozensets(st.sampled_from(["golf", "tennis"]), max_size=1)


@given(ROWS, QUERIES, DICTIONARIES, STOPS)
def test_as_the_slow_evaluator(
    rows: list[list[str | None] | None], query: str, dictionary: Dictionary, stops: frozenset[str]
) -> None:
    asked = parse_query(query)
    weights = TextSettings(stop_words=stops, dictionaries={(): dictionary}).weights(())
    expected = [
        None if row is None else judge(asked, [text for text in row if text is not None], weights).score
        for row in rows
    ]
    found = ColumnScores(asked, dictionary, stops).scores(pa.array(rows, pa.list_(pa.string())))
    assert found.to_pylist() == expected
    plain = [row[0] if row else None for row in rows]
    whole = [None if text is None else judge(asked, [text], weights).score for text in plain]
    assert ColumnScores(asked, dictionary, stops).scores(pa.array(plain, pa.string())).to_pylist() == whole


def test_empty_columns_and_nulls() -> None:
    scores = ColumnScores(parse_query("golf"))
    assert scores.scores(pa.array([], pa.string())).to_pylist() == []
    assert scores.scores(pa.array([None, None], pa.string())).to_pylist() == [None, None]
    assert scores.scores(pa.array([[], ["golf"], [None]], pa.list_(pa.string()))).to_pylist() == [
        0.0,
        1.0,
        0.0,
    ]
    assert scores.scores(pa.nulls(2)).to_pylist() == [None, None]


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match="int64"):
        ColumnScores(parse_query("golf")).scores(pa.array([1]))
    with pytest.raises(UsageError, match="stop word"):
        ColumnScores(parse_query("golf"), stop_words=["Two words"])
