"""The file of records: whole records come back, a torn end is cut off, damage is told."""

from __future__ import annotations

import errno
import os
import shutil
import time
from pathlib import Path

import pytest

from tocsin.errors import JournalError, UsageError
from tocsin.storage import ENGINE, WATCH, RecordLog, holds_journal, record_log

SNAPSHOT = [b"one", b"", b"three" * 10]
ADDED = [b"first", b"second" * 5, b"last one"]


@pytest.fixture
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody pulls the plug in these tests."""
    monkeypatch.setattr(record_log, "_sync", lambda descriptor: None)


def made(folder: Path, sync: str = "always") -> list[int]:
    """A journal with a snapshot and records behind it; the size after each of these."""
    log = RecordLog(folder, ENGINE, sync)
    log.rewrite(SNAPSHOT)
    sizes = [log.file.stat().st_size]
    for payload in ADDED:
        log.append(payload)
        sizes.append(log.file.stat().st_size)
    log.close()
    return sizes


def payloads(folder: Path) -> list[bytes]:
    log = RecordLog(folder, ENGINE)
    try:
        return [record.payload for record in log.read()]
    finally:
        log.close()


@pytest.mark.parametrize("sync", ["always", "1 ms"])
def test_what_was_written_comes_back(tmp_path: Path, sync: str) -> None:
    made(tmp_path / "a" / "b", sync)
    assert holds_journal(tmp_path / "a" / "b")
    assert payloads(tmp_path / "a" / "b") == SNAPSHOT + ADDED
    assert (tmp_path / "a" / "b").stat().st_mode & 0o77 == 0


@pytest.mark.usefixtures("quick_disk")
def test_a_torn_end_is_cut_off_wherever_it_is_torn(tmp_path: Path) -> None:
    sizes = made(tmp_path / "whole")
    data = (tmp_path / "whole" / "journal").read_bytes()
    for size in range(sizes[-2], sizes[-1]):
        shutil.rmtree(tmp_path / "torn", ignore_errors=True)
        (tmp_path / "torn").mkdir()
        (tmp_path / "torn" / "journal").write_bytes(data[:size])
        log = RecordLog(tmp_path / "torn", ENGINE)
        assert [record.payload for record in log.read()] == SNAPSHOT + ADDED[:-1]
        log.append(b"new")
        log.close()
        assert payloads(tmp_path / "torn") == [*SNAPSHOT, *ADDED[:-1], b"new"]


def test_a_torn_end_may_have_its_full_length(tmp_path: Path) -> None:
    """A power cut can leave any bytes where a record was being written."""
    sizes = made(tmp_path)
    file = tmp_path / "journal"
    file.write_bytes(file.read_bytes()[: sizes[-2]] + bytes(sizes[-1] - sizes[-2]))
    assert payloads(tmp_path) == SNAPSHOT + ADDED[:-1]


@pytest.mark.usefixtures("quick_disk")
def test_damage_before_the_last_record_is_told_with_its_place(tmp_path: Path) -> None:
    sizes = made(tmp_path)
    file = tmp_path / "journal"
    data = file.read_bytes()
    for place in range(sizes[-2]):
        file.write_bytes(data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :])
        with pytest.raises(JournalError) as caught:
            payloads(tmp_path)
        assert str(file) in str(caught.value)
        if place >= 48:
            assert caught.value.offset is not None
            assert caught.value.offset <= place
        assert len(file.read_bytes()) == len(data)


@pytest.mark.parametrize("lost", ["end of the snapshot", "header", "all"])
def test_a_snapshot_cannot_be_torn(tmp_path: Path, lost: str) -> None:
    sizes = made(tmp_path)
    file = tmp_path / "journal"
    file.write_bytes(file.read_bytes()[: {"end of the snapshot": sizes[0] - 1, "header": 30, "all": 0}[lost]])
    with pytest.raises(JournalError):
        payloads(tmp_path)


def test_what_no_sync_reached_may_be_lost_in_any_order(tmp_path: Path) -> None:
    """Without a sync between them, a disk may have the later record and not the earlier one."""
    sizes = made(tmp_path, sync="1 hour")
    file = tmp_path / "journal"
    data = bytearray(file.read_bytes())
    data[sizes[1] + 60] ^= 1
    file.write_bytes(data)
    assert payloads(tmp_path) == [*SNAPSHOT, ADDED[0]]


def test_another_kind_and_other_files(tmp_path: Path) -> None:
    made(tmp_path / "engine")
    log = RecordLog(tmp_path / "engine", WATCH)
    with pytest.raises(JournalError, match="that of an engine, not of a watch"):
        list(log.read())
    log.close()
    (tmp_path / "engine" / "journal").write_bytes(b"something else" * 10)
    with pytest.raises(JournalError, match="is not a tocsin journal"):
        payloads(tmp_path / "engine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").touch()
    with pytest.raises(UsageError, match="not empty"):
        RecordLog(tmp_path / "full", ENGINE)
    with pytest.raises(UsageError, match="sync is 'always' or a length of time"):
        RecordLog(tmp_path / "new", ENGINE, sync="sometimes")
    with pytest.raises(JournalError, match="cannot be opened"):
        RecordLog(tmp_path / "full" / "letter.txt", ENGINE)


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    log = RecordLog(tmp_path, ENGINE)
    log.rewrite([])
    with pytest.raises(JournalError, match=f"is open already, in process {os.getpid()}"):
        RecordLog(tmp_path, ENGINE)
    log.close()
    with pytest.raises(JournalError, match="is closed"):
        log.append(b"late")
    assert payloads(tmp_path) == []


def test_a_forked_process_neither_writes_nor_keeps_others_out(tmp_path: Path) -> None:
    log = RecordLog(tmp_path, ENGINE)
    log.rewrite([])
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            log.append(b"twice")
            said = b"appended"
        except JournalError as error:
            said = str(error).encode()
        os.write(writing, said)
        os.close(writing)
        time.sleep(5)
        os._exit(0)
    os.close(writing)
    try:
        assert b"not open here" in os.read(reading, 1000)
        log.close()
        assert payloads(tmp_path) == []
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(reading)


def failing(number: int):
    """A system call that fails."""

    def fail(*arguments: object) -> int:
        raise OSError(number, os.strerror(number))

    return fail


def test_a_full_disk_refuses_a_record_and_keeps_the_others(tmp_path: Path, monkeypatch) -> None:
    log = RecordLog(tmp_path, ENGINE)
    log.rewrite([b"base"])
    log.append(b"good")
    with monkeypatch.context() as patched:
        real = os.pwrite
        full = failing(errno.ENOSPC)
        counted: list[int] = []

        def partly(descriptor: int, data: bytes, place: int) -> int:
            counted.append(place)
            return real(descriptor, bytes(data[:7]), place) if len(counted) == 1 else full()

        patched.setattr(os, "pwrite", partly)
        with pytest.raises(JournalError, match="cannot be written: No space left on device"):
            log.append(b"too much")
    log.append(b"room again")
    log.close()
    assert payloads(tmp_path) == [b"base", b"good", b"room again"]


@pytest.mark.parametrize("sync", ["always", "1 ms"])
def test_after_a_failed_sync_nothing_more_is_taken(tmp_path: Path, monkeypatch, sync: str) -> None:
    log = RecordLog(tmp_path, ENGINE, sync)
    log.rewrite([b"base"])
    with monkeypatch.context() as patched:
        patched.setattr(record_log, "_sync", failing(errno.EIO))
        if sync == "always":
            with pytest.raises(JournalError, match="Input/output error"):
                log.append(b"lost")
        else:
            log.append(b"perhaps lost")
            while log._failed is None:
                time.sleep(0.001)
    with pytest.raises(JournalError, match="cannot be synced to the disk"):
        log.append(b"more")
    log.close()
    assert payloads(tmp_path) in ([b"base"], [b"base", b"perhaps lost"])


def test_a_rewrite_that_fails_changes_nothing(tmp_path: Path, monkeypatch) -> None:
    log = RecordLog(tmp_path, ENGINE)
    log.rewrite([b"base"])
    log.append(b"more")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", failing(errno.ENOSPC))
        with pytest.raises(JournalError, match="cannot be rewritten: No space"):
            log.rewrite([b"other"])
    log.append(b"and more")
    log.close()
    assert payloads(tmp_path) == [b"base", b"more", b"and more"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["journal", "lock"]


def test_it_says_when_it_is_long(tmp_path: Path) -> None:
    log = RecordLog(tmp_path, ENGINE, "1 hour")
    log.rewrite([b"x" * 3 * record_log.FLOOR])
    for _ in range(3):
        assert not log.is_long
        log.append(b"y" * record_log.FLOOR)
    assert log.is_long
    log.rewrite([b"short"])
    assert not log.is_long
    log.close()
