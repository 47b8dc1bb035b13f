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

from tocsin.arrays.array_checks import Check, check_paths, typed, typed_array
from tocsin.arrays.dtypes import Flags, Ints
from tocsin.events import Path
from tocsin.text.dictionary import Dictionary
from tocsin.text.kernels.dictionary import DictionaryWords
from tocsin.text.kernels.query_code import QueryCode, Terms
from tocsin.text.kernels.rule_queries import TextRules
from tocsin.text.kernels.terms import fill_idf
from tocsin.text.kernels.trie import Trie
from tocsin.text.settings import TextSettings
from tocsin.text.text_base import TextBase, words_for_kernels
from tocsin.text.text_checks import check_text_settings, check_texts
from tocsin.text.trie_filter import TextFilter

_PARTS: dict[str, Any] = {"rules": TextRules, "queries": QueryCode, "terms": Terms, "trie": Trie}


class CompiledTexts(NamedTuple):
    """Free text in arrays. Q text queries, each a leaf of the index.

    leaf    int32[Q]   the leaf of each query, ascending
    """

    leaf: Ints
    rules: TextRules
    queries: QueryCode
    terms: Terms
    trie: Trie
    base: TextBase

    @staticmethod
    def of(
        leaf: Ints, base: TextBase, queries: QueryCode, terms: Terms, rules: TextRules, indexed: Flags
    ) -> CompiledTexts:
        """The arrays of text predicates; those that are not `indexed` are only asked, never found."""
        found = TextFilter.of(queries, terms, base.words, indexed)
        return CompiledTexts(leaf, rules, queries, terms, found.trie, base)

    # ---- In a saved index

    def named_arrays(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """The arrays, each with its name in a saved index."""
        parts = {part: getattr(self, part) for part in _PARTS} | {"words": self.base.words}
        for part, value in parts.items():
            for field in value._fields:
                yield f"texts.{part}.{field}", getattr(value, field)
        yield "texts.leaf", self.leaf

    def header(self) -> dict[str, Any]:
        """What the header of a saved index says of them."""
        base = self.base
        return {
            "threshold": base.threshold,
            "stop_words": sorted(base.stop_words),
            "fields": [list(path) for path in base.fields],
        }

    @staticmethod
    def of_arrays(name: str, arrays: dict[str, NDArray[Any]], said: Any) -> CompiledTexts:
        """The free text of the saved index `name`; IndexFileError when header or types are wrong."""
        said = said if isinstance(said, dict) else {}
        fields = tuple(check_paths(name, "fields of texts", said.get("fields")))
        settings = check_text_settings(name, said.get("threshold"), said.get("stop_words"))
        words = typed(name, "texts.words", DictionaryWords, arrays)
        base = TextBase(settings.threshold, settings.stop_words, fields, words)
        parts = {part: typed(name, f"texts.{part}", kind, arrays) for part, kind in _PARTS.items()}
        leaf = typed_array(name, "texts.leaf", np.dtype(np.int32), arrays)
        return CompiledTexts(leaf=leaf, base=base, **parts)

    def check(self, check: Check, leaves: int, rules: int) -> None:
        """IndexFileError when they are not sound, of an index of so many leaves and rules."""
        check_texts(check, self, leaves, rules)

    def bytes_of_parts(self) -> dict[str, int]:
        """The memory that they take, by part; nothing when there is no free text."""
        if not len(self.leaf) and not len(self.base.words.group):
            return {}
        parts: dict[str, tuple[NDArray[Any], ...]] = {
            "queries": self.queries,
            "terms": self.terms,
            "trie": self.trie,
            "dictionary": self.base.words,
            "text_rules": self.rules,
        }
        return {name: sum(array.nbytes for array in part) for name, part in parts.items()}

    # ---- Words that weigh otherwise

    def reweighed(self, dictionaries: Mapping[Path, Dictionary], stop_words: Iterable[str]) -> CompiledTexts:
        """The same with dictionaries that have moved on; a field that is given none has none.

        Nothing is read or shared anew. Terms get their new weights, and the paths of the trie filter are
        made anew only when too many of them are out of order, or when what weighed nothing may now weigh
        something.
        """
        fields = (*self.base.fields, *sorted(set(dictionaries) - set(self.base.fields)))
        stops = TextSettings(stop_words=frozenset(stop_words)).stop_words
        words = words_for_kernels([dictionaries.get(path, Dictionary()) for path in fields], stops)
        base = replace(self.base, stop_words=stops, fields=fields, words=words)
        terms = self.terms._replace(idf=self.terms.idf.copy())
        fill_idf(terms, words)
        known = TextFilter(self.queries, self.terms, self.trie, self.base.words)
        return self._replace(terms=terms, trie=known.reweighed(terms, words).trie, base=base)
