"""A journalled watch has, opened again, the rows of one without a journal; values come back as they were."""

from __future__ import annotations

import errno
import os
import shutil
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tocsin
from tocsin.errors import EventError, JournalError
from tocsin.storage import WATCH, RecordLog, record_log
from tocsin.watches.row_values import Unkept, decode, encode

RULES = """
create trigger pair from s as a, t as b when a.k = b.k do alert '{a.k}';
create trigger gone from s as a after delete to a when a.k is not null;
"""


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody pulls the plug in these tests."""
    monkeypatch.setattr(record_log, "_sync", lambda descriptor: None)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    file = tmp_path / "rules.sql"
    file.write_text(RULES)
    return file


VALUES: list[Any] = [
    *(None, True, False, 0, -1, 2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 10**5000, 0.1, -0.0, float("inf")),
    *("", "é\x00\n", "\ud800 alone", b"\x00\xff", Decimal("1.50"), Decimal("-1E+999999"), Decimal("NaN")),
    *(date(1, 1, 1), time(23, 59, 59, 5), timedelta(-3, 5, 7), datetime(2026, 1, 31, 12, 0, 0, 123456)),
    *(datetime(2026, 1, 31, tzinfo=UTC), datetime(2026, 1, 31, tzinfo=timezone(timedelta(hours=-5), "EST"))),
    datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")),
    *([], [1, [2, {"a": []}]], {}, {"a": {"b": None}}, frozenset({1, "a"})),
    *(
        np.int8(-3),
        np.float32(0.5),
        np.bool_(True),
        np.datetime64("2026-01-31T12:00:00.000000001"),
        np.str_("x"),
        np.str_(""),
        np.str_("a\0"),
        np.bytes_(b""),
        np.bytes_(b"a\0"),
    ),
    *(pd.NA, pd.NaT, pd.Timestamp("2026-01-31 12:00:00.000000001"), pd.Timestamp("2026-01-31", tz="UTC")),
    pd.Timestamp("2026-07-01 12:00", tz=ZoneInfo("Europe/Berlin")),
]


def same(one: Any, other: Any) -> bool:
    """The same value of the same type, through and through."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        is_alike = one.dtype == other.dtype and one.shape == other.shape
        return is_alike and all(map(same, one.ravel().tolist(), other.ravel().tolist()))
    if isinstance(one, dict):
        return list(one) == list(other) and all(map(same, one.values(), other.values()))
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, datetime) and one is not pd.NaT:
        zones = one.utcoffset() == other.utcoffset() and one.tzname() == other.tzname()
        return bool(one == other) and one.fold == other.fold and zones
    return repr(one) == repr(other)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{type(value).__name__}")
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    if type(value) is int and abs(value) > 2**64:
        assert decode(encode(value)) == value
    else:
        assert same(decode(encode(value)), value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3),
        np.array([], float),
        np.array(["a", "bé"]),
        np.array(["a", None, ["b"]], object),
        np.array(5),
        np.array(["2026-01-31"], "M8[ns]"),
        np.zeros((0, 4)),
    ],
)
def test_an_array_comes_back_as_it_was(array: Any) -> None:
    assert same(decode(encode([array]))[0], array)  # type: ignore[index]


def test_a_deep_value_costs_no_stack() -> None:
    deep: Any = 1
    for _ in range(20_000):
        deep = [deep]
    depth, found = 0, decode(encode(deep))
    while isinstance(found, list):
        (found,), depth = found, depth + 1
    assert (found, depth) == (1, 20_000)


@pytest.mark.parametrize("value", [object(), 1j, np.zeros(1, "V3"), {1: 2}, (1,), datetime(2026, 1, 1).time])
def test_what_cannot_be_kept_is_refused(value: Any) -> None:
    with pytest.raises(Unkept):
        encode([value])


def _deep(kind: Callable[[list[Any]], Any]) -> Any:
    deep = kind([])
    for _ in range(5_000):
        deep = kind([deep])
    return deep


_NESTED = b"O" + struct.pack("<QBQ", 1, 1, 1)


def _typed(name: bytes) -> bytes:
    return b"A" + struct.pack("<Q", len(name)) + name + struct.pack("<BQQ", 1, 1, 8) + bytes(8)


@pytest.mark.parametrize(
    "hostile",
    [
        _typed(b"M8[s/0]"),  # ends the process, in NumPy
        _typed(b"(,)f4,f4"),
        _NESTED * 5_000 + b"N",  # so does freeing it
        b"t" + encode("2026-01-01") + encode(0) + encode("America"),
        b"t" + encode("2026-01-01") + encode(0) + encode("a" * 5_000),
    ],
    ids=["unit", "type", "arrays", "folder", "long"],
)
def test_bytes_that_hurt_are_errors(hostile: bytes) -> None:
    with pytest.raises(ValueError, match=r"no array is|nested more than|there is no time zone"):
        decode(hostile)


def test_arrays_that_are_nested_too_deep_are_refused() -> None:
    deep: Any = None
    for _ in range(100):
        array = np.empty(1, object)
        array[0], deep = deep, array
    assert encode(decode(encode([deep, deep]))) == encode([deep, deep])
    array = np.empty(1, object)
    array[0] = deep
    with pytest.raises(Unkept):
        encode(array)


@settings(max_examples=150)
@given(st.binary(max_size=60), st.sampled_from(VALUES), st.integers(0, 40), st.integers(0, 255))
def test_hostile_bytes_are_errors_or_values(data: bytes, value: Any, place: int, other: int) -> None:
    whole = encode([value, {"a": value}, np.arange(2)])
    changed = whole[:place] + bytes([other]) + whole[place + 1 :]
    for hostile in (data, changed, whole[:place]):
        try:
            decode(hostile)
        except (ValueError, TypeError, LookupError, ArithmeticError):
            continue


rows = st.fixed_dictionaries(
    {"k": st.sampled_from([1, 1.0, 2, None, "a", float("nan"), [1, 2]])},
    optional={"v": st.sampled_from([Decimal("1.0"), datetime(2026, 1, 1), {"x": [2**70]}])},
)
steps = st.one_of(
    st.tuples(st.just("insert"), st.sampled_from("st"), rows),
    st.tuples(st.just("delete"), st.sampled_from("st"), rows),
    st.tuples(st.just("update"), st.sampled_from("st"), rows, rows),
    st.tuples(st.just("reopen")),
)


def make(watch: tocsin.Watch, step: Any) -> str:
    what, *rest = step
    try:
        return repr(getattr(watch, what)(*rest))
    except EventError as error:
        return str(error)


def contents(watch: tocsin.Watch) -> str:
    return repr({table: watch.rows(table) for table in "st"})


@settings(max_examples=12)
@given(st.lists(steps, max_size=15))
def test_opened_again_it_goes_on_as_it_would_have(tmp_path_factory: Any, made: list[Any]) -> None:
    open_again(tmp_path_factory, made)


@pytest.mark.slow
@settings(max_examples=400)
@given(st.lists(steps, max_size=15))
def test_often_opened_again_it_goes_on_as_it_would_have(tmp_path_factory: Any, made: list[Any]) -> None:
    open_again(tmp_path_factory, made)


def open_again(tmp_path_factory: Any, made: list[Any]) -> None:
    folder = tmp_path_factory.mktemp("watch")
    (folder / "rules.sql").write_text(RULES)
    plain = tocsin.watch(folder / "rules.sql")
    watch = tocsin.watch(folder / "rules.sql", journal=folder / "j", sync="1 hour")
    for step in [*made, ("reopen",)]:
        if step[0] == "reopen":
            watch.close()
            watch = tocsin.watch(folder / "rules.sql", journal=folder / "j", sync="1 hour")
            assert contents(watch) == contents(plain)
        else:
            assert make(watch, step) == make(plain, step)
    watch.close()
    shutil.rmtree(folder)


def test_other_rules_find_the_same_rows(tmp_path: Path, rules: Path) -> None:
    with tocsin.watch(rules, journal=tmp_path / "j") as watch:
        watch.insert("s", {"k": 1})
    with pytest.raises(tocsin.RuleError):
        tocsin.watch([("bad", "k = = 1")], journal=tmp_path / "j")
    with tocsin.watch([("big", "k > 1")], journal=tmp_path / "j") as watch:
        assert watch.rows("s") == [{"k": 1}]
        assert watch.insert("s", {"k": 2})[0].rule == "big"
    with tocsin.watch(rules, journal=tmp_path / "j") as watch:
        assert [alert.text for alert in watch.insert("t", {"k": 2})] == ["2"]
    with pytest.raises(JournalError, match="that of a watch, not of an engine"):
        tocsin.open(tmp_path / "j")


def test_a_row_that_cannot_be_kept_changes_nothing(tmp_path: Path, rules: Path) -> None:
    with tocsin.watch(rules, journal=tmp_path / "j") as watch:
        with pytest.raises(
            EventError, match="field odd holds a value of type object, which a journal cannot keep"
        ):
            watch.insert("s", {"k": 1, "odd": object()})
        assert watch.rows("s") == []


def test_a_change_that_cannot_be_journalled_is_not_made(
    tmp_path: Path, rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    watch = tocsin.watch(rules, journal=tmp_path / "j")
    watch.insert("s", {"k": 1})
    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", fail)
        for step in (
            ("insert", "s", {"k": 2}),
            ("update", "s", {"k": 1}, {"k": 3}),
            ("delete", "s", {"k": 1}),
        ):
            with pytest.raises(JournalError, match="No space left"):
                make(watch, step)
        assert watch.rows("s") == [{"k": 1}]
    watch.insert("s", {"k": 2})
    watch.close()
    with pytest.raises(JournalError, match="is closed"):
        watch.insert("s", {"k": 3})
    with tocsin.watch(rules, journal=tmp_path / "j") as watch:
        assert watch.rows("s") == [{"k": 1}, {"k": 2}]


def test_snapshots_keep_it_short(tmp_path: Path, rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_log, "FLOOR", 2_000)
    with tocsin.watch(rules, journal=tmp_path / "j", sync="1 hour") as watch:
        for number in range(100):
            watch.insert("s", {"k": number})
            if number >= 10:
                watch.delete("s", {"k": number - 10})
        assert (tmp_path / "j" / "journal").stat().st_size < 6_000
    with tocsin.watch(rules, journal=tmp_path / "j") as watch:
        assert watch.rows("s") == [{"k": number} for number in range(90, 100)]


@pytest.mark.parametrize(
    "record",
    [
        *(
            [],
            ["+", 0, "s"],
            ["+", 0, "s", 5],
            ["-", 0, "s", None],
            ["?", 0, "s", {}],
            ["+", "0", "s", {}],
            7,
        ),
        *(
            ["+", 1 << 63, "s", {}],
            ["+", -1, "s", {}],
            ["+", _deep(list), "s", {}],
            [_deep(list), 0, "s", {}],
        ),
        ["+", 0, "s", {"k": _deep(frozenset)}],
    ],
    ids=range(12),
)
def test_a_record_that_makes_no_sense(tmp_path: Path, rules: Path, record: Any) -> None:
    log = RecordLog(tmp_path / "j", WATCH)
    log.rewrite([encode(record)])
    log.close()
    with pytest.raises(JournalError, match="cannot be understood") as caught:
        tocsin.watch(rules, journal=tmp_path / "j")
    assert caught.value.offset == 48
