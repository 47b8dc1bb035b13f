from __future__ import annotations

import pytest

from tocsin.conditions.language import Checker, parse_condition
from tocsin.events import Kind, Schema

SCHEMA = Schema(
    kinds={
        ("age",): frozenset({Kind.NUMBER}),
        ("name",): frozenset({Kind.STRING}),
        ("mixed",): frozenset({Kind.NUMBER, Kind.STRING}),
        ("at",): frozenset({Kind.TIMESTAMP}),
        ("user",): frozenset(),
        ("user", "country"): frozenset({Kind.STRING}),
        ("user", "active"): frozenset({Kind.BOOLEAN}),
        ("labels",): frozenset(),
    },
    open=frozenset({("labels",)}),
)


@pytest.mark.parametrize(
    "text",
    [
        "age = 1 and age in (1, 2.5) and age between 1 and 2",
        "name like 'a%' and name matches 'b' and cidr(name, '::/0') and name > 'c'",
        "at > timestamp '2020-01-01T00:00:00Z' and name < timestamp '2020-01-01T00:00:00Z'",
        "mixed = 1 or mixed = 'x'",
        "user is null or user.country is not null or age is null",
        "user.active",
        "labels.anything = 1 and labels.any.thing like 'x' and labels is not null",
    ],
)
def test_what_is_right(text: str) -> None:
    assert Checker(SCHEMA).condition(parse_condition(text)) == []


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("aeg = 1", "there is no field aeg: did you mean age?"),
        ("Age = 1", "did you mean age?"),
        ("country = 'DE'", "did you mean user.country?"),
        ("user.contry = 'DE'", "did you mean user.country?"),
        ("users.country = 'DE'", "did you mean user.country?"),
        ("age.x is null", "there is no field age.x"),
        ("zzzzzz = 1", "there is no field zzzzzz"),
        ("age = 'x'", "the field age holds a number, and '=' asks here for a string"),
        ("age != 'x'", "asks here for a string"),
        ("age like 'x'", "the field age holds a number, and 'like' asks here for a string"),
        ("cidr(age, '::/0')", "'cidr' asks here for a string"),
        ("age", "a Boolean"),
        ("name in (1, 2)", "the field name holds a string, and 'in' asks here for a number"),
        ("at = '2020-01-01T00:00:00Z'", "the field at holds a timestamp"),
        ("age > timestamp '2020-01-01T00:00:00Z'", "a timestamp"),
        ("mixed = true", "holds a number or a string"),
        ("user = 1", "is an object"),
        ("labels = 1", "is an object"),
    ],
)
def test_what_is_wrong(text: str, part: str) -> None:
    condition = parse_condition(text)
    found = Checker(SCHEMA).condition(condition)
    assert len(found) == 1
    assert part in found[0][1]
    assert Checker(SCHEMA).predicate(next(condition.predicates())) == found[0][1]


def test_every_wrong_predicate_is_reported_at_its_place() -> None:
    text = "age = 'x' or not (nmae like 'y' and user.active and name = 2)"
    found = Checker(SCHEMA).condition(parse_condition(text))
    assert [place for place, _ in found] == [0, text.index("nmae"), text.index("name")]


def test_no_suggestion_where_nothing_is_near() -> None:
    for text in ("zzzzzz = 1", '"' + "a" * 100_000 + '" = 1'):
        [(_, reason)] = Checker(SCHEMA).condition(parse_condition(text))
        assert "did you mean" not in reason
