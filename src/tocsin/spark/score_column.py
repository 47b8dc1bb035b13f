"""The score of a text column as a Spark column."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column
from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]  # the stubs lack it
from pyspark.sql.types import DoubleType

from tocsin.errors import UsageError

if TYPE_CHECKING:
    from tocsin.text import Dictionary


def score(
    column: Column | str,
    query: str,
    dictionary: Dictionary | str | os.PathLike[str] | None = None,
    *,
    stop_words: Iterable[str] = (),
) -> Column:
    """How well each text of a column fits a query, as `tocsin.score` says: a column of doubles.

    A list of strings is one document; null of a null. The dictionary, or the path of one, is read here
    and goes along with the job, so all rows are scored alike. Raises RuleError for a query that cannot
    be read, before a job starts; of a column that holds no texts, the job fails.
    """
    return _column(column, query, dictionary, stop_words, any_gap=False)


def tm_score(
    column: Column | str,
    query: str,
    dictionary: Dictionary | str | os.PathLike[str] | None = None,
    *,
    stop_words: Iterable[str] = (),
) -> Column:
    """The same as `tm_contains` scores it: between the words of a phrase may stand any number of others."""
    return _column(column, query, dictionary, stop_words, any_gap=True)


def _column(
    column: Column | str,
    query: str,
    dictionary: Dictionary | str | os.PathLike[str] | None,
    stop_words: Iterable[str],
    *,
    any_gap: bool,
) -> Column:
    import pyarrow as pa

    from tocsin.text import Dictionary, TextSettings, read_query

    asked = read_query(query, any_gap=any_gap)
    if isinstance(dictionary, str | os.PathLike):
        dictionary = Dictionary.open(dictionary)
    if dictionary is not None and not isinstance(dictionary, Dictionary):
        raise UsageError(f"a tocsin.Dictionary or the path of one, not {type(dictionary).__name__}")
    settings = TextSettings(stop_words=frozenset(stop_words))

    def score_in_worker(texts: Iterator[Any]) -> Iterator[Any]:
        from tocsin.text import ColumnScores

        scores = ColumnScores(asked, dictionary, settings.stop_words)
        for portion in texts:
            yield scores.scores(portion)

    # Spark reads from these what kind of function it is.
    score_in_worker.__annotations__ = {"texts": Iterator[pa.Array], "return": Iterator[pa.Array]}
    scored: Column = arrow_udf(score_in_worker, DoubleType())(column)
    return scored
