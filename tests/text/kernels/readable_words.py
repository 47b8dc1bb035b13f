"""What a kernel found in a document, as Python objects."""

from __future__ import annotations

from typing import NamedTuple

from tocsin.arrays.jit import kernel
from tocsin.text.kernels.document_words import (
    COUNT,
    FIRST,
    PRESENT,
    SEEN,
    STAMP,
    WORDS,
    DocumentWords,
    read_document,
)
from tocsin.text.kernels.documents import Documents
from tocsin.text.kernels.query_code import Terms


@kernel
def read(documents: Documents, document: int, terms: Terms, group: int, words: DocumentWords) -> None:
    """The part of other kernels that reads a document, on its own."""
    read_document(documents, document, terms, group, words)


class Found(NamedTuple):
    """The words of a document with their places (element, place), and those of each term in it."""

    words: list[tuple[str, tuple[int, int]]]
    terms: dict[int, list[tuple[int, int]]]


def found_in(words: DocumentWords) -> Found:
    """All that was found in the document that was read last; the counts of terms are checked."""
    data = words.folded_bytes.tobytes()
    texts = [
        data[words.word_start[word] : words.word_end[word]].decode() for word in range(words.state[WORDS])
    ]
    places = [divmod(int(place), 1 << 32) for place in words.word_place[: words.state[WORDS]]]
    terms: dict[int, list[tuple[int, int]]] = {}
    for term in words.present[: words.state[PRESENT]].tolist():
        assert term not in terms
        row = words.seen[SEEN * term : SEEN * term + SEEN]
        assert row[0] == words.state[STAMP]
        terms[term] = []
        at = int(row[FIRST])
        while at >= 0:
            terms[term].append(places[words.occurrence_word[at]])
            at = int(words.occurrence_next[at])
        assert len(terms[term]) == row[COUNT]
    return Found(list(zip(texts, places, strict=True)), terms)


def term_texts(terms: Terms) -> list[tuple[int, str, bool]]:
    """Group, text and kind of each term."""
    data = terms.data.tobytes()
    return [
        (int(terms.group[t]), data[terms.start[t] : terms.start[t + 1]].decode(), bool(terms.is_prefix[t]))
        for t in range(len(terms.group))
    ]
