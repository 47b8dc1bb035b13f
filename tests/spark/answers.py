"""What a match on Spark gave, and what it should have given, in comparable form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pyspark.sql import DataFrame
from tests.cases import Event

from tocsin.conditions.language import Condition, parse_condition
from tocsin.conditions.meaning import matches

Rows = Counter[tuple[object, ...]]


def rows_of(found: DataFrame) -> Rows:
    """The rows without their score, however often each."""
    assert found.columns[-2:] == ["rule", "score"]
    rows = found.collect()
    assert all(row.score is None for row in rows)
    return Counter(tuple(row)[:-1] for row in rows)


def rows_by_meaning(rules: Sequence[tuple[str, Condition | str]], events: Sequence[Event]) -> Rows:
    """The number of each event with each rule that it satisfies, by the obvious evaluator."""
    read = [(name, parse_condition(when) if isinstance(when, str) else when) for name, when in rules]
    return Counter(
        (number, name) for number, event in enumerate(events) for name, when in read if matches(when, event)
    )
