"""Contents of tables: a worker that begins from the disk at any moment goes on as if it had seen all."""

from __future__ import annotations

import json
import random
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import tocsin
from tocsin import Alert, Dictionary
from tocsin.conditions.live import Preparation
from tocsin.errors import InputError
from tocsin.events import json_text
from tocsin.rules import Trigger
from tocsin.rules.rule_files import rules_of_triggers
from tocsin.spark.postgres.change_files import (
    Change,
    ChangeWriter,
    changes_files,
    changes_name,
    contents_folders,
    forget,
)
from tocsin.spark.postgres.joined_events import _Action
from tocsin.spark.postgres.mirrored_tables import Contents
from tocsin.spark.postgres.postgres_address import TableName
from tocsin.spark.stream.rule_version import set_aside

TABLES = (TableName("public", "a"), TableName("sales", "b"))
TYPES = json.dumps({"k": "int4", "v": "numeric"})
TEXT = """
create trigger pairs from a, "sales.b" as b when a.k = b.k and a.v > b.v do alert '{a.v} over {b.v}';
create trigger left_gone from a, b after delete to a when a.k = b.k;
create trigger moved from a as x, b as y after update to y when x.k = y.k and y.v >= 2;
"""


def _triggers(text: str = TEXT) -> list[Trigger]:
    return set_aside(rules_of_triggers(text), lambda _: True)[1]


def _change(lsn: int, row: int, table: str, op: str, old: Any = None, new: Any = None) -> Change:
    old, new = (None if side is None else json.dumps(side) for side in (old, new))
    return Change(lsn, row, 1, 0, table, op, TYPES, old, new, True)


def _history(seed: int, count: int) -> list[list[Change]]:
    """Random batches of changes of rows that are there."""
    chance = random.Random(seed)
    present: dict[str, list[dict[str, int]]] = {str(table): [] for table in TABLES}
    batches: list[list[Change]] = []
    lsn = 100
    for _ in range(count):
        batch: list[Change] = []
        for _ in range(chance.randint(1, 3)):
            lsn += 10
            for row in range(chance.randint(1, 4)):
                table = chance.choice(list(present))
                rows = present[table]
                op = chance.choice(
                    [
                        "insert",
                        "insert",
                        "update",
                        "delete",
                        "truncate" if chance.random() < 0.1 else "insert",
                    ]
                )
                new = {"k": chance.randint(1, 3), "v": chance.randint(0, 4)}
                if op == "truncate":
                    rows.clear()
                    batch.append(_change(lsn, row, table, op))
                elif op == "insert" or not rows:
                    rows.append(new)
                    batch.append(_change(lsn, row, table, "insert", new=new))
                else:
                    old = rows.pop(chance.randrange(len(rows)))
                    rows += [new] if op == "update" else []
                    batch.append(_change(lsn, row, table, op, old, new if op == "update" else None))
        batches.append(batch)
    return batches


def _write(folder: Path, batch: list[Change]) -> None:
    writer = ChangeWriter(folder / "changes")
    for change in batch:
        writer.add(change)
    writer.finish(changes_name(batch[0].lsn, batch[-1].lsn + 1))


def _shown(alerts: list[Alert]) -> Counter[str]:
    return Counter(f"{alert.rule} {json_text(alert.rows)} {alert.text}" for alert in alerts)


def _of_batch(contents: Contents, batch: list[Change]) -> Counter[str]:
    """As a task does it."""
    contents.go_to((batch[0].lsn, batch[0].row))
    contents.watch(_triggers())
    return sum((_shown(contents.apply(change._asdict())) for change in batch), Counter())


@pytest.mark.parametrize("seed", range(6))
def test_any_worker_at_any_time_tells_the_same(tmp_path: Path, seed: int) -> None:
    folder, chance = tmp_path, random.Random(seed)
    batches = _history(seed, 10)
    watch = tocsin.watch(rules_of_triggers(TEXT.replace('"sales.b"', "b")))
    workers = [Contents(folder, TABLES) for _ in range(2)]
    for batch in batches:
        expected: Counter[str] = Counter()
        for change in batch:
            table, old, new = change.table.split(".")[1], change.old, change.new
            if change.op == "truncate":
                for row in watch.rows(table):
                    watch.delete(table, row)
            elif change.op == "insert":
                expected += _shown(watch.insert(table, json.loads(new or "")))
            elif change.op == "delete":
                expected += _shown(watch.delete(table, json.loads(old or "")))
            else:
                expected += _shown(watch.update(table, json.loads(old or ""), json.loads(new or "")))
        _write(folder, batch)
        for _ in range(chance.choice([1, 2])):  # done again, perhaps by another
            if chance.random() < 0.3:
                workers[chance.choice([0, 1])] = Contents(folder, TABLES)
            worker = chance.choice(workers)
            found = _of_batch(worker, batch)
            assert found == expected
        if chance.random() < 0.3:
            worker.save(batch[-1].lsn + 1)
            forget(folder, batch[-1].lsn + 1)
            assert changes_files(folder / "changes") == []
            assert len(contents_folders(folder)) == 1


def test_changes_that_a_batch_may_still_need_are_kept(tmp_path: Path) -> None:
    first, second, third = _history(1, 3)
    for batch in (first, second, third):
        _write(tmp_path, batch)
    contents = Contents(tmp_path, TABLES)
    contents.go_to((second[0].lsn, 0))
    contents.save(second[0].lsn)
    forget(tmp_path, first[0].lsn)  # what was saved is beyond what is done
    assert len(changes_files(tmp_path / "changes")) == 3
    forget(tmp_path, second[0].lsn)
    assert len(changes_files(tmp_path / "changes")) == 2


def test_a_row_that_cannot_be_read_is_not_missed(tmp_path: Path) -> None:
    types = json.dumps({"k": "int4", "d": "json"})
    bad = '{"k": 1, "d": "\\ud800"}'
    good = '{"k": 1, "d": 0}'
    base = Change(1, 0, 1, 0, "public.a", "insert", types, None, bad, True)
    contents = Contents(tmp_path, TABLES)
    contents.go_to((1, 0))
    with pytest.raises(ValueError, match="surrogate"):
        contents.apply(base._asdict())
    contents.save(2)
    for each in (contents, Contents(tmp_path, TABLES)):
        each.go_to((2, 0))
        assert each.apply(base._replace(lsn=2, op="update", old=bad, new=good)._asdict()) == []
        assert each.apply(base._replace(lsn=3, op="delete", old=good, new=None)._asdict()) == []


def test_free_text_goes_by_the_dictionaries_of_the_rules(tmp_path: Path) -> None:
    text = """create trigger told from a, "sales.b" as b after insert to a
        when a.k = b.k and contains(a.v, 'golf, trophy, the');"""
    words = Dictionary.of_counts({"golf": 1, "trophy": 4}, 8)
    types = json.dumps({"k": "int4", "v": "text"})
    document = {"k": 1, "v": "the golf trophy"}
    partner = Change(1, 0, 1, 0, "sales.b", "insert", types, None, json.dumps({"k": 1}), True)
    told = Change(2, 0, 1, 0, "public.a", "insert", types, None, json.dumps(document), True)
    contents = Contents(tmp_path, TABLES)
    contents.go_to((1, 0))
    contents.watch(_triggers(text))
    contents.apply(partner._asdict())
    for lsn, (words_of, stop_words) in enumerate([({}, ()), ({"v": words}, ()), ({"v": words}, ("the",))], 2):
        watch = tocsin.watch(rules_of_triggers(text), dictionaries=words_of, stop_words=stop_words)
        watch.insert("sales.b", {"k": 1})
        (expected,) = watch.insert("a", document)
        contents.weigh_by(Preparation.of(None, words_of, stop_words).base)
        contents.watch(_triggers(text))
        (alert,) = contents.apply(told._replace(lsn=lsn)._asdict())
        assert (alert.score, alert.rows) == (expected.score, expected.rows)


def test_a_row_that_was_never_there_stops_the_stream(tmp_path: Path) -> None:
    contents = Contents(tmp_path, TABLES)
    contents.go_to((1, 0))
    with pytest.raises(InputError, match=r"a row of public\.a has changed that the stream has never seen"):
        contents.apply(_change(1, 0, "public.a", "delete", {"k": 1, "v": 1})._asdict())


@pytest.mark.parametrize("op", ["update", "delete"])
def test_a_change_that_does_not_tell_the_row_stops_the_stream(tmp_path: Path, op: str) -> None:
    contents = Contents(tmp_path, TABLES)
    contents.go_to((1, 0))
    contents.apply(_change(1, 0, "public.a", "insert", None, {"k": 1, "v": 1})._asdict())
    change = _change(2, 0, "public.a", op, {"k": 1}, {"k": 1, "v": 2})._replace(whole=False)
    for each in (change, change._replace(old=None, whole=True)):
        with pytest.raises(InputError, match=r"REPLICA IDENTITY FULL.* with a new checkpoint"):
            contents.apply(each._asdict())


def test_dedup_by_the_row_before() -> None:
    rows = {"a": {"v": 1}, "b": {"v": 2}, "old": {"v": 3}}
    for dedup, tables, value in (
        ("old.v", "a, b", "3"),
        ("b.v", "a, b", "2"),
        ("old.v", "a", "3"),
        ("v", "a", "1"),
        ("a.v", "a", "1"),
    ):
        options = f"with (throttle = '1 hour', dedup = '{dedup}')"
        join = "a.k = b.k and old.v = 1" if "b" in tables else "old.v != v"
        text = f"create trigger t {options} from {tables} after update to a when {join};"
        assert _Action(_triggers(text)[0]).value(Alert("t", rows, None, None)) == value


def test_equal_numbers_are_one_dedup_value() -> None:
    text = "create trigger t with (throttle = '1 hour', dedup = 'b.v') from a, b when a.k = b.k;"
    action = _Action(_triggers(text)[0])
    values = [1, 1.0, Decimal("1.00"), Decimal("1.5"), Decimal("1.50"), "1", None]
    found = [action.value(Alert("t", {"a": {}, "b": {"v": value}}, None, None)) for value in values]
    assert found == ["1", "1", "1", "1.5", "1.5", '"1"', None]
