"""The score of one text for one query, without rules and without an index."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from tocsin.errors import UsageError, telling
from tocsin.printable import described
from tocsin.syntax import error_of
from tocsin.text.language.parser import QueryProblems, parse_query
from tocsin.text.language.query import TextQuery
from tocsin.text.meaning import judge
from tocsin.text.settings import NoDictionary, TextSettings, WordWeights

AnyDictionary = WordWeights | str | os.PathLike[str] | None
"""Word weights (a tocsin.Dictionary, or anything with `idf`), the path of a dictionary, or none."""


@telling("scoring a text")
def score(
    text: str | Sequence[str],
    query: str,
    dictionary: AnyDictionary = None,
    *,
    stop_words: Iterable[str] = (),
) -> float:
    """How well a text fits a query, as `contains` scores it; 0 when the query does not hold.

    A list of strings is one document. Without a dictionary every word counts the same; stop words
    weigh nothing. Raises RuleError for a query that cannot be read, with its column.
    """
    asked = read_query(query)
    return judge(asked, texts_of(text), weights_of(dictionary, stop_words)).score


@telling("scoring a text")
def tm_score(
    text: str | Sequence[str],
    query: str,
    dictionary: AnyDictionary = None,
    *,
    stop_words: Iterable[str] = (),
) -> float:
    """The same as `tm_contains` scores it: between the words of a phrase may stand any number of others."""
    asked = read_query(query, any_gap=True)
    return judge(asked, texts_of(text), weights_of(dictionary, stop_words)).score


def read_query(query: str, *, any_gap: bool = False) -> TextQuery:
    """Read a query; RuleError, or RuleErrors when there are several, with columns within the query."""
    if not isinstance(query, str):
        raise UsageError(f"a query is a string, not {described(query)}")
    try:
        return parse_query(query, any_gap=any_gap)
    except QueryProblems as refused:
        raise error_of(query, refused.problems) from None


def texts_of(text: str | Sequence[str]) -> list[str]:
    """The elements of a document."""
    elements = [text] if isinstance(text, str) else text
    if not isinstance(elements, list | tuple) or not all(isinstance(each, str) for each in elements):
        raise UsageError(f"a text is a string or a list of strings, not {described(text)}")
    return list(elements)


def weights_of(dictionary: AnyDictionary, stop_words: Iterable[str] = ()) -> WordWeights:
    """What words weigh, stop words included."""
    if dictionary is None:
        weights: WordWeights = NoDictionary()
    elif isinstance(dictionary, str | os.PathLike):
        from tocsin.text.dictionary import Dictionary

        weights = Dictionary.open(dictionary)
    else:
        weights = dictionary
    if not callable(getattr(weights, "idf", None)):
        raise UsageError(f"a dictionary has an idf for each word, and {type(weights).__name__} has none")
    return TextSettings(stop_words=frozenset(stop_words), dictionaries={(): weights}).weights(())
