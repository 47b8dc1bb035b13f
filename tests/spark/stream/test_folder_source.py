"""Files that Spark does not hand out: told of once, and no others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tocsin.spark.stream.folder_source import PassedOver

NOT_UTF_8 = "in the folder of events is passed over: its name is not UTF-8"
DANGLING = "in the folder of events is passed over: it is a link to nothing"


def put(folder: Path, name: bytes) -> None:
    (folder / os.fsdecode(name)).write_text("")


def test_what_is_odd_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "é").mkdir()
    put(tmp_path, "ü.jsonl".encode())
    put(tmp_path, b"bad\xff.jsonl")
    put(tmp_path, b".hidden\xff")
    put(tmp_path, b"_hidden\xff")
    put(tmp_path / "é", b"\xfe=1")
    (tmp_path / "é" / "gone.csv").symlink_to("nowhere")
    (tmp_path / "é" / "again").symlink_to(tmp_path)
    (tmp_path / "é" / "fine.jsonl").symlink_to(tmp_path / "ü.jsonl")
    seen = PassedOver(tmp_path)
    assert sorted(seen.new()) == [
        f"bad\\xff.jsonl {NOT_UTF_8}",
        f"é/\\xfe=1 {NOT_UTF_8}",
        f"é/gone.csv {DANGLING}",
    ]
    assert seen.new() == []
    put(tmp_path / "é", b"\xfd")
    assert seen.new() == [f"é/\\xfd {NOT_UTF_8}"]


def test_a_folder_with_such_a_name_is_told_of_and_not_entered(tmp_path: Path) -> None:
    inner = tmp_path / os.fsdecode(b"in\xff")
    inner.mkdir()
    put(inner, b"\xfe")
    assert PassedOver(tmp_path).new() == [f"in\\xff {NOT_UTF_8}"]


def test_folders_that_have_not_changed_are_not_listed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    for folder in (tmp_path, tmp_path / "old"):
        os.utime(folder, (1_000_000, 1_000_000))
    listed = []
    scandir = os.scandir

    def noted(folder: Path) -> Any:
        listed.append(folder.name)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", noted)
    seen = PassedOver(tmp_path)
    assert (seen.new(), seen.new()) == ([], [])
    assert sorted(listed) == sorted([tmp_path.name, "new", "new", "old"])


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    assert PassedOver(tmp_path / "gone").new() == []
