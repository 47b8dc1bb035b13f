"""An index that knows its history: the same matches, and scores by the words that were counted."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.history.statistics.corpora import history_of

import tocsin
from tocsin import Index
from tocsin.text import judge, parse_query

WORDS = ["golf", "tennis", "day", "trophy", "a", "the"]
FIELDS = [("body",), ("n",), ("state",)]
RULES = [
    (f"{state} {query}", f"state = '{state}' and contains(body, '{query}') and n < {bound}")
    for state in ("CA", "NY", "ZZ")
    for query in ("golf", "the", "golf & trophy", "golf, tennis, day", "gol* | day", "unheard")
    for bound in (1, 90)
    if bound > 1 or state == "CA"
]


def events(seed: int) -> list[dict[str, object]]:
    chosen = random.Random(seed)
    return [
        {
            "state": chosen.choice(["CA", "NY", "OR"]),
            "n": chosen.randrange(100),
            "body": " ".join(chosen.choices(WORDS, [1, 1, 2, 1, 8, 20], k=6)),
        }
        for _ in range(200)
    ]


def matches(index: Index, table: pa.Table) -> dict[str, list[Any]]:
    found = index.match_table(table)
    assert isinstance(found, pa.Table)
    columns: dict[str, list[Any]] = found.to_pydict()
    return columns


@pytest.mark.parametrize("access", ["auto", "structured", "text"])
def test_choices_change_no_match(access: str, tmp_path: Path) -> None:
    rules = [(f"{place} {name}", when) for place, (name, when) in enumerate(RULES)]
    table = pa.Table.from_pylist(events(2))
    history = history_of(events(1), FIELDS, [("body",)], folder=tmp_path)
    plain = matches(tocsin.build(rules), table)
    found = matches(tocsin.build(rules, history=tmp_path, access=access), table)
    assert len(found["rule"]) > 100
    assert sorted(zip(found["event"], found["rule"], strict=True)) == sorted(
        zip(plain["event"], plain["rule"], strict=True)
    )
    queries = {name: name.split(" ", 2)[2] for name, _ in rules}
    weights = history.dictionary("body")
    bodies = table.column("body").to_pylist()
    for event, rule, score in zip(*found.values(), strict=True):
        assert score == judge(parse_query(queries[rule]), [bodies[event]], weights).score
