"""What a stream writes down: whole or not at all, by one process at a time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tocsin.errors import InputError, UsageError
from tocsin.spark.stream import checkpoint as module
from tocsin.spark.stream.checkpoint import BatchRecord, Checkpoint, read_json, write_json

IDENTITY = {"source": {"kind": "folder"}, "key": ("user", "id"), "keep": ()}


def test_a_stream_keeps_its_id(tmp_path: Path) -> None:
    first = Checkpoint(tmp_path / "kept")
    stream = first.open(IDENTITY)
    first.close()
    again = Checkpoint(tmp_path / "kept")
    assert again.open(IDENTITY) == stream
    again.close()


def test_another_stream_is_refused(tmp_path: Path) -> None:
    kept = Checkpoint(tmp_path)
    kept.open(IDENTITY)
    kept.decide(BatchRecord(0, 1, 1_000))
    kept.close()
    with pytest.raises(UsageError, match=r'with another key: \["user", "id"\], not none'):
        Checkpoint(tmp_path).open(IDENTITY | {"key": None})


def test_settings_can_be_corrected_until_a_batch_is_decided(tmp_path: Path) -> None:
    kept = Checkpoint(tmp_path)
    stream = kept.open(IDENTITY)
    (kept.spark / "offsets").mkdir()
    kept.close()
    assert kept.open(IDENTITY | {"key": None}) == stream
    kept.close()
    assert (kept.spark / "offsets").exists()
    other = IDENTITY | {"source": {"kind": "kafka"}}
    assert kept.open(other) == stream
    kept.close()
    assert list(kept.spark.iterdir()) == []
    assert kept.open(other) == stream
    kept.decide(BatchRecord(0, 1, 1_000))
    kept.close()
    with pytest.raises(UsageError, match="with another source"):
        kept.open(IDENTITY)
    assert Checkpoint(tmp_path).open(other) == stream  # nothing that was refused holds the lock


def test_a_source_that_keeps_something_cannot_be_exchanged(tmp_path: Path) -> None:
    kept = Checkpoint(tmp_path)
    kept.open(IDENTITY)
    (tmp_path / "source" / "slot.json").write_text("{}")
    kept.close()
    kept.open(IDENTITY | {"keep": ("n",)})
    kept.close()
    with pytest.raises(UsageError, match="with another source"):
        kept.open(IDENTITY | {"source": {"kind": "kafka"}})


def test_one_process_at_a_time(tmp_path: Path) -> None:
    kept = Checkpoint(tmp_path)
    kept.open(IDENTITY)
    with pytest.raises(UsageError, match="running on this checkpoint already"):
        Checkpoint(tmp_path).open(IDENTITY)
    kept.close()
    Checkpoint(tmp_path).open(IDENTITY)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written to"):
        Checkpoint(tmp_path / "file" / "kept").open(IDENTITY)


@pytest.mark.parametrize("text", ["", "{", '{"format": 99, "stream": "x"}'])
def test_a_damaged_or_foreign_checkpoint(tmp_path: Path, text: str) -> None:
    (tmp_path / "stream.json").write_text(text)
    with pytest.raises(InputError):
        Checkpoint(tmp_path).open(IDENTITY)


def test_records_of_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT_BATCHES", 3)
    kept = Checkpoint(tmp_path)
    kept.open(IDENTITY)
    assert kept.last_record() is None
    records = [BatchRecord(number, number // 2, 1_000 + number) for number in range(10)]
    for record in records:
        assert kept.record(record.batch) is None
        kept.decide(record)
        assert kept.record(record.batch) == record
        assert kept.last_record() == record
    assert [kept.record(number) for number in range(7)] == [None] * 7
    assert [kept.record(number) for number in range(7, 10)] == records[7:]
    assert not kept.is_done(9)
    (kept.spark / "commits").mkdir()
    (kept.spark / "commits" / "9").write_text("v1")
    assert kept.is_done(9)


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    write_json(path, {"a": 1})

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match=r"x\.json: cannot be written: No space left on device"):
        write_json(path, {"a": 2})
    assert read_json(path) == {"a": 1}
    assert [each.name for each in tmp_path.iterdir()] == ["x.json"]
    assert json.loads(path.read_text()) == {"a": 1}


def test_what_spark_has_noted_is_on_the_disk_before_a_batch_is_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Checkpoint(tmp_path)
    kept.open(IDENTITY)
    synced: list[str] = []

    def note(path: Path) -> None:
        synced.append(path.relative_to(kept.spark).as_posix())
        assert kept.record(len(decided)) is None

    monkeypatch.setattr(module, "sync_file", note)
    decided: list[int] = []
    wanted = ["metadata"]
    (kept.spark / "sources" / "0").mkdir(parents=True)
    (kept.spark / "offsets").mkdir()
    for number in range(3):
        for folder in (kept.spark / "offsets", kept.spark / "sources" / "0"):
            (folder / str(number)).write_text("v1")
            (folder / f".{number}.crc").write_text("")
        kept.decide(BatchRecord(number, 1, 1_000))
        decided.append(number)
        wanted += [f"offsets/{number}", f"sources/0/{number}"]
        assert sorted(synced) == sorted(wanted)


def test_notes_that_a_crash_has_left_empty_are_taken_away(tmp_path: Path) -> None:
    kept = Checkpoint(tmp_path)
    kept.open(IDENTITY)
    kept.decide(BatchRecord(0, 1, 1_000))
    kept.decide(BatchRecord(1, 1, 1_001))
    kept.close()
    for note in ("offsets/1", "offsets/2", "commits/0", "commits/1", "sources/0/1", "sources/0/2.compact"):
        file = kept.spark / note
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("v1" if note in ("commits/0", "offsets/2") else "")
        file.with_name(f".{file.name}.crc").write_text("")
    kept.open(IDENTITY)
    left = sorted(file.relative_to(kept.spark).as_posix() for file in kept.spark.rglob("*") if file.is_file())
    assert [name for name in left if not name.endswith(".crc")] == ["commits/0", "offsets/1", "sources/0/1"]
    assert len(left) == 6
