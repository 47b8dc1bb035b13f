"""The saved file: whole or not at all, and nothing damaged or foreign is ever taken for an index."""

from __future__ import annotations

import errno
import os
import random
import re
import struct
import threading
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

import tocsin
from tocsin import Rules
from tocsin.arrays.array_file import MAGIC, VERSION, index_digest
from tocsin.conditions.graph import compile_rules, open_index, save_index
from tocsin.errors import IndexFileError

RULES = [
    ("a", "x = 1 and y in ('p', 'q') or not (z < 5 and x is null)"),
    ("b", "s like 'a%' xor s matches 'b' xnor cidr(ip, '10.0.0.0/8')"),
    ("c", "t between timestamp '2026-01-31T12:00:00Z' and timestamp '2026-02-01T00:00:00Z' or true"),
]
EVENTS: list[dict[str, object]] = [
    {"x": 1, "y": "p"},
    {"z": 7, "s": "ab", "ip": "10.1.1.1"},
    {},
    {"s": "", "ip": "x", "x": None},
]

Answer = list[list[str]]


def answer(path: Path) -> Answer:
    index = tocsin.open(path)
    return [[match.rule for match in index.match(event)] for event in EVENTS]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Answer]:
    path = tmp_path_factory.mktemp("saved") / "rules.tocsin"
    save_index(compile_rules(Rules.of(RULES)), path)
    return path.read_bytes(), answer(path)


def test_what_was_saved(saved: tuple[bytes, Answer]) -> None:
    data, found = saved
    assert data.startswith(MAGIC)
    assert found[0] == ["a", "c"]
    built = tocsin.build(RULES)
    assert found == [[match.rule for match in built.match(event)] for event in EVENTS]


def test_every_truncation_is_refused(saved: tuple[bytes, Answer], tmp_path: Path) -> None:
    data, _ = saved
    path = tmp_path / "cut.tocsin"
    lengths = {*range(200), *range(200, len(data), 97), len(data) - 1, len(data) - 64}
    for length in sorted(lengths):
        path.write_bytes(data[:length])
        for verify in (True, False):
            with pytest.raises(IndexFileError):
                open_index(path, verify=verify)


def test_bytes_behind_the_end_are_refused(saved: tuple[bytes, Answer], tmp_path: Path) -> None:
    path = tmp_path / "long.tocsin"
    path.write_bytes(saved[0] + b"\0")
    with pytest.raises(IndexFileError, match="damaged"):
        open_index(path)


def test_every_flipped_bit_is_refused(saved: tuple[bytes, Answer], tmp_path: Path) -> None:
    data, _ = saved
    path = tmp_path / "flipped.tocsin"
    rng = random.Random(1)
    header_size = struct.unpack_from("<Q", data, 24)[0]
    bits = [*range(8 * 64), *(rng.randrange(8 * len(data)) for _ in range(700))]
    bits += [8 * (64 + header_size) + rng.randrange(8 * 64) for _ in range(30)]
    padding = range(64 + header_size, -(-(64 + header_size) // 64) * 64)
    for bit in (*bits, *(8 * byte + byte % 8 for byte in padding)):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        for verify in (True, False) if bit // 8 in padding else (True,):
            with pytest.raises(IndexFileError, match=re.escape(str(path))):
                open_index(path, verify=verify)
    assert len(padding) > 0


def test_swapped_and_zeroed_pages_are_refused(saved: tuple[bytes, Answer], tmp_path: Path) -> None:
    data, _ = saved
    path = tmp_path / "pages.tocsin"
    middle = len(data) // 2
    for damaged in (
        data[:middle] + bytes(len(data) - middle),
        data[:64] + data[middle:] + data[64:middle],
        bytes(64) + data[64:],
        data[:64] + b"{}" + data[66:],
    ):
        path.write_bytes(damaged)
        with pytest.raises(IndexFileError):
            open_index(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"TOCSIN",
        b"PK\x03\x04" * 100,
        b"PAR1" * 100,
        b"\x00" * 1_000,
        b"id,when\na,x = 1\n" * 50,
        MAGIC * 100,
    ],
)
def test_foreign_files(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "foreign.tocsin"
    path.write_bytes(content)
    for verify in (True, False):
        with pytest.raises(IndexFileError, match=r"foreign\.tocsin"):
            open_index(path, verify=verify)


def test_another_format_version(saved: tuple[bytes, Answer], tmp_path: Path) -> None:
    path = tmp_path / "newer.tocsin"
    newer = bytearray(saved[0])
    struct.pack_into("<Q", newer, 8, VERSION + 1)
    path.write_bytes(newer)
    with pytest.raises(IndexFileError, match=f"version {VERSION + 1}.*reads version {VERSION}"):
        open_index(path)


def test_paths_that_cannot_be_opened(tmp_path: Path) -> None:
    for path in (tmp_path / "none.tocsin", tmp_path, tmp_path / "no" / "where", "", "a\0b"):
        with pytest.raises(IndexFileError):
            tocsin.open(path)
        with pytest.raises(IndexFileError):
            tocsin.open(str(path))


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    index = tocsin.build(RULES)
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "folder").mkdir()
    for path in (
        tmp_path / "no" / "where",
        tmp_path / "file" / "x",
        tmp_path / "folder",
        "a\0b",
        tmp_path / ("x" * 300),
    ):
        with pytest.raises(IndexFileError):
            index.save(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "folder"]
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(IndexFileError, match="cannot write"):
        tocsin.build(RULES).save(tmp_path / "rules.tocsin")
    tmp_path.chmod(0o755)


def test_saving_over_an_open_index(tmp_path: Path) -> None:
    path = tmp_path / "rules.tocsin"
    tocsin.build([("old", "x = 1")]).save(path)
    opened = tocsin.open(path)
    digest = index_digest(path)
    tocsin.build([("new", "x = 1"), ("other", "x = 2")]).save(path)
    assert [match.rule for match in opened.match({"x": 1})] == ["old"]
    assert [match.rule for match in tocsin.open(path).match({"x": 1})] == ["new"]
    assert index_digest(path) != digest
    assert [each.name for each in tmp_path.iterdir()] == ["rules.tocsin"]


def test_an_index_saved_over_itself(tmp_path: Path) -> None:
    path = tmp_path / "rules.tocsin"
    tocsin.build(RULES).save(path)
    found = answer(path)
    opened = tocsin.open(path)
    opened.save(path)
    assert answer(path) == found
    assert [[match.rule for match in opened.match(event)] for event in EVENTS] == found


def test_the_file_outlives_its_name(tmp_path: Path) -> None:
    path = tmp_path / "rules.tocsin"
    tocsin.build(RULES).save(path)
    opened = tocsin.open(path)
    path.unlink()
    assert [match.rule for match in opened.match({"x": 1, "y": "p"})] == ["a", "c"]


def test_threads_share_one_index(tmp_path: Path) -> None:
    path = tmp_path / "rules.tocsin"
    tocsin.build(RULES).save(path)
    expected = answer(path)
    index = tocsin.open(path)
    wrong: list[object] = []

    def run(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(300):
            number = rng.randrange(len(EVENTS))
            found = [match.rule for match in index.match(EVENTS[number])]
            if found != expected[number]:
                wrong.append((EVENTS[number], found))

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_same_rules_give_the_same_content(tmp_path: Path) -> None:
    """But for the seconds that a build took, a file says only what the rules say."""
    indexes = [compile_rules(Rules.of(RULES))._replace(facts={}) for _ in range(2)]
    for number, index in enumerate(indexes):
        save_index(index, tmp_path / f"{number}.tocsin")
    assert (tmp_path / "0.tocsin").read_bytes() == (tmp_path / "1.tocsin").read_bytes()
    assert index_digest(tmp_path / "0.tocsin") == index_digest(tmp_path / "1.tocsin")


def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(IndexFileError, match="it is not a regular file"):
        tocsin.build([("a", "x = 1")]).save(pipe)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_link_is_followed_and_the_mode_is_kept(tmp_path: Path) -> None:
    file, link = tmp_path / "v1.tocsin", tmp_path / "current"
    tocsin.build([("a", "x = 1")]).save(file)
    file.chmod(0o640)
    link.symlink_to(file)
    tocsin.build([("a", "x = 1"), ("b", "x = 2")]).save(link)
    assert link.is_symlink()
    assert len(tocsin.open(file)) == 2
    assert file.stat().st_mode & 0o777 == 0o640


class _OnFullDisk(np.ndarray):
    """An array that can no longer be written."""

    def tobytes(self, order: object = None) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_write_that_fails_between_two_arrays_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "rules.tocsin"
    index = compile_rules(Rules.of(RULES))
    save_index(index, file)
    before = file.read_bytes()
    broken = index._replace(group_kind=index.group_kind.view(_OnFullDisk))
    with pytest.raises(IndexFileError, match="No space left on device"):
        save_index(broken, file)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]
