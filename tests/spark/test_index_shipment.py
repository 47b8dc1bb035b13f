"""An index is saved once, however often and by whomever it is sent. No Spark is needed to see that."""

from __future__ import annotations

import gc
import os
import shutil
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest
from pyspark.sql import SparkSession

import tocsin
from tocsin import Index
from tocsin.errors import IndexFileError
from tocsin.spark.index_shipment import ship_rules


class Session:
    """Stands for a session and its context: remembers the files that are added."""

    def __init__(self) -> None:
        self.listFiles: list[str] = []

    @property
    def sparkContext(self) -> Session:  # noqa: N802  (Spark's name)
        return self

    def addFile(self, path: str) -> None:  # noqa: N802
        assert Path(path).is_file()
        self.listFiles.append(path)


def send(session: Session, index: Index) -> str:
    return ship_rules(cast(SparkSession, session), index).names[0]


def build(when: str) -> Index:
    built = tocsin.build([("r", when)])
    assert isinstance(built, Index)
    return built


@pytest.fixture
def saves(monkeypatch: pytest.MonkeyPatch) -> list[Index]:
    """The indexes that were saved, one entry for each time."""
    seen: list[Index] = []
    save = Index.save

    def noted(index: Index, path: str | os.PathLike[str]) -> None:
        seen.append(index)
        save(index, path)

    monkeypatch.setattr(Index, "save", noted)
    return seen


def test_index_is_saved_once_for_all_sessions(saves: list[Index]) -> None:
    one, two = build("n = 101"), build("n = 102")
    first, second = Session(), Session()
    names = [send(first, one), send(first, two), send(first, one), send(second, one)]
    assert saves == [one, two]
    assert names[0] == names[2] == names[3] != names[1]
    assert len(first.listFiles) == 2
    assert second.listFiles == first.listFiles[:1]


def test_many_threads_save_it_once(saves: list[Index]) -> None:
    index, session = build("n = 103"), Session()
    with ThreadPoolExecutor(8) as pool:
        names = set(pool.map(lambda _: send(session, index), range(64)))
    assert len(names) == len(session.listFiles) == len(saves) == 1


def test_copy_that_was_cleared_away_is_made_again(saves: list[Index]) -> None:
    index, session = build("n = 104"), Session()
    send(session, index)
    Path(session.listFiles[0]).unlink()
    send(session, index)
    assert saves == [index, index]
    assert Path(session.listFiles[0]).is_file()


def test_sent_index_is_not_kept_alive() -> None:
    index = build("n = 105")
    send(Session(), index)
    alive = weakref.ref(index)
    del index
    gc.collect()
    assert alive() is None


def test_index_is_saved_again_when_its_rules_have_changed(saves: list[Index]) -> None:
    index, session = build("n = 106"), Session()
    names = [send(session, index)]
    for change in (
        lambda: index.insert("s", "n = 107"),
        lambda: index.replace("s", "n = 108"),
        lambda: index.delete("r"),
    ):
        change()
        names += [send(session, index), send(session, index)]
    assert len(saves) == len(set(names)) == len(session.listFiles) == 4
    index.compact()
    assert send(session, index) == names[-1]
    assert len(saves) == 4
    assert tocsin.open(session.listFiles[-1]).ids.to_pylist() == ["s"]


def test_a_file_that_was_written_over_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session = Session()
    shipped = ship_rules(cast(SparkSession, session), build("x = 1"))
    brought = tmp_path / shipped.names[0]
    other = tmp_path / "other"
    build("x = 2").save(other)
    monkeypatch.setattr("tocsin.spark.index_shipment.SparkFiles.get", lambda name: str(tmp_path / name))
    brought.write_bytes(other.read_bytes())
    with pytest.raises(IndexFileError, match="was written over"):
        shipped.open()
    shutil.copyfile(session.listFiles[-1], brought)
    assert len(shipped.open()) == 1
    os.utime(brought, ns=(1, 1))
    with pytest.raises(IndexFileError, match="was written over"):
        shipped.open()
