from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text_cases import documents

from tocsin.text import snippet, with_marks, words_of
from tocsin.text.language.highlights import merged, placed_words, stretches

spans = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9)).map(lambda each: (each[0], sum(each))))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Golf, the Open", ["Golf", "the", "Open"]),
        ("Straße, 2020", ["Straße", "2020"]),
        ("a ﬁne e\u0301te\u0301!", ["a", "ﬁne", "e\u0301te\u0301"]),
        ("(日本語) news", ["日", "本", "語", "news"]),
        ("ＡＢＣ-def", ["ＡＢＣ", "def"]),
        ("½ ㎏", ["½", "½", "㎏"]),
        ("㍿x", ["㍿", "㍿", "㍿", "㍿", "x"]),
        ("so ｶﾞｽ!", ["so", "ｶﾞｽ!", "ｶﾞｽ!"]),
        ("ends…here", ["ends", "here"]),
        ("x\u0338🙂\0y", ["x\u0338", "y"]),
    ],
)
def test_words_stand_where_they_were_written(text: str, written: list[str]) -> None:
    placed = placed_words(text)
    assert [text[each.start : each.end] for each in placed] == written
    assert [each.word for each in placed] == words_of(text)


@given(st.one_of(st.text(max_size=80), documents().map(" ".join)))
def test_words_are_those_of_the_text_in_order(text: str) -> None:
    placed = placed_words(text)
    assert [each.word for each in placed] == words_of(text)
    assert all(0 <= each.start < each.end <= len(text) for each in placed)
    starts = [each.start for each in placed]
    assert starts == sorted(starts)


@given(st.one_of(st.text(max_size=80), documents().map(" ".join)))
def test_a_word_is_among_those_of_its_place(text: str) -> None:
    for word, start, end in placed_words(text):
        assert word in words_of(text[start:end])


@given(st.text(max_size=60), spans)
def test_stretches_are_the_text(text: str, marked: list[tuple[int, int]]) -> None:
    within = [(start, min(end, len(text))) for start, end in marked if start < len(text)]
    found = stretches(text, within)
    assert "".join(each.text for each in found) == text
    inside = {place for start, end in within for place in range(start, end)}
    at = 0
    for each in found:
        assert all((at + step in inside) == each.is_marked for step in range(len(each.text)))
        at += len(each.text)


def test_spans_that_touch_are_one() -> None:
    assert merged([(5, 7), (0, 2), (2, 3), (6, 9)]) == [(0, 3), (5, 9)]


def test_marks() -> None:
    text = "David Lee plays golf"
    assert with_marks(stretches(text, [(0, 5), (6, 9), (16, 20)])) == "[David] [Lee] plays [golf]"
    assert with_marks(stretches(text, [(0, 9)]), ("<b>", "</b>")) == "<b>David Lee</b> plays golf"


def test_short_texts_are_shown_whole_on_one_line() -> None:
    assert with_marks(snippet("golf\n\tclub", [(0, 4)], 40)) == "[golf] club"
    assert snippet("", [], 40) == []


def test_long_texts_are_shown_around_what_is_marked() -> None:
    words = [f"word{number}" for number in range(400)]
    text = " ".join(words)
    at = text.index("word200 ")
    shown = with_marks(snippet(text, [(at, at + 7)], 80))
    assert shown == "... word197 word198 word199 [word200] word201 word202 word203 ..."
    assert with_marks(snippet(text, [], 30)) == "word0 word1 word2 word3 word4 ..."


@given(st.text(max_size=300), spans, st.integers(10, 120))
def test_snippets_are_short_and_show_the_first_mark(
    text: str, marked: list[tuple[int, int]], width: int
) -> None:
    within = [(start, min(end, len(text))) for start, end in marked if start < len(text)]
    shown = snippet(text, within, width)
    assert sum(len(each.text) for each in shown) <= 3 * width + 60
    assert any(each.is_marked for each in shown) == bool(within)
