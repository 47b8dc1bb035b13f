"""The text of an alert, cut into what is written and what is filled in."""

from __future__ import annotations

from tocsin.grammar.alert_texts import FieldPart, ScorePart, read_alert


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
