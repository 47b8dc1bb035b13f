"""The free text of an index, as arrays: made, saved and opened, and weighed otherwise.

leaves of contains ── queries, terms ── trie filter
                                    └── rules: whose scores a match carries, what is asked at the end
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.array_checks import check_paths, typed, typed_array
from tocsin.events.cells import Path
from tocsin.text.dictionary import Dictionary
from tocsin.text.dictionary_words import words_for_kernels
from tocsin.text.kernels.dictionary import DictionaryWords
from tocsin.text.kernels.query_code import QueryCode, Terms
from tocsin.text.kernels.rule_queries import TextRules
from tocsin.text.kernels.terms import fill_idf
from tocsin.text.kernels.trie import Trie
from tocsin.text.text_base import TextBase
from tocsin.text.text_checks import check_text_settings
from tocsin.text.trie_filter import TextFilter

_PARTS: dict[str, Any] = {"rules": TextRules, "queries": QueryCode, "terms": Terms, "trie": Trie}


class CompiledTexts(NamedTuple):
    """Free text in arrays. Q text queries, each a leaf of the index.

    leaf    int32[Q]   the leaf of each query, ascending
    """

    leaf: NDArray[np.int32]
    rules: TextRules
    queries: QueryCode
    terms: Terms
    trie: Trie
    base: TextBase


def compile_texts(
    leaf: NDArray[np.int32],
    base: TextBase,
    queries: QueryCode,
    terms: Terms,
    rules: TextRules,
    indexed: NDArray[np.bool_],
    *,
    selective: bool = True,
) -> CompiledTexts:
    """The arrays of text predicates; those that are not `indexed` are only asked, never found."""
    found = TextFilter.of(queries, terms, base.words, indexed, selective=selective)
    return CompiledTexts(leaf, rules, queries, terms, found.trie, base)


def named_arrays(texts: CompiledTexts) -> Iterator[tuple[str, NDArray[Any]]]:
    """The arrays, each with its name in a saved index."""
    for part, value in {**{part: getattr(texts, part) for part in _PARTS}, "words": texts.base.words}.items():
        for field in value._fields:
            yield f"texts.{part}.{field}", getattr(value, field)
    yield "texts.leaf", texts.leaf


def header_of(texts: CompiledTexts) -> dict[str, Any]:
    """What the header of a saved index says of them."""
    base = texts.base
    return {
        "threshold": base.threshold,
        "stop_words": sorted(base.stop_words),
        "fields": [list(path) for path in base.fields],
    }


def texts_of_arrays(name: str, arrays: dict[str, NDArray[Any]], said: Any) -> CompiledTexts:
    """The free text of the saved index `name`; IndexFileError when header or types are not as they should."""
    said = said if isinstance(said, dict) else {}
    fields = tuple(check_paths(name, "fields of texts", said.get("fields")))
    settings = check_text_settings(name, said.get("threshold"), said.get("stop_words"))
    words = typed(name, "texts.words", DictionaryWords, arrays)
    base = TextBase(settings.threshold, settings.stop_words, fields, words)
    parts = {part: typed(name, f"texts.{part}", kind, arrays) for part, kind in _PARTS.items()}
    return CompiledTexts(leaf=typed_array(name, "texts.leaf", np.dtype(np.int32), arrays), base=base, **parts)


def reweighed(
    texts: CompiledTexts, dictionaries: Mapping[Path, Dictionary], stop_words: Iterable[str]
) -> CompiledTexts:
    """The same with dictionaries that have moved on; a field that is given none has none.

    Nothing is read or shared anew. Terms get their new weights, and the paths of the trie filter are made
    anew only when too many of them are out of order, or when what weighed nothing may now weigh something.
    """
    base = _base_with(texts.base, dictionaries, stop_words)
    terms = texts.terms._replace(idf=texts.terms.idf.copy())
    fill_idf(terms, base.words)
    known = TextFilter.from_arrays(texts.queries, texts.terms, texts.trie, texts.base.words)
    return texts._replace(terms=terms, trie=known.reweighed(terms, base.words).trie, base=base)


def _base_with(
    base: TextBase, dictionaries: Mapping[Path, Dictionary], stop_words: Iterable[str]
) -> TextBase:
    """The same fields, and perhaps more behind them, with these dictionaries and stop words."""
    fields = (*base.fields, *sorted(set(dictionaries) - set(base.fields)))
    stops = TextBase.of({}, stop_words).stop_words
    words = words_for_kernels([dictionaries.get(path, Dictionary()) for path in fields], stops)
    return replace(base, stop_words=stops, fields=fields, words=words)
