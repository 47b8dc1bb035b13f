"""The documents of a batch: each different text of a field once, as kernels cut it into words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.packed import packed_bytes, starts, text_arrays
from tocsin.arrays.spans import gather_spans
from tocsin.events.cells import StringCells
from tocsin.text.character_table import ASCII_ALONE, characters_of
from tocsin.text.kernels.documents import Documents, texts_beyond_ascii
from tocsin.text.tokenizer import normalised


def documents_of(cells: StringCells) -> tuple[Documents, NDArray[np.int32], NDArray[np.int32]]:
    """The documents of a field, the events that have one, ascending, and which one each has.

    Events with one equal text share a document; a list of several texts is a document of its own. Texts
    that stand only in lists are no documents.
    """
    start, data = text_arrays(cells.texts)
    texts = _normalised(start, data)
    first = np.flatnonzero(np.diff(cells.row, prepend=np.int32(-1)))
    row = cells.row[first]
    sizes = np.diff(first, append=len(cells.row))
    if (sizes == 1).all():
        return texts, row, cells.code
    lone = np.unique(cells.code[first[sizes == 1]])
    lists = np.flatnonzero(sizes > 1)
    document = np.empty(len(first), np.int32)
    document[sizes == 1] = np.searchsorted(lone, cells.code[first[sizes == 1]])
    document[lists] = len(lone) + np.arange(len(lists))
    code = np.concatenate((lone, cells.code[np.repeat(sizes > 1, sizes)]))
    element_start, element_data = gather_spans(texts.data, texts.start[code], texts.start[code + 1])
    elements = starts(np.concatenate((np.ones(len(lone), np.int64), sizes[lists])), np.int64)
    return Documents(element_start, element_data, elements, texts.characters), row, document


def documents_of_texts(texts: Sequence[Sequence[str]]) -> Documents:
    """A document for each inner list: the texts of one field."""
    start, data = packed_bytes([text.encode() for text in chain.from_iterable(texts)])
    elements = starts([len(each) for each in texts], np.int64)
    return _normalised(start, data)._replace(elements=elements)


def _normalised(start: NDArray[np.int64], data: NDArray[np.uint8]) -> Documents:
    """Each text a document: ASCII as it came, everything else normalised and put in its place."""
    elements = np.arange(len(start), dtype=np.int64)
    changed = texts_beyond_ascii(start, data)
    if not len(changed):
        return Documents(start, data, elements, ASCII_ALONE)
    normal = [normalised(data[start[i] : start[i + 1]].tobytes().decode()) for i in changed.tolist()]
    pieces: list[bytes] = []
    sizes = np.diff(start)
    before = 0
    whole = data.tobytes()
    for place, text in zip(changed.tolist(), normal, strict=True):
        encoded = text.encode()
        pieces += [whole[before : start[place]], encoded]
        before = start[place + 1]
        sizes[place] = len(encoded)
    pieces.append(whole[before:])
    return Documents(
        starts(sizes, np.int64),
        np.frombuffer(bytearray(b"".join(pieces)), np.uint8),
        elements,
        characters_of("".join(normal)),
    )
