"""The text of an alert, cut into what is written and what is filled in."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tocsin.rules import FieldPart, ScorePart, read_alert
from tocsin.rules.alert_texts import misread_alerts


def test_fields_with_and_without_their_alias() -> None:
    parts, problems = read_alert('by {l.user.name} ({ip}), {score}{l."a.b"}', ["l"])
    assert problems == []
    assert parts == [
        "by ",
        FieldPart("l", ("user", "name")),
        " (",
        FieldPart("l", ("ip",)),
        "), ",
        ScorePart(),
        FieldPart("l", ("a.b",)),
    ]


def test_a_rule_without_a_table() -> None:
    assert read_alert("{l.ip}", []) == ([FieldPart(None, ("l", "ip"))], [])


def test_what_is_no_field_is_text() -> None:
    for text in ("{}", "{ }", "{5}", "{a b}", "{a.}", '{"a": 1}', "a } b {", "{{", "{l}", "{'a'}"):
        assert read_alert(text, ["l"]) == ([text], [])
    assert read_alert("{{a}}", ["l"]) == (["{", FieldPart("l", ("a",)), "}"], [])
    assert read_alert("", ["l"]) == ([], [])


def test_several_aliases() -> None:
    assert read_alert("{a.x}{b.y.z} {not one}", ["a", "b"]) == (
        [FieldPart("a", ("x",)), FieldPart("b", ("y", "z")), " {not one}"],
        [],
    )
    problems = read_alert("{c.x} {y} {a}", ["a", "b"])[1]
    assert [place for place, _ in problems] == [1, 7, 12]


def test_texts_in_the_metadata_of_many_rules() -> None:
    def wrong(**columns: list[Any]) -> dict[int, str]:
        return misread_alerts(pa.table(columns))

    assert misread_alerts(None) == {}
    assert wrong(severity=["high"]) == {}
    assert wrong(alert=["{a.x}", None, "{", ""]) == {}
    assert wrong(alert=[404, None]) == {0: "alert: expected a text, found 404"}
    assert wrong(alert=[None, ["a"]]) == {1: "alert: expected a text, found ['a']"}
    tables: dict[str, list[Any]] = {"table": ["s, t"] * 4, "alias": ["a, b"] * 3 + [None]}
    found = wrong(alert=["{a.x} {b.y}", "{c.x}", None, "{c.x}"], **tables)
    assert list(found) == [1]
    assert found[1].startswith("alert: ")
    assert read_alert("{c.x}", ["a", "b"])[1][0][1] in found[1]
    # One table, with a comma in its name.
    assert wrong(alert=["{c.x}"], table=["s"], alias=["a, b"]) == {}
