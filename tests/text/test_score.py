from __future__ import annotations

from pathlib import Path

import pytest
from tests.text_scores import CASES, Case

import tocsin
from tocsin import Dictionary, score, tm_score


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.query} in {'; '.join(case.texts)[:40]!r}")
def test_score_is_the_one_worked_out_by_hand(case: Case) -> None:
    counted = Dictionary.of_counts(case.counts, case.documents).with_idf(case.by_hand)
    asked = tm_score if case.tm else score
    assert asked(case.texts, case.query, counted, stop_words=case.stop_words) == case.score


def test_a_dictionary_may_be_a_file(tmp_path: Path) -> None:
    counted = Dictionary.count(["a golf trophy", "golf", "a day"])
    counted.save(tmp_path / "words.parquet")
    expected = score("golf golf trophy", "golf, trophy", counted)
    assert score("golf golf trophy", "golf, trophy", tmp_path / "words.parquet") == expected
    assert score("golf golf trophy", "golf, trophy", str(tmp_path / "words.parquet")) == expected
    assert score("golf golf trophy", "golf, trophy") != expected


def test_a_bad_query_is_refused_at_its_place() -> None:
    with pytest.raises(tocsin.RuleError) as raised:
        score("text", "golf | !trophy")
    assert raised.value.column == 8
    assert str(raised.value).splitlines()[1:] == ["    golf | !trophy", "           ^"]
    with pytest.raises(tocsin.RuleErrors) as several:
        score("text", "--, *")
    assert [error.column for error in several.value.errors] == [1, 5]


@pytest.mark.parametrize("text", [None, 5, {"a": 1}, ["a", None]])
def test_a_text_is_a_string_or_a_list_of_them(text: object) -> None:
    with pytest.raises(tocsin.UsageError, match="a string or a list of strings"):
        score(text, "golf")  # type: ignore[arg-type]


def test_what_else_makes_no_sense() -> None:
    with pytest.raises(tocsin.UsageError, match="int has none"):
        score("golf", "golf", 5)  # type: ignore[arg-type]
    with pytest.raises(tocsin.UsageError, match="a query is a string"):
        score("golf", None)  # type: ignore[arg-type]
    with pytest.raises(tocsin.UsageError, match="stop word"):
        score("golf", "golf", stop_words=["The"])
    with pytest.raises(tocsin.InputError):
        score("golf", "golf", "no-such-file.parquet")


def test_long_texts_and_long_queries_are_no_trouble() -> None:
    text = "the cat and the dog " * 40_000
    assert score(text, '"the dog", "dog the cat"~*, "cat cat"') == pytest.approx(2**0.5)
    query = " ".join(f"word{number}" for number in range(10_000))
    assert score("word7 word9999 " + text[:1000], query) == pytest.approx(2**0.5)
