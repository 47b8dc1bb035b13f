"""Drafts: whole or not at all, gone when their writer is, and never another's."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import tocsin
from tocsin.storage import AS_USUAL, draft_of, mode_within
from tocsin.storage.drafts import remove_stale_drafts

_SAVER = """
import sys, numpy as np
from tocsin.arrays.array_file import save_arrays
arrays = [("a", np.zeros(200_000, np.int64))]
print("ready", flush=True)
while True:
    save_arrays(sys.argv[1], {}, arrays)
"""


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_killed_savers_leave_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "rules.tocsin"
    left = 0
    for kill in range(6):
        with subprocess.Popen([sys.executable, "-c", _SAVER, str(target)], stdout=subprocess.PIPE) as saver:
            assert saver.stdout is not None
            saver.stdout.readline()
            time.sleep(0.01 + 0.013 * kill)
            saver.send_signal(signal.SIGKILL)
            saver.wait()
        left += len(list(tmp_path.iterdir())) - target.exists()
        assert left <= kill + 1  # whoever comes next takes away what is left
    tocsin.build([("a", "x = 1")]).save(target)
    assert [path.name for path in tmp_path.iterdir()] == ["rules.tocsin"]
    assert [match.rule for match in tocsin.open(target).match({"x": 1})] == ["a"]


def test_opening_takes_stale_drafts_away(tmp_path: Path) -> None:
    target = tmp_path / "rules.tocsin"
    tocsin.build([("a", "x = 1")]).save(target)
    with draft_of(target) as draft:
        stale = draft.with_name(draft.name[:-1] + ("0" if draft.name[-1] != "0" else "1"))
        foreign = [tmp_path / name for name in (".rules.tocsin.x", ".rules.tocsin.00000000-" + 32 * "0")]
        for file in (stale, *foreign):
            file.touch()
        draft.write_bytes(target.read_bytes())
        tocsin.open(target)
        assert draft.exists()  # its writer lives
        assert not stale.exists()
        assert all(file.exists() for file in foreign)


def test_a_draft_of_another_live_process_stays(tmp_path: Path) -> None:
    target = tmp_path / "rules.tocsin"
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with draft_of(target):
            os.write(write, b"x")
            time.sleep(60)
        os._exit(0)
    try:
        os.read(read, 1)
        remove_stale_drafts(target)
        assert len(list(tmp_path.iterdir())) == 1
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    remove_stale_drafts(target)
    assert list(tmp_path.iterdir()) == []


def _fail_to_write(target: Path) -> None:
    with draft_of(target) as draft:
        draft.write_text("new")
        raise OSError("no room")


def test_a_failed_write_leaves_the_target(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("old")
    with pytest.raises(OSError, match="no room"):
        _fail_to_write(target)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert target.read_text() == "old"


def test_saved_files_are_private_unless_the_target_was_not(tmp_path: Path) -> None:
    index = tocsin.build([("a", "x = 1")])
    with umask(0o022):
        index.save(tmp_path / "new")
        assert mode_of(tmp_path / "new") == 0o600
        (tmp_path / "new").chmod(0o644)
        index.save(tmp_path / "new")
        assert mode_of(tmp_path / "new") == 0o644
        with draft_of(tmp_path / "result", AS_USUAL) as draft:
            draft.touch()
        assert mode_of(tmp_path / "result") == 0o644
    tmp_path.chmod(0o750)
    assert mode_within(tmp_path) == 0o640
