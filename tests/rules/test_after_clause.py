"""What fires a trigger, and what `old` is: read, printed, refused."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tocsin
from tocsin.errors import RuleError, RuleErrors
from tocsin.rules import After, event_with, read_after
from tocsin.rules.after_clause import KINDS
from tocsin.rules.rule_files import rules_of_triggers
from tocsin.rules.triggers import parse_triggers

NAMES = st.text("aZ_ 9\".,'é", min_size=1, max_size=5) | st.sampled_from(["of", "to", "or", "old", "when"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(tuple)


@given(st.permutations(KINDS), st.integers(1, 3), st.lists(PATHS, max_size=3))
def test_what_is_printed_is_read_as_it_was(kinds: list[str], count: int, fields: list[Any]) -> None:
    chosen = tuple(kinds[:count])
    after = After(chosen, None, tuple(fields) if "update" in chosen else ())
    assert read_after(str(after)) == after


@pytest.mark.parametrize(
    ("clause", "after", "text"),
    [
        ("after update", After(("update",), "o"), "update"),
        ("after UPDATE OF a", After(("update",), "o", (("a",),)), "update of a"),
        ("after insert or update of o.a, b.c or delete to o", None, "insert or update of a, b.c or delete"),
        ('after delete or update of "of", "a b", "o"', None, 'delete or update of "a b", of, o'),
    ],
)
def test_kinds_of_change(clause: str, after: After | None, text: str) -> None:
    triggers, errors = parse_triggers(f"create trigger a from orders as o {clause} when o.x = 1;")
    assert errors == []
    (found,) = triggers
    assert found.after is not None
    if after is not None:
        assert found.after == after
    assert sorted(str(found.after).replace(", ", " ").split()) == sorted(text.replace(", ", " ").split())
    assert found.metadata()["after"] == str(found.after)


def test_without_from_and_without_to_it_is_any_table() -> None:
    (trigger,) = parse_triggers("create trigger a after insert or update when old.x != x;")[0]
    assert trigger.after == After(("insert", "update"))
    assert (trigger.aliases, trigger.sources, trigger.metadata()) == ((), (), {"after": "insert or update"})
    assert trigger.compares
    assert trigger.old_of == ""


@pytest.mark.parametrize(
    ("marked", "part"),
    [
        ("from t after update or ^when a;", "expected 'insert', 'update' or 'delete' after 'or'"),
        ("from t after update or ^update when a;", "'update' stands there twice"),
        ("from t after insert ^of a when a;", "'of' stands only behind 'update', not behind 'insert'"),
        ("from t after update of ^when a;", "expected a field after 'of'"),
        ("from t after update of a, ^when a;", "expected a field after ','"),
        ("from t after update of ^t when a;", "expected a field of the table whose updates"),
        ("from t, u after update of ^u.a to t when t.a = u.a;", "expected a field of the table whose"),
        ("from t after update of ^old.a when a;", "expected a field of the table whose updates"),
        ("from t, u after update ^when t.a = u.a;", "expected 'to' and the table's alias"),
        ("from t after update ^on t when a;", "expected 'to' and the table's alias"),
        ("from t as ^old after update when a;", "old is the row before the change"),
        ("after insert or delete to ^old when a;", "old is the row before the change"),
        ("from t, u as ^old after update to t when t.a = old.a;", "old is the row before the change"),
        ("from t after update when old ^= 1;", "old is the row before the change"),
        ("from t after update when ^OLD.a = 1;", "the row before the change is written old"),
        ('from t after update when ^"old".a = 1;', "a column of that name cannot be asked for"),
        ("from t after delete when ^t.old = 1;", "a column of that name cannot be asked for"),
        ("from t, u after update to t when ^t.old = u.a;", "a column of that name cannot be asked for"),
        ("from t, u after insert to t when ^old.a = u.a;", "there is no alias 'old'"),
        ("from t after update when a = ^b;", "a field cannot stand here"),
        ("from t after insert when old.a = ^b;", "a field cannot stand here"),
        ("from t after update when old.a = b ^= c;", "'=' cannot follow a comparison"),
        ("from t after update when old.a = ^;", "expected a value"),
        ("with (enabled = ^'no') when a;", "expected true or false, found 'no'"),
        ("with (enabled = ^0) when a;", "expected true or false, found 0"),
        ("with (throttle = '1 h', dedup = ^'x.a') from t, u after update to t when t.a = u.a;", "'x'"),
        ("from t, u after update to t when t.a = u.a do alert '{^older.a}';", "there is no alias 'older'"),
    ],
)
def test_one_mistake_gives_one_message_at_its_place(marked: str, part: str) -> None:
    before, after = f"create trigger t {marked}".split("^")
    triggers, errors = parse_triggers(before + after)
    assert triggers == []
    assert [error.column for error in errors] == [len(before) + 1]
    assert part in errors[0].reason


@pytest.mark.parametrize("text", ["", "lunch", "insert update", "update of", "insert or", "update to t"])
def test_what_a_table_of_rules_cannot_say(text: str) -> None:
    with pytest.raises((RuleError, RuleErrors)):
        read_after(text)


COMPARED = "create trigger r from t after update when old.a != a and b = 1;"
ASKED = "create trigger r from t after update when old.a = 1 and b = 1 do alert '{old.a}';"


def test_an_index_takes_old_fields_as_an_object_of_the_event_and_no_comparison_with_them() -> None:
    index = tocsin.build(rules_of_triggers(ASKED))
    assert [match.rule for match in index.match({"b": 1, "old": {"a": 1}})] == ["r"]
    assert not index.match({"b": 1, "a": 1})
    assert index.rule("r").when == "old.a = 1 and b = 1"
    for engine in ("atree", "scan"):
        with pytest.raises(RuleError, match=r"tocsin\.watch, or for a stream from PostgreSQL") as caught:
            tocsin.build(rules_of_triggers(COMPARED), engine=engine)
        assert (caught.value.rule, caught.value.line) == ("r", 1)


def test_a_trigger_is_the_same_after_json() -> None:
    from tocsin.spark.stream.rule_version import _trigger

    text = "create trigger r with (x = 1) from t as a after insert or update of a.b, c when old.b < b;"
    (trigger,) = parse_triggers(text)[0]
    assert _trigger(json.loads(json.dumps(asdict(trigger)))) == trigger


def test_the_event_has_the_row_before_in_it() -> None:
    assert event_with({"a": 1, "old": 2}, {"a": 3}) == {"a": 1, "old": {"a": 3}}
    assert event_with({"a": 1, "old": 2}, None) == {"a": 1}


def test_a_watch_tells_both_rows() -> None:
    watch = tocsin.watch(
        rules_of_triggers("""
            create trigger moved from t as a after update of s when old.s != s or s is null
              do alert '{old.s} to {a.s}';
            create trigger entered from t after insert or update
              when s = 'b' and (old.s != 'b' or old.s is null);
            create trigger off with (enabled = false) from t after insert or update or delete when true;
        """)
    )
    assert len(watch) == 3
    assert "off" in watch
    first, second, none = {"s": "a", "n": 1}, {"s": "b", "n": 1}, {"n": 1}
    assert watch.insert("t", first) == []
    told = watch.update("t", first, second)
    assert [(alert.rule, alert.text, alert.rows) for alert in told] == [
        ("moved", "a to b", {"a": second, "old": first}),
        ("entered", None, {"t": second, "old": first}),
    ]
    assert watch.update("t", second, {**second, "n": 2}) == []
    assert [alert.text for alert in watch.update("t", {**second, "n": 2}, none)] == ["b to null"]
    assert [alert.rows for alert in watch.insert("t", second)] == [{"t": second}]
    assert watch.delete("t", second) == []
    watch.remove("off")
    assert len(watch) == 2
