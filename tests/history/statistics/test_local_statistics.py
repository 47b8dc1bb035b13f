"""tocsin.statistics: the same counts as a plain loop over the events (tests/spark: the same as Spark's)."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tocsin
from tocsin.errors import InputError, TocsinError, TocsinWarning, UsageError
from tocsin.events import Kind
from tocsin.history.statistics.local_statistics import merge_words
from tocsin.history.statistics.statistics_folder import WORD_FILES
from tocsin.text import words_of

ROWS = 400


def events(seed: int) -> list[dict[str, Any]]:
    chosen = random.Random(seed)
    words = ["golf", "Golf", "tennis", "日本", "trophy", "a"]
    return [
        {
            "id": number,
            "state": chosen.choice(["CA", "NY", None]),
            "body": None if chosen.random() < 0.1 else " ".join(chosen.choices(words, k=chosen.randrange(5))),
            "tags": chosen.choice([None, [], ["golf day", None, "day"], ["x"]]),
            "user": {"age": number % 7, "bio": "likes golf"} if number % 3 else None,
        }
        for number in range(ROWS)
    ]


def counted(rows: list[dict[str, Any]], field: str) -> tuple[dict[str, int], int]:
    """Documents with each word, and documents."""
    counts: Counter[str] = Counter()
    present = [row[field] for row in rows if row[field] is not None]
    for document in present:
        texts = [document] if isinstance(document, str) else document
        counts.update({word for text in texts if text is not None for word in words_of(text)})
    return dict(counts), len(present)


def words(history: tocsin.History, field: str) -> tuple[dict[str, int], int]:
    dictionary = history.dictionary(field)
    return {word: dictionary.documents_with(word) for word in dictionary}, dictionary.documents


def check(history: tocsin.History, rows: list[dict[str, Any]]) -> None:
    assert history.rows == len(rows)
    for field in ("body", "tags", "state"):
        assert words(history, field) == counted(rows, field)
    states = Counter(row["state"] for row in rows)
    state = history.field("state")
    assert state.present == len(rows) - states.pop(None)
    assert dict(state.kinds[Kind.STRING].most_frequent()) == states
    assert history.field("user.age").kinds[Kind.NUMBER].distinct == 7


def test_counts_as_a_plain_loop_does(tmp_path: Path) -> None:
    rows = events(1)
    (tmp_path / "events").mkdir()
    for part in range(3):
        lines = "\n".join(map(json.dumps, rows[part::3]))
        (tmp_path / "events" / f"{part}.jsonl").write_text(lines)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "events.parquet")
    for place, source in enumerate(
        (rows, pa.Table.from_pylist(rows), tmp_path / "events", tmp_path / "events.parquet")
    ):
        history = tocsin.statistics(source, tmp_path / f"history{place}")
        assert history.text_fields == (("body",), ("state",), ("tags",), ("user", "bio"))
        assert set(history.fields) == {
            *((name,) for name in ("id", "state", "body", "tags", "user")),
            ("user", "age"),
            ("user", "bio"),
        }
        check(history, rows)
        check(tocsin.History.open(tmp_path / f"history{place}"), rows)


def test_merging_counts_both_runs(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    tocsin.statistics(events(1), folder, sketch=32)
    second = tocsin.statistics(events(2), folder, merge=True)
    assert second.version == 2
    check(second, [*events(1), *events(2)])
    golf = second.sketches("body").at(second.dictionary("body").place_of("golf") or 0)
    assert len(set(golf.hashes.tolist())) == 32, "rows of another run are other documents"
    replaced = tocsin.statistics(events(2), folder, text=["user.bio"], fields=["user.bio", "id"])
    assert (replaced.version, replaced.rows, replaced.text_fields) == (3, ROWS, (("user", "bio"),))
    assert sorted(each.name.partition("-")[0] for each in folder.iterdir()) == [
        "fields",
        "statistics.json",
        "words",
    ]


def test_an_index_goes_by_it(tmp_path: Path) -> None:
    history = tocsin.statistics([{"body": "golf day"}, {"body": "day"}, {"body": "day"}], tmp_path / "h")
    index = tocsin.build([("r", "contains(body, 'golf, day')")], history=history)
    scored = index.match({"body": "golf day"})[0].score
    assert scored == tocsin.score("golf day", "golf, day", history.dictionary("body"))


def test_records_that_are_no_events(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text('{"body": "golf"}\nnone\n{"body": 7}\n')
    history = tocsin.statistics(tmp_path / "events.jsonl", tmp_path / "history")
    assert (history.rows, history.rejects) == (2, 1)
    assert words(history, "body") == ({"golf": 1}, 1)


def test_no_events(tmp_path: Path) -> None:
    history = tocsin.statistics([], tmp_path / "history")
    assert (history.rows, history.fields, history.version) == (0, (), 1)


def test_a_part_is_counted_once(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    tocsin.statistics(events(1), folder, part="monday")
    with pytest.warns(TocsinWarning, match="'monday' is in it already"):
        again = tocsin.statistics(events(1), folder, part="monday", merge=True)
    assert (again.rows, again.version, again.parts) == (ROWS, 1, ("monday",))


def test_what_is_refused_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    for options, error, part in (
        ({"text": ["title"]}, UsageError, "no field 'title'"),
        ({"text": "body"}, UsageError, "takes a list"),
        ({"sketch": 7}, UsageError, "a sketch has from 8"),
    ):
        with pytest.raises(error, match=part):
            tocsin.statistics(events(1), folder, **options)
        assert not folder.exists()
    with pytest.raises(InputError, match="no such file"):
        tocsin.statistics(tmp_path / "nowhere", folder)
    tocsin.statistics(events(1), folder, sketch=16)
    before = sorted(each.name for each in folder.iterdir())
    with pytest.raises(UsageError, match="16 hashes: 32 cannot be merged"):
        tocsin.statistics(events(1), folder, sketch=32, merge=True)
    with pytest.raises(TocsinError):
        tocsin.statistics(
            pa.table({"body": pa.array([b"\xff"]).view(pa.binary()).cast(pa.string(), safe=False)}), folder
        )
    assert sorted(each.name for each in folder.iterdir()) == before


made_words = st.lists(
    st.fixed_dictionaries(
        {
            "field": st.integers(0, 2),
            "word": st.sampled_from(["a", "b", "日", ""]),
            "documents": st.integers(1, 1000),
            "sketch": st.lists(st.integers(0, 1 << 62), unique=True, max_size=6).map(sorted),
        }
    ),
    max_size=12,
)


@given(st.lists(made_words, max_size=3), st.integers(1, 8))
def test_equal_words_are_put_together(tables: list[list[dict[str, Any]]], sketch: int) -> None:
    merged = merge_words([pa.Table.from_pylist(rows, WORD_FILES) for rows in tables], sketch)
    expected: dict[tuple[int, str], tuple[int, list[int]]] = {}
    for row in (row for rows in tables for row in rows):
        documents, hashes = expected.get((row["field"], row["word"]), (0, []))
        expected[row["field"], row["word"]] = documents + row["documents"], [*hashes, *row["sketch"]]
    found = {(row["field"], row["word"]): (row["documents"], row["sketch"]) for row in merged.to_pylist()}
    assert len(found) == len(merged)
    assert found == {
        key: (documents, sorted(hashes)[:sketch]) for key, (documents, hashes) in expected.items()
    }
