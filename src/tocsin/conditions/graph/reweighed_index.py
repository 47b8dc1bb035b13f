"""An index whose words weigh otherwise: the same rules with dictionaries that have moved on.

Nothing is read or shared anew. Terms get their new weights, and the paths of the trie filter are made anew
only when too many of them are out of order, or when what weighed nothing may now weigh something.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tocsin.conditions.graph.compiled_index import CompiledIndex
from tocsin.conditions.language.tree import Path
from tocsin.text.dictionary import Dictionary
from tocsin.text.dictionary_words import words_for_kernels
from tocsin.text.kernels.terms import fill_idf
from tocsin.text.text_base import TextBase
from tocsin.text.trie_filter import TextFilter


def base_with(base: TextBase, dictionaries: Mapping[Path, Dictionary], stop_words: Iterable[str]) -> TextBase:
    """The same fields, and perhaps more behind them, with these dictionaries and stop words."""
    fields = (*base.fields, *sorted(set(dictionaries) - set(base.fields)))
    stops = TextBase.of({}, stop_words).stop_words
    words = words_for_kernels([dictionaries.get(path, Dictionary()) for path in fields], stops)
    return replace(base, stop_words=stops, fields=fields, words=words)


def reweighed(
    index: CompiledIndex, dictionaries: Mapping[Path, Dictionary], stop_words: Iterable[str]
) -> CompiledIndex:
    """The index with other dictionaries; a field that is given none has none."""
    texts = index.texts
    base = base_with(texts.base, dictionaries, stop_words)
    terms = texts.terms._replace(idf=texts.terms.idf.copy())
    fill_idf(terms, base.words)
    known = TextFilter.from_arrays(texts.queries, texts.terms, texts.trie, texts.base.words)
    trie = known.reweighed(terms, base.words).trie
    return index._replace(texts=texts._replace(terms=terms, trie=trie, base=base))
