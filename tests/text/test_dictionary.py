"""Dictionaries: what they count, what a word weighs, and files that are refused."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin import Dictionary
from tocsin.arrays.text_table import find_text
from tocsin.errors import InputError, UsageError
from tocsin.text import DictionaryWords, words_for_kernels, words_of

ALPHABET = "ab AB,_é\u0301日本\0🙂ß"
TEXTS = st.text(ALPHABET, max_size=12)
DOCUMENTS = st.lists(st.one_of(st.none(), TEXTS, st.lists(TEXTS, max_size=3)), max_size=8)
IDFS = st.one_of(st.just(0.0), st.floats(1e-100, 1e100))
GIVEN = st.dictionaries(st.sampled_from(["a", "b", "ab", "日", "zz"]), IDFS, max_size=3)
DICTIONARIES = st.builds(lambda texts, idfs: Dictionary.count(texts).with_idf(idfs), DOCUMENTS, GIVEN)


def test_hand_checked() -> None:
    counted = Dictionary.count(["a golf trophy", "Golf, golf", "", ["a", "a day"]])
    assert counted.documents == 4
    assert list(counted) == ["a", "day", "golf", "trophy"]
    assert [counted.documents_with(word) for word in counted] == [2, 1, 2, 1]
    assert counted.idf("golf") == math.log(4 / 2)
    assert counted.idf("trophy") == math.log(4 / 1)
    assert counted.idf("tennis") == math.log(4 + 1)
    assert counted.documents_with("tennis") == 0


def test_word_in_every_document_says_nothing() -> None:
    assert Dictionary.count(["a b", "a", "a"]).idf("a") == 0.0


def test_without_documents_every_word_weighs_one() -> None:
    assert Dictionary().idf("golf") == 1.0
    assert Dictionary.count([None]).idf("golf") == 1.0
    given_one = Dictionary().with_idf({"golf": 3})
    assert (given_one.idf("golf"), given_one.idf("tennis")) == (3.0, 1.0)


def test_missing_is_no_document_and_empty_is_one() -> None:
    assert Dictionary.count([None, "", [], "a"]).documents == 3


def test_idf_given_by_hand_wins() -> None:
    counted = Dictionary.count(["a b", "a"])
    given_some = counted.with_idf({"a": 9.0, "new": 0})
    assert (given_some.idf("a"), given_some.idf("b"), given_some.idf("new")) == (9.0, math.log(2), 0.0)
    assert "new" in given_some
    assert given_some.documents_with("new") == 0
    assert counted.idf("a") == 0.0, "the dictionary that it was made of stays as it was"


@pytest.mark.parametrize("idf", [-1.0, 1e-101, 1e101, math.inf, math.nan])
def test_idf_out_of_bounds_is_refused(idf: float) -> None:
    with pytest.raises(UsageError, match="idf of 'a'"):
        Dictionary().with_idf({"a": idf})


@pytest.mark.parametrize("word", ["Golf", "two words", "", "日本", "-", "\ud800"])
def test_what_is_no_word_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="not one word"):
        Dictionary().with_idf({word: 1.0})


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(UsageError, match="3 of 2 documents"):
        Dictionary.of_counts({"a": 3}, 2)


def test_version_grows_with_every_change() -> None:
    first = Dictionary.count(["a"])
    second = first.merge(Dictionary.count(["b"]))
    third = second.with_idf({"a": 1.0})
    assert (first.version, second.version, third.version) == (1, 2, 3)
    assert first.merge(third).version == 4


@given(DOCUMENTS)
def test_counts_as_a_plain_loop_does(documents: list[str | list[str] | None]) -> None:
    plain: Counter[str] = Counter()
    present = [document for document in documents if document is not None]
    for document in present:
        texts = [document] if isinstance(document, str) else document
        plain.update({word for text in texts for word in words_of(text)})
    counted = Dictionary.count(documents)
    assert {word: counted.documents_with(word) for word in counted} == dict(plain)
    for word, count in plain.items():
        assert counted.idf(word) == math.log(len(present) / count)


@given(DICTIONARIES, DICTIONARIES, DICTIONARIES)
def test_merging_is_associative(one: Dictionary, two: Dictionary, three: Dictionary) -> None:
    assert one.merge(two).merge(three) == one.merge(two.merge(three))


@given(DOCUMENTS, DOCUMENTS)
def test_merging_counts_both(one: list[str | list[str] | None], two: list[str | list[str] | None]) -> None:
    assert Dictionary.count(one).merge(Dictionary.count(two)) == Dictionary.count([*one, *two])


@given(st.lists(st.sampled_from([f"w{n}" for n in range(300)]), max_size=6), GIVEN)
def test_few_words_merged_into_many(few: list[str], idfs: dict[str, float]) -> None:
    many = [" ".join(f"w{n}" for n in range(0, 300, 2)), "b", "zz"]
    small = Dictionary.count(few).with_idf(idfs)
    merged = Dictionary.count(many).merge(small)
    assert merged == Dictionary.count([*many, *few]).with_idf(idfs)
    assert merged == small.merge(Dictionary.count(many))
    assert list(merged) == sorted({*Dictionary.count(many), *small}, key=str.encode)
    assert [merged.idf(word) for word in merged] == merged.idfs.tolist()


@given(DICTIONARIES, st.sampled_from(["", "a", "ab", "é", "日", "zzz", "b_"]), st.integers(0, 4))
def test_words_of_a_prefix(dictionary: Dictionary, prefix: str, length: int) -> None:
    found = [word for word in dictionary if word.startswith(prefix)]
    assert list(dictionary.starting_with(prefix)) == found
    assert list(dictionary.starting_with(prefix, length)) == [word for word in found if len(word) == length]


def found_idf(words: DictionaryWords, group: int, word: str) -> float:
    data = np.frombuffer(bytearray(word.encode()), np.uint8)
    place = find_text(words.table, words.group, words.start, words.data, group, data, 0, len(data))
    return float(words.unknown[group] if place < 0 else words.idf[place])


@given(st.lists(DICTIONARIES, max_size=3), st.frozensets(st.sampled_from(["a", "zz", "y"]), max_size=2))
def test_kernels_see_the_same_idfs(dictionaries: list[Dictionary], stop_words: frozenset[str]) -> None:
    words = words_for_kernels(dictionaries, stop_words)
    for group, dictionary in enumerate(dictionaries):
        for word in {*dictionary, "a", "b", "zz", "y", "nowhere"}:
            expected = 0.0 if word in stop_words else dictionary.idf(word)
            assert found_idf(words, group, word) == expected


@given(DICTIONARIES)
def test_opens_what_it_saved(tmp_path_factory: pytest.TempPathFactory, dictionary: Dictionary) -> None:
    path = tmp_path_factory.getbasetemp() / "words.parquet"
    dictionary.save(path)
    opened = Dictionary.open(path)
    assert opened == dictionary
    assert opened.version == dictionary.version
    assert list(path.parent.glob(".words*")) == []


def test_damaged_file_is_refused_or_says_the_same(tmp_path: Path) -> None:
    path = tmp_path / "words.parquet"
    saved = Dictionary.of_counts({f"word{number}": 1 + number % 5 for number in range(1000)}, 5)
    saved.save(path)
    whole = path.read_bytes()
    refused = 0
    for place in range(0, len(whole), 23):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x11]) + whole[place + 1 :])
        try:
            opened = Dictionary.open(path)
        except InputError:
            refused += 1
        else:
            assert (opened, opened.version) == (saved, saved.version)
    assert refused > len(whole) // 46
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="cannot be read as a dictionary"):
        Dictionary.open(path)


def written(path: Path, about: object, **columns: pa.Array) -> Path:
    table = pa.table(columns).replace_schema_metadata({"tocsin.dictionary": json.dumps(about)})
    pq.write_table(table, path)
    return path


ABOUT = {"format": 1, "documents": 2, "version": 1, "checksum": ""}
WORDS = pa.array(["a", "b"], pa.large_string())
COUNTS = pa.array([1, 2], pa.int64())
NONE_GIVEN = pa.array([None, None], pa.float64())


@pytest.mark.parametrize(
    ("about", "columns", "reason"),
    [
        (ABOUT | {"format": 2}, (WORDS, COUNTS, NONE_GIVEN), "format 2"),
        ([1], (WORDS, COUNTS, NONE_GIVEN), "metadata"),
        (ABOUT | {"documents": -1}, (WORDS, COUNTS, NONE_GIVEN), "metadata"),
        (ABOUT | {"documents": 1}, (WORDS, COUNTS, NONE_GIVEN), "more documents than there are"),
        (ABOUT, (WORDS[::-1], COUNTS, NONE_GIVEN), "not in order"),
        (ABOUT, (WORDS.take([0, 0]), COUNTS, NONE_GIVEN), "not in order"),
        (ABOUT, (WORDS, COUNTS.cast(pa.int32()), NONE_GIVEN), "other types"),
        (ABOUT, (WORDS.take(pa.array([0, None])), COUNTS, NONE_GIVEN), "null"),
        (ABOUT, (WORDS, COUNTS, pa.array([None, -1.0])), "out of bounds"),
        (ABOUT, (WORDS, COUNTS, NONE_GIVEN), "checksum"),
    ],
)
def test_content_that_no_dictionary_has_is_refused(
    tmp_path: Path, about: object, columns: tuple[pa.Array, ...], reason: str
) -> None:
    word, documents, given_idf = columns
    path = written(tmp_path / "w.parquet", about, word=word, documents=documents, given=given_idf)
    with pytest.raises(InputError, match=reason):
        Dictionary.open(path)


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"word": ["a"]}), tmp_path / "other.parquet")
    with pytest.raises(InputError, match="is not a tocsin dictionary"):
        Dictionary.open(tmp_path / "other.parquet")
    (tmp_path / "text").write_text("a,b")
    with pytest.raises(InputError, match="cannot be read"):
        Dictionary.open(tmp_path / "text")
    with pytest.raises(InputError, match="cannot be read"):
        Dictionary.open(tmp_path / "nowhere")
    with pytest.raises(InputError, match="cannot be written"):
        Dictionary().save(tmp_path / "no" / "such" / "folder")


def test_prefixes_are_read_as_those_of_queries_are() -> None:
    dictionary = Dictionary.count(["golf club", "golden gate"])
    assert list(dictionary.starting_with("GOL")) == ["golden", "golf"]
    with pytest.raises(UsageError, match="a prefix must be a text, not int"):
        dictionary.starting_with(3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="length: expected a number of characters, found -1"):
        dictionary.starting_with("g", -1)
