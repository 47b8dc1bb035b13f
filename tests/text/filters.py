"""Text filters over word weights that are written down, and what they must find."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tests.text_cases import Weights

from tocsin import Dictionary
from tocsin.text import DictionaryWords, TextFilter, TextQuery, query_code, words_for_kernels
from tocsin.text.meaning import Document, judge_document


def kernel_words(weights: Sequence[Weights]) -> DictionaryWords:
    """The weights of each text group as kernels take them."""
    words = words_for_kernels([Dictionary().with_idf(each.known) for each in weights])
    return words._replace(unknown=np.array([each.unknown for each in weights]))


def filter_of(
    queries: Sequence[TextQuery],
    thresholds: Sequence[float],
    weights: Weights,
    *,
    selective: bool = True,
) -> TextFilter:
    """All queries indexed, of one text group."""
    words = kernel_words([weights])
    code, terms = query_code(queries, [0] * len(queries), thresholds, words)
    return TextFilter.of(code, terms, words, np.ones(len(queries), np.bool_), selective=selective)


def holds(query: TextQuery, threshold: float, texts: Sequence[str], weights: Weights) -> bool:
    """Whether a query holds in a document with the score that it asks for."""
    verdict = judge_document(query, Document(texts), weights)
    return verdict.holds and not verdict.score < threshold
