"""The documents of a batch: each different text once, normalised where it must be."""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.text_cases import documents as document_texts

from tocsin.events import StringCells
from tocsin.text import Documents, documents_of, documents_of_texts
from tocsin.text.documents import characters_of
from tocsin.text.kernels.tokenizer import IN_WORD, PAGE, SEPARATOR, WORD_ALONE
from tocsin.text.tokenizer import is_word_alone, is_word_character, normalised


def contents(documents: Documents) -> list[list[str]]:
    """The texts of each document as they are kept."""
    data = documents.data.tobytes()
    texts = [
        data[documents.start[element] : documents.start[element + 1]].decode()
        for element in range(len(documents.start) - 1)
    ]
    return [
        texts[documents.elements[document] : documents.elements[document + 1]]
        for document in range(len(documents.elements) - 1)
    ]


def kept(text: str) -> str:
    return text if text.isascii() else normalised(text)


def cells_of(rows: dict[int, list[str]]) -> StringCells:
    different = list(dict.fromkeys(text for texts in rows.values() for text in texts))
    return StringCells(
        np.array([row for row, texts in rows.items() for _ in texts], np.int32),
        np.array([different.index(text) for texts in rows.values() for text in texts], np.int32),
        pa.array(different, pa.large_string()),
    )


TEXTS = st.one_of(st.sampled_from(["", "a", "Golf", "É", "日本", "\0", "ﬁ"]), st.text(max_size=8))


@given(st.dictionaries(st.integers(0, 20), st.lists(TEXTS, min_size=1, max_size=3), max_size=8))
def test_each_event_has_its_texts_as_one_document(rows: dict[int, list[str]]) -> None:
    rows = dict(sorted(rows.items()))
    documents, row, document = documents_of(cells_of(rows))
    found = contents(documents)
    assert row.tolist() == list(rows)
    assert [found[number] for number in document] == [list(map(kept, texts)) for texts in rows.values()]


def test_equal_texts_are_one_document() -> None:
    rows = {0: ["a"], 2: ["É"], 3: ["a"], 5: ["a", "É"], 6: ["É"]}
    documents, row, document = documents_of(cells_of(rows))
    assert row.tolist() == [0, 2, 3, 5, 6]
    assert document.tolist() == [0, 1, 0, 2, 1]
    assert contents(documents) == [["a"], ["é"], ["a", "é"]]


def test_ascii_stays_where_arrow_has_it() -> None:
    texts = pa.array(["Golf", "Tennis"], pa.large_string())
    documents, _, _ = documents_of(
        StringCells(np.arange(2, dtype=np.int32), np.arange(2, dtype=np.int32), texts)
    )
    assert documents.data.tobytes() == b"GolfTennis"
    assert documents.data.ctypes.data == texts.buffers()[2].address
    assert len(documents.characters.page) == 0


@given(st.lists(document_texts(), max_size=5))
def test_documents_of_lists(batch: list[list[str]]) -> None:
    assert contents(documents_of_texts(batch)) == [list(map(kept, texts)) for texts in batch]


def test_every_character_has_its_role() -> None:
    codes = [code for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    page, role = characters_of("".join(map(chr, codes)))
    found = role[page[np.array(codes) // PAGE].astype(np.int64) * PAGE + np.array(codes) % PAGE]
    wanted = [
        SEPARATOR if not is_word_character(chr(code)) else WORD_ALONE if is_word_alone(chr(code)) else IN_WORD
        for code in codes
    ]
    assert found.tolist() == wanted


def test_a_table_that_was_given_away_stays_good() -> None:
    first = characters_of("é")
    role = first.role.copy()
    characters_of("日\U0001f600\U00010400")
    assert (first.role == role).all()
