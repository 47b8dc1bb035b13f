from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tocsin
from tocsin.events import EventSource, event_source

EVENTS = [{"n": number, "text": f"t{number}"} for number in range(7)]


def sources(folder: Path) -> list[EventSource]:
    (folder / "e.jsonl").write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    (folder / "e.csv").write_text("n,text\n" + "".join(f"{event['n']},{event['text']}\n" for event in EVENTS))
    table = pa.Table.from_pylist(EVENTS)
    pq.write_table(table, folder / "e.parquet", row_group_size=3)
    files = [event_source(folder / f"e.{kind}") for kind in ("jsonl", "csv", "parquet")]
    return [*files, event_source(str(folder / "e.csv")), event_source(table), event_source(iter(EVENTS))]


def test_all_sources_give_the_same_events_again_and_again(tmp_path: Path) -> None:
    for source in sources(tmp_path):
        assert len(source) == 7
        assert source.names() == ["n", "text"]
        for rows in (2, 100, 2):
            portions = list(source.portions([("text",)], rows))
            assert [row for portion in portions for row in portion.rows.tolist()] == list(range(7))
            found = [portion.events.columns[("text",)].strings for portion in portions]
            texts = [text for strings in found if strings for text in strings.texts.to_pylist()]
            assert sorted(texts) == [event["text"] for event in EVENTS]
            assert max(len(portion.rows) for portion in portions) <= rows


def test_records_that_are_no_events_are_counted(tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_text('{"a": 1}\nnonsense\n\n{"b": 2}\n')
    source = event_source(tmp_path / "e.jsonl")
    (portion,) = source.portions([("a",)])
    assert (portion.rows.tolist(), portion.rejects) == ([0, 2], 1)
    assert source.names() == ["a", "b"]


def test_whole_rows_have_the_numbers_of_their_cells(tmp_path: Path) -> None:
    for source in sources(tmp_path):
        assert list(source.rows()) == list(enumerate(EVENTS))
    (tmp_path / "e.jsonl").write_text('{"a": 1}\nnonsense\n\n{"b": 2}\n')
    assert list(event_source(tmp_path / "e.jsonl").rows()) == [(0, {"a": 1}), (2, {"b": 2})]
    beyond = pa.table(
        {"at": pa.array([0, 2**63 - 1], pa.timestamp("s")).cast(pa.timestamp("s")), "n": [1, 2]}
    )
    assert [number for number, _ in event_source(beyond).rows()] == [0, 1]


@pytest.mark.parametrize("events", [5, b"x", {"a": 1}, [1], None])
def test_what_is_no_source(events: object) -> None:
    with pytest.raises(tocsin.UsageError):
        event_source(events)


def test_a_source_is_its_own() -> None:
    source = event_source(EVENTS)
    assert event_source(source) is source
    with pytest.raises(tocsin.InputError):
        event_source("no-such-folder")
