"""Words counted in portions, and their sketches: the same as a plain loop finds."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tocsin.events import batch_of_table
from tocsin.history.statistics import WordCounter
from tocsin.history.statistics.sketch_hashes import row_hashes
from tocsin.text import words_of

SIZE = 8
TEXTS = st.text("ab AB,_é\u0301日本\0🙂ßİ", max_size=12)
DOCUMENTS = st.lists(st.one_of(st.none(), st.lists(st.one_of(st.none(), TEXTS), max_size=3)), max_size=30)


def plain(documents: list[list[str | None] | None]) -> dict[str, list[int]]:
    """The hashes of the documents that hold each word."""
    hashes = row_hashes(1, 0, 0, len(documents)).tolist()
    holding: dict[str, list[int]] = defaultdict(list)
    for hashed, document in zip(hashes, documents, strict=True):
        for word in {word for text in document or [] if text is not None for word in words_of(text)}:
            holding[word].append(hashed)
    return {word: sorted(found) for word, found in holding.items()}


def noted(counter: WordCounter, documents: list[list[str | None] | None], first: int) -> None:
    table = pa.table({"f": pa.array(documents, pa.list_(pa.string()))})
    column = batch_of_table(table, [("f",)]).columns.get(("f",))
    if column is not None:
        counter.add(column, row_hashes(1, 0, first, len(documents)))


@given(DOCUMENTS, st.integers(0, 30))
def test_counts_and_sketches(documents: list[list[str | None] | None], cut: int) -> None:
    counter = WordCounter(SIZE)
    noted(counter, documents[:cut], 0)
    noted(counter, documents[cut:], len(documents[:cut]))
    found = {row["word"]: row for row in counter.count().to_pylist()}
    expected = plain(documents)
    assert {word: row["documents"] for word, row in found.items()} == {
        word: len(hashes) for word, hashes in expected.items()
    }
    assert {word: row["sketch"] for word, row in found.items()} == {
        word: hashes[:SIZE] for word, hashes in expected.items()
    }
    assert counter.documents == sum(document is not None for document in documents)


def test_counting_forgets() -> None:
    counter = WordCounter(SIZE)
    noted(counter, [["a b"]], 0)
    assert len(counter.count()) == 2
    assert len(counter.count()) == 0
    noted(counter, [["c"], ["c"]], 1)
    assert counter.count().column("documents").to_pylist() == [2]
    assert counter.documents == 3


def test_more_words_than_there_is_room_for_at_first() -> None:
    counter = WordCounter(SIZE)
    texts: list[list[str | None] | None] = [
        [" ".join(f"{'x' * (n % 40)}{n}" for n in range(first, first + 700))] for first in range(0, 7000, 350)
    ]
    noted(counter, texts, 0)
    expected = plain(texts)
    found = {row["word"]: row["documents"] for row in counter.count().to_pylist()}
    assert found == {word: len(hashes) for word, hashes in expected.items()}


def test_rows_have_hashes_of_their_own() -> None:
    """Rows of other partitions and other runs are other documents."""
    every = np.concatenate(
        [row_hashes(run, part, first, 100) for run in (1, 2) for part in (0, 1, 7) for first in (0, 100)]
    )
    assert len(np.unique(every)) == len(every)
    assert every.min() >= 0
    assert np.array_equal(row_hashes(1, 0, 0, 200)[100:], row_hashes(1, 0, 100, 100))
