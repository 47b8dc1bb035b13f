"""Readers in other threads while rules are changed: one version or the next, never a mixture."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest
from tests.conditions.live.small_layers import small_layers

import tocsin
from tocsin import Index

__all__ = ["small_layers"]

PAIRS = 8
ROUNDS = 300
EVENT = {"x": 1}
TABLE = pa.table({"x": [1, -1, 1]})


def build(engine: str = "atree") -> Index:
    """Pairs of rules that match together; `even 3` and `odd 3` are there or not there, both of them."""
    rules = [(f"{half} {pair}", "x = 1") for pair in range(PAIRS) for half in ("even", "odd")]
    index = tocsin.build(rules, engine)
    assert isinstance(index, Index)
    return index


def check(names: list[str]) -> None:
    """What a reader saw is whole: of each pair both or neither, with the same number of replacements."""
    halves = {
        half: sorted(name.split(" ", 1)[1] for name in names if name.startswith(half))
        for half in ("even", "odd")
    }
    assert halves["even"] == halves["odd"]
    assert len(set(names)) == len(names)


@contextmanager
def reading(look: list) -> Iterator[None]:
    """Readers in threads of their own, each looking again and again; what fails in one fails here."""
    stop = threading.Event()
    failures: list[BaseException] = []

    def read(each) -> None:
        try:
            while not stop.is_set():
                each()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=read, args=(each,)) for each in look]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    if failures:
        raise failures[0]


@pytest.mark.usefixtures("small_layers")
@pytest.mark.parametrize("engine", ["atree", "interval", "dewey"])
def test_readers_see_pairs(engine: str) -> None:
    index = build(engine)

    def match() -> None:
        check([match.rule for match in index.match(EVENT)])

    def match_table() -> None:
        found: Any = index.match_table(TABLE, threads=2)
        rules = found["rule"].to_pylist()
        check(rules[: len(rules) // 2])
        assert rules[: len(rules) // 2] == rules[len(rules) // 2 :]

    def ask() -> None:
        check(index.ids.to_pylist())
        assert len(index) % 2 == 0
        assert "even always" in index
        assert index.rule("even always").when in {f"x = 1 or x = {number}" for number in range(ROUNDS + 1)}

    index.apply([("insert", "even always", "x = 1 or x = 0"), ("insert", "odd always", "x = 1 or x = 0")])
    with reading([match, match_table, ask]):
        for number in range(1, ROUNDS + 1):
            pair = number % PAIRS
            there = f"even {pair}" in index
            kind, when = ("delete", ()) if there else ("insert", ("x = 1",))
            index.apply(
                [
                    (kind, f"even {pair}", *when),
                    ("replace", "even always", f"x = 1 or x = {number}"),
                    (kind, f"odd {pair}", *when),
                    ("replace", "odd always", f"x = 1 or x = {number}"),
                ]
            )
            if number % 100 == 0:
                index.compact()
    index.compact()
    check([match.rule for match in index.match(EVENT)])
    assert index.stats().dead == 0


@pytest.mark.usefixtures("small_layers")
def test_writers_take_turns() -> None:
    index = build()

    def write(writer: int) -> None:
        for number in range(60):
            index.insert(f"{writer}-{number}", f"x = 1 and w != {number}")
            if number % 3 == 0:
                index.delete(f"{writer}-{number}")
            if number % 10 == 0:
                index.match(EVENT)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = {f"{writer}-{number}" for writer in range(4) for number in range(60) if number % 3}
    found = {match.rule for match in index.match({"x": 1, "w": -1})}
    assert found == expected | {f"{half} {pair}" for pair in range(PAIRS) for half in ("even", "odd")}
    assert set(index.ids.to_pylist()) == found
    assert len(index) == len(found)


@pytest.mark.parametrize("engine", ["atree", "interval"])
def test_a_save_beside_a_writer_holds_one_version(engine: str, tmp_path) -> None:
    index = build(engine)
    path = tmp_path / "rules.tocsin"

    def save() -> None:
        index.save(path)
        check(tocsin.open(path).ids.to_pylist())

    with reading([save]):
        for number in range(150):
            index.apply([("insert", f"even n{number}", "x = 1"), ("insert", f"odd n{number}", "x = 1")])
            if number % 2:
                index.apply([("delete", f"even n{number}"), ("delete", f"odd n{number}")])
    save()
    assert len(tocsin.open(path)) == 2 * PAIRS + 150
