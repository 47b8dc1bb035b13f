"""A journalled engine is, opened again, what an engine without a journal would be."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tocsin
from tocsin import Engine
from tocsin.errors import DerivationError, JournalError, TocsinWarning, UsageError
from tocsin.storage import ENGINE, RecordLog, record_log

TEXT = """
.decl arc(x: number, y: number)
.decl path(x: number, y: number)
.decl name(s: symbol, f: float, u: unsigned)
.decl part(n: number)
.decl on()
path(x, y) :- arc(x, y).   // a comment
path(x, z) :- path(x, y), arc(y, z).
part(12 / x) :- arc(x, _), on().
arc(1, 2).
"""
PROGRAM = tocsin.Program.parse(TEXT)
RULES = ("part(x) :- arc(x, x).", "part(y) :- path(_, y), on().")

small = st.integers(0, 4)
texts = st.sampled_from(["", "a", "é\n", "\x00", "ada"])
facts = st.one_of(
    st.tuples(st.just("arc"), st.tuples(small, small)),
    st.tuples(
        st.just("name"), st.tuples(texts, st.sampled_from([0.5, -0.0, float("inf")]), st.just(2**64 - 1))
    ),
    st.tuples(st.just("on"), st.just(())),
    st.tuples(st.just("path"), st.tuples(small, st.just(-(2**63)))),
)
ttls = st.one_of(st.none(), st.integers(0, 5), st.sampled_from([0.5, 10**30]))
steps = st.one_of(
    st.tuples(st.just("insert"), facts, ttls),
    st.tuples(st.just("delete"), facts),
    st.tuples(st.just("apply"), st.lists(st.tuples(st.sampled_from("+-"), facts), max_size=4), ttls),
    st.tuples(st.just("load"), st.lists(st.tuples(small, small), max_size=80), ttls),
    st.tuples(st.just("advance"), st.integers(0, 3)),
    st.tuples(st.just("add_rule"), st.sampled_from(RULES)),
    st.tuples(st.just("remove_rule"), st.sampled_from(RULES)),
    st.tuples(st.just("reopen")),
    st.tuples(st.just("shorten")),
)


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody pulls the plug in these tests."""
    monkeypatch.setattr(record_log, "_sync", lambda descriptor: None)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def make(engine: Engine, step: Any) -> Any:
    """What a step says, or the error that it raises."""
    what, *rest = step
    try:
        if what == "insert":
            relation, values = rest[0]
            return engine.insert(relation, values, ttl=rest[1])
        if what == "delete":
            return engine.delete(*rest[0])
        if what == "apply":
            return engine.apply([(sign, *fact) for sign, fact in rest[0]], ttl=rest[1])
        if what == "load":
            return engine.load("arc", rest[0], ttl=rest[1])
        if what == "advance":
            return engine.advance(engine.now + rest[0])
        return getattr(engine, what)(*rest)
    except (DerivationError, UsageError) as error:
        return type(error)


def state(engine: Engine) -> Any:
    """All that can be told of an engine."""
    moments = {
        (name, engine.code(name).decode(row)): moment
        for (name, row), moment in engine._expiry.moments.items()
    }
    given = {
        name: sorted(engine.code(name).decode_rows(np.unique(rows, axis=0) if rows.size else rows))
        for name, rows in engine._given().items()
    }
    return {name: engine.query(name) for name in engine}, given, moments, engine.now, engine.program.rules


@settings(max_examples=12)
@given(st.lists(steps, max_size=12))
@example([("insert", ("arc", (3, 4)), 0), ("shorten",)])  # due now, but not gone before the next advance
def test_opened_again_it_is_what_it_would_have_been(tmp_path_factory: Any, made: list[Any]) -> None:
    open_again(tmp_path_factory, made)


@pytest.mark.slow
@settings(max_examples=400)
@given(st.lists(steps, max_size=12))
def test_often_opened_again_it_is_what_it_would_have_been(tmp_path_factory: Any, made: list[Any]) -> None:
    open_again(tmp_path_factory, made)


def open_again(tmp_path_factory: Any, made: list[Any]) -> None:
    folder = tmp_path_factory.mktemp("journal") / "j"
    plain = PROGRAM.start()
    engine = PROGRAM.start(journal=folder, sync="1 hour")
    for step in [*made, ("reopen",)]:
        if step[0] == "reopen":
            engine.close()
            engine = PROGRAM.start(journal=folder, sync="1 hour")
            assert state(engine) == state(plain)
        elif step[0] == "shorten":
            engine.begin()  # type: ignore[attr-defined]
        else:
            assert make(engine, step) == make(plain, step)
    engine.close()
    opened = tocsin.open(folder)
    assert state(opened) == state(plain)
    opened.close()
    shutil.rmtree(folder)


def test_facts_are_for_the_first_start(tmp_path: Path) -> None:
    with PROGRAM.start(journal=tmp_path, facts={"arc": [(2, 3)]}) as engine:
        assert engine.query("path", (1, None)) == [(1, 2), (1, 3)]
        engine.delete("arc", (1, 2))
    with PROGRAM.start(journal=tmp_path, facts={"arc": [(7, 8)]}) as engine:
        assert engine.query("arc") == [(2, 3)]


def test_the_program_must_be_the_same_but_for_how_it_is_written(tmp_path: Path) -> None:
    with PROGRAM.start(journal=tmp_path) as engine:
        engine.add_rule(RULES[0])
        extended = str(engine.program)
    for text in (TEXT.replace("// a comment", "\n"), extended):
        with tocsin.Program.parse(text).start(journal=tmp_path) as engine:
            assert engine.program.rules[-1] == RULES[0]
    for text in (TEXT + "arc(2, 3).", TEXT + RULES[1], TEXT.replace("12 /", "13 /")):
        with pytest.raises(UsageError, match=r"journal of another program: tocsin\.open"):
            tocsin.Program.parse(text).start(journal=tmp_path)
    with pytest.raises(UsageError, match="local=None, not 'here'"):
        PROGRAM.start("here", journal=tmp_path)
    PROGRAM.start(journal=tmp_path).close()


def test_the_limit_is_that_of_this_start(tmp_path: Path) -> None:
    arcs = [(number, number) for number in range(1, 10)]
    engine = PROGRAM.start(journal=tmp_path, facts={"on": [()]}, limit=3)
    with pytest.raises(DerivationError):
        engine.load("arc", arcs)
    engine.close()
    with PROGRAM.start(journal=tmp_path) as engine:
        engine.load("arc", arcs)
    with pytest.raises(DerivationError):
        PROGRAM.start(journal=tmp_path, limit=3)
    with PROGRAM.start(journal=tmp_path) as engine:
        assert engine.size("arc") == 10


def test_a_change_that_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    with PROGRAM.start(journal=tmp_path) as engine:
        engine.insert("on", ())
        size = (tmp_path / "journal").stat().st_size
        for step in (
            ("insert", ("arc", (0, 1)), None),
            ("load", [(3, 0), (0, 3)], 5),
            ("apply", [("+", ("arc", (0, 0))), ("-", ("arc", (1, 2)))], None),
        ):
            assert make(engine, step) is DerivationError
        for bad in (("arc", (1,)), ("arc", ("a", 1)), ("name", ("\ud800", 0.0, 1))):
            with pytest.raises(tocsin.InputError):
                engine.insert(*bad)
        assert (tmp_path / "journal").stat().st_size == size
        assert engine.query("arc") == [(1, 2)]


CHANGES = (
    ("insert", ("arc", (2, 3)), 5),
    ("delete", ("arc", (1, 2))),
    ("load", [(4, 5)], None),
    ("advance", 5),
    ("add_rule", RULES[0]),
)


@pytest.mark.parametrize("step", CHANGES, ids=lambda step: step[0])
@pytest.mark.parametrize("where", ["pwrite", "sync"])
def test_what_cannot_be_journalled_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: Any, where: str
) -> None:
    engine = PROGRAM.start(journal=tmp_path)
    engine.insert("arc", (4, 4), ttl=3)
    before = state(engine)

    def fail(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        if where == "pwrite":
            patched.setattr(os, "pwrite", fail)
        else:
            patched.setattr(record_log, "_sync", fail)
        with pytest.raises(JournalError, match="No space left on device"):
            make(engine, step)
    assert state(engine) == before
    if where == "pwrite" or step[0] == "add_rule":
        make(engine, step)
        assert state(engine) != before
        before = state(engine)
    else:
        with pytest.raises(JournalError, match="cannot be synced"):
            make(engine, step)
    engine.close()
    with PROGRAM.start(journal=tmp_path) as engine:
        assert state(engine) == before


def test_an_interrupted_change_is_as_the_journal_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = PROGRAM.start(journal=tmp_path)
    for after in (True, False):
        real = RecordLog.append

        def interrupted(log: RecordLog, payload: bytes, after: bool = after, real: Any = real) -> None:
            if after:
                real(log, payload)
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(RecordLog, "append", interrupted)
            with pytest.raises(KeyboardInterrupt):
                engine.insert("arc", (8, int(after)))
        assert engine.query("arc") == [(1, 2), (8, 1)]
    now = state(engine)
    engine.close()
    with PROGRAM.start(journal=tmp_path) as engine:
        assert state(engine) == now


def test_snapshots_keep_it_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_log, "FLOOR", 4_000)
    with PROGRAM.start(journal=tmp_path, sync="1 hour") as engine:
        for number in range(1_000):
            engine.insert("name", (f"n{number % 10}", 1.0, number % 7), ttl=100)
        assert (tmp_path / "journal").stat().st_size < 20_000
        before = state(engine)
    with PROGRAM.start(journal=tmp_path) as engine:
        assert state(engine) == before


def test_a_snapshot_without_room_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_log, "FLOOR", 400)
    engine = PROGRAM.start(journal=tmp_path, sync="1 hour")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def insert_some() -> None:
        for number in range(100):
            engine.insert("arc", (number, number))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.warns(TocsinWarning, match="cannot be rewritten: No space") as warned:
            insert_some()
    assert 1 < len(warned) < 10
    engine.close()
    with PROGRAM.start(journal=tmp_path) as engine:
        assert engine.size("arc") == 101


def test_a_hostile_journal_with_good_checksums_is_an_error(tmp_path: Path) -> None:
    """Bytes of every record changed in turn: it is refused, or holds other facts; nothing else happens."""
    with PROGRAM.start(journal=tmp_path / "j") as engine:
        engine.load("name", [("a", 1.0, 1), ("b", 2.0, 2)], ttl=4)
        engine.apply([("+", "on", ()), ("-", "arc", (1, 2))])
        engine.begin()  # type: ignore[attr-defined]
        engine.insert("name", ("c", 3.0, 3), ttl=1)
        engine.advance(1)
    log = RecordLog(tmp_path / "j", ENGINE)
    records = [record.payload for record in log.read()]
    log.close()
    refused = 0
    for number, payload in enumerate(records[1:], 1):
        for place in range(0, len(payload), 2):
            for other in (0xFF, payload[place] ^ 1):
                changed = payload[:place] + bytes([other]) + payload[place + 1 :]
                log = RecordLog(tmp_path / "j", ENGINE)
                log.rewrite([*records[:number], changed, *records[number + 1 :]])
                log.close()
                try:
                    tocsin.open(tmp_path / "j").close()
                except JournalError as error:
                    refused += error.offset is not None
    assert refused > 100


@pytest.mark.parametrize(("name", "value"), [("file", True), ("file", []), ("local", True), ("local", [])])
def test_a_start_that_is_none(name: str, value: object, tmp_path: Path) -> None:
    PROGRAM.start(journal=tmp_path / "j").close()
    log = RecordLog(tmp_path / "j", ENGINE)
    first, *others = (record.payload for record in log.read())
    kind, said = json.loads(first[4:])
    head = json.dumps([kind, {**said, name: value}]).encode()
    log.rewrite([len(head).to_bytes(4, "little") + head, *others])
    log.close()
    with pytest.raises(JournalError, match="starts no program"):
        tocsin.open(tmp_path / "j")
