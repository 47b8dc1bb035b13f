"""The ids of alerts, which must never change: people remember which they have seen."""

from __future__ import annotations

from hashlib import blake2b

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spark.stream.match_task import alert_ids


def obvious_id(columns: dict[str, str | None]) -> str:
    total = 0
    for name, text in columns.items():
        if text is not None:
            digest = blake2b(text.encode(), digest_size=16, key=name.encode()).digest()
            total ^= int.from_bytes(digest, "big")
    return f"{total:032x}"


TEXTS = st.lists(st.tuples(*[st.none() | st.text(max_size=6)] * 3), max_size=40)


@given(TEXTS)
def test_against_the_obvious(rows: list[tuple[str | None, ...]]) -> None:
    names = ("key", "rule", "table")
    columns = {name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate(names)}
    expected = [obvious_id(dict(zip(names, row, strict=True))) for row in rows]
    found = alert_ids(columns)
    found.validate(full=True)
    assert found.to_pylist() == expected


def test_an_id_is_what_it_was() -> None:
    found = alert_ids({"key": pa.array(["monday.jsonl:0"]), "rule": pa.array(["admin_from_outside"])})
    assert found.to_pylist() == ["4c014b2f24b0cdcaed05d8191cf24936"]


def test_key_and_rule_are_told_apart() -> None:
    found = alert_ids({"key": pa.array(["a", "b"]), "rule": pa.array(["b", "a"])}).to_pylist()
    assert found[0] != found[1]
