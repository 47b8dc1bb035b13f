from __future__ import annotations

import json
from pathlib import Path

import pytest

from tocsin import Rules, read_rules
from tocsin.conditions.language import (
    TEXT_TESTS,
    Condition,
    Predicate,
    parse_condition,
    threshold_text,
    with_threshold,
)
from tocsin.errors import InputError, UsageError
from tocsin.rules import rewritten


def place_of_text(condition: Condition) -> int:
    return next(
        place
        for step, place in zip(condition.steps, condition.places, strict=True)
        if isinstance(step, Predicate) and step.test in TEXT_TESTS
    )


def changed(text: str, threshold: str) -> str:
    return with_threshold(text, place_of_text(parse_condition(text)), threshold)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("contains(body, 'golf')", "contains(body, 'golf', 1.5)"),
        ("contains(body, 'golf', boolean)", "contains(body, 'golf', 1.5)"),
        ("contains(body, 'golf', 0.75)", "contains(body, 'golf', 1.5)"),
        ("CONTAINS( body ,'golf' , BOOLEAN ) and x", "CONTAINS( body ,'golf' , 1.5 ) and x"),
        ("tm_contains(\"a, 'b'\", 'it''s, ok' )", "tm_contains(\"a, 'b'\", 'it''s, ok', 1.5 )"),
        (
            "s = 'x' and contains(a.b, 'é',  -- 'old', 7\n 1e-3) or t = ','",
            "s = 'x' and contains(a.b, 'é',  -- 'old', 7\n 1.5) or t = ','",
        ),
    ],
)
def test_only_the_threshold_changes(text: str, expected: str) -> None:
    assert changed(text, "1.5") == expected
    parse_condition(expected)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1.0, "1"), (1.25, "1.25"), (1e-7, "1e-07"), (0.1 + 0.2, "0.30000000000000004")],
)
def test_a_threshold_is_a_number_of_the_language(value: float, text: str) -> None:
    assert threshold_text(value) == text
    assert float(text) == value
    parse_condition(f"contains(x, 'a', {text})")


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_what_is_no_threshold(value: float) -> None:
    with pytest.raises(UsageError, match="from 0 on"):
        threshold_text(value)


SQL = """\ufeff-- news\r
create trigger other when contains(body, 'golf', boolean);\r
create trigger golf with (note = 'contains(body, ''golf'', boolean)')\r
  from news as n\r
  when n.section = 'été' -- contains(body, 'golf')\r
    and contains(n.body, '"David Lee", golf', boolean)  -- wins\r
  do alert 'x';\r
"""
CSV = """\ufeffid,note,when\r
a,"one, two","contains(body, 'golf', boolean)"\r
\r
"multi
line",x,"x = 'é' and ""a b"" = 1 and contains(body, '""David Lee"", golf', boolean)"\r
"""
JSONL = """\ufeff{"id": "a", "when": "contains(body, 'golf', boolean)"}

{ "when" : "x" , "m": {"when": [1, "}"]}, "when":"contains(b, '\\u00e9, \\"David Lee\\"', boolean)" ,"id":7}
"""


@pytest.mark.parametrize(
    ("name", "text", "rule", "before", "after"),
    [
        ("rules.sql", SQL, "golf", "golf', boolean)  --", "golf', 1.25)  --"),
        ("rules.sql", SQL, "other", "golf', boolean);", "golf', 1.25);"),
        ("rules.csv", CSV, "multi\nline", '"", golf\', boolean)', '"", golf\', 1.25)'),
        ("rules.csv", CSV, "a", "(body, 'golf', boolean)", "(body, 'golf', 1.25)"),
        ("rules.jsonl", JSONL, "7", 'Lee\\"\', boolean)" ,', 'Lee\\"\', 1.25)" ,'),
        ("rules.jsonl", JSONL, "a", "(body, 'golf', boolean)", "(body, 'golf', 1.25)"),
    ],
)
def test_every_other_byte_stays(
    tmp_path: Path, name: str, text: str, rule: str, before: str, after: str
) -> None:
    file = tmp_path / name
    file.write_bytes(text.encode())
    rules = read_rules(file)
    row = rules.ids.to_pylist().index(rule)
    condition = changed(rules.whens[row].as_py(), "1.25")
    written = rewritten(file.read_bytes(), rules, row, condition)
    assert text.count(before) == 1
    assert written == text.replace(before, after).encode()
    file.write_bytes(written)
    again = read_rules(file)
    assert again.whens[row].as_py() == condition
    others = [place for place in range(len(rules)) if place != row]
    assert [again[place] for place in others] == [rules[place] for place in others]


@pytest.mark.parametrize("name", ["rules.sql", "rules.csv", "rules.jsonl"])
@pytest.mark.parametrize("now", [b"", b"\xff\xfe", b"id,when\n" * 9, b'{"id": 1', b"create\n\n\n\n\n\n"])
def test_a_file_that_has_changed_is_left_alone(tmp_path: Path, name: str, now: bytes) -> None:
    file = tmp_path / name
    file.write_bytes({"rules.sql": SQL, "rules.csv": CSV, "rules.jsonl": JSONL}[name].encode())
    rules = read_rules(file)
    with pytest.raises(InputError):
        rewritten(now, rules, 1, "true")


def test_what_cannot_be_rewritten() -> None:
    with pytest.raises(UsageError, match="comes from no file"):
        rewritten(b"", Rules.of([("r", "contains(x, 'a')")]), 0, "true")
    packed = json.dumps({"id": "r", "when": "x"}).encode()
    rules = Rules.of([("r", "x")])
    rules.files = ("rules.jsonl.gz",)
    with pytest.raises(UsageError, match="not packed ones"):
        rewritten(packed, rules, 0, "true")
