from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tocsin
from tocsin import Rules, read_rules
from tocsin.errors import RuleError, RuleErrors
from tocsin.rules import dedup_text, parse_throttle, read_dedup, read_throttles
from tocsin.rules.throttles import LONELY_DEDUP
from tocsin.rules.triggers import parse_triggers

SECOND = 1_000_000
LENGTHS = {"millisecond": 1000, "second": SECOND, "minute": 60 * SECOND, "hour": 3600 * SECOND}
LENGTHS |= {"day": 86_400 * SECOND, "week": 604_800 * SECOND}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10 minutes", 600),
        ("1 minute", 60),
        ("90s", 90),
        (" 90  Seconds ", 90),
        ("1.5 hours", 5400),
        ("1h30m", 5400),
        ("1 day 12 hours", 129_600),
        ("2 weeks", 1_209_600),
        ("250ms", 0.25),
        ("36500 days", 36_500 * 86_400),
    ],
)
def test_lengths_of_time(text: str, seconds: float) -> None:
    assert parse_throttle(text) == seconds * SECOND


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("", "expected a length of time such as '10 minutes', found ''"),
        ("soon", "expected a length of time such as '10 minutes', found 'soon'"),
        ("-5 minutes", "expected a length of time such as '10 minutes', found '-5 minutes'"),
        ("5 minutes later", "expected a length of time such as '10 minutes', found '5 minutes later'"),
        ("600", "expected a unit after 600: milliseconds, seconds, minutes, hours, days or weeks"),
        (
            "1 month",
            "'month' is not a unit here: expected milliseconds, seconds, minutes, hours, days or weeks",
        ),
        ("1 hour 2 hours", "the unit 'hours' is given twice"),
        ("0 seconds", "a throttle is longer than nothing, and at most 36,500 days"),
        ("6000 weeks", "a throttle is longer than nothing, and at most 36,500 days"),
        ("0.0000001 seconds", "a throttle is a whole number of microseconds"),
        (
            600,
            "expected a length of time such as '10 minutes', found 600: it is written as text, with its unit",
        ),
    ],
)
def test_what_is_no_length_of_time(value: object, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}$"):
        parse_throttle(value)


@given(st.dictionaries(st.sampled_from(sorted(LENGTHS)), st.integers(1, 99), min_size=1))
def test_parts_add_up(parts: dict[str, int]) -> None:
    total = sum(LENGTHS[unit] * number for unit, number in parts.items())
    spaced = " ".join(f"{number} {unit}{'s' if number > 1 else ''}" for unit, number in parts.items())
    close = "".join(f"{number}{'ms' if unit == 'millisecond' else unit[0]}" for unit, number in parts.items())
    assert (parse_throttle(spaced), parse_throttle(close)) == (total, total)


@given(st.text(max_size=30))
def test_any_text_is_a_length_or_an_error(text: str) -> None:
    try:
        length = parse_throttle(text)
    except ValueError:
        return
    assert length > 0


def test_a_dedup_is_a_field() -> None:
    assert read_dedup("user.name") == (("user", "name"), [])
    assert read_dedup('"first name".x', ["l"]) == (("first name", "x"), [])
    assert read_dedup("l.ip", ["l"]) == (("ip",), [])
    assert read_dedup("after") == (("after",), [])
    assert read_dedup("v.ip", ["l", "v"]) == (("v", "ip"), [])
    assert read_dedup("ip", ["l", "v"])[0] is None
    for wrong in ("", "a b", "a.", "'a'", "a, b", "a = 1"):
        path, problems = read_dedup(wrong)
        assert path is None
        assert len(problems) == 1


def test_equal_numbers_are_one_value() -> None:
    same = ["1", "1.0", "1e0", "10E-1"]
    assert {dedup_text(text) for text in same} == {"1"}
    assert dedup_text("-0.0") == dedup_text("0") == "0"
    assert dedup_text("1e22") == str(10**22)
    assert dedup_text("0.50") == dedup_text("0.5") == dedup_text("5E-1") == "0.5"
    large = [f"{10**20 + number}.0000000000" for number in range(3)]  # as a decimal(38, 10) has them
    assert [dedup_text(text) for text in large] == [str(10**20 + number) for number in range(3)]
    assert dedup_text(f"0.{10**37 + 1}0") == f"0.{10**37 + 1}"
    assert {dedup_text(text) for text in ("1.5", "1.50", "15e-1")} == {"1.5"}
    long = "100000000000000000.5"
    assert dedup_text(long) == dedup_text(long + "00") != dedup_text("100000000000000000.0")
    many = "0." + "1" * 3_000
    assert dedup_text(many + "0") == many != dedup_text(many + "1")
    assert dedup_text("1e-99999999999999999999") == "1e-99999999999999999999"
    for apart in ('"1.0"', "1.5", "true", "false", '{"a": 1.0}', "[1.0]", "1e400", '"text.e"', "12"):
        assert dedup_text(apart) == apart


def test_a_trigger_says_where_it_is_wrong() -> None:
    text = """\
create trigger a with (throttle = '10 minuets') when x;
create trigger b
  with (dedup = 'ip')
  when x;
create trigger c with (throttle = 600, dedup = 'a b') when x;
create trigger d with (throttle = '1 hour', dedup = 'ip', severity = 'high') from t as l when l.x and;
create trigger e with (throttle = '1 hour', dedup = 'ip') from t, u when t.x = u.x;
"""
    triggers, errors = parse_triggers(text, "f.sql")
    assert triggers == []
    assert [(error.rule, error.line, error.column, error.reason) for error in errors] == [
        (
            "a",
            1,
            35,
            "'minuets' is not a unit here: expected milliseconds, seconds, minutes, hours, days or weeks",
        ),
        ("b", 3, 17, LONELY_DEDUP),
        (
            "c",
            5,
            35,
            "expected a length of time such as '10 minutes', found 600: it is written as text, with its unit",
        ),
        ("c", 5, 51, "expected the end of the field's name after 'a', found 'b'"),
        ("d", 6, 102, "expected a condition after 'and', found ';'"),
        ("e", 7, 53, "'ip' has no alias: with several tables a field starts with 't' or 'u'"),
    ]


def test_the_metadata_of_a_trigger_names_the_field_without_its_table() -> None:
    text = """\
create trigger a with (throttle = '1 h', dedup = 'l."a.b".c') from logins as l when l.x;
create trigger b with (throttle = '1 h', dedup = 'l.x') after insert to l when l.x;
create trigger c with (throttle = '1 h', dedup = 'u.x') from t, u when t.x = u.x;
"""
    triggers, errors = parse_triggers(text)
    assert errors == []
    assert [trigger.metadata()["dedup"] for trigger in triggers] == ['"a.b".c', "x", "u.x"]
    assert triggers[0].metadata()["throttle"] == "1 h"


def errors_of(*paths: Path) -> list[tuple[str | None, int | None, str]]:
    with pytest.raises(RuleError) as caught:
        read_rules(*paths)
    errors = caught.value.errors if isinstance(caught.value, RuleErrors) else [caught.value]
    return [(error.rule, error.line, error.reason) for error in errors]


def test_tables_of_rules(tmp_path: Path) -> None:
    csv = tmp_path / "a.csv"
    csv.write_text('id,when,throttle,dedup\nr1,x,,\nr2,x,1 h,ip\nr3,x,"","  "\nr4,x,1 hour,\n')
    throttles, wrong = read_throttles(read_rules(csv).metadata, 4)
    assert wrong == {}
    assert throttles.length.tolist() == [0, 3600 * SECOND, 0, 3600 * SECOND]
    assert throttles.field.tolist() == [-1, 0, -1, -1]
    assert throttles.fields == (("ip",),)
    assert throttles.any
    csv.write_text("id,when,throttle,dedup\nr1,x,1 hour,\nr2,x,,ip\nr3,x,5 min,a b\nr4,x,5,\n")
    no_unit = "throttle: expected a unit after 5: milliseconds, seconds, minutes, hours, days or weeks"
    assert errors_of(csv) == [
        ("r2", 3, LONELY_DEDUP),
        ("r3", 4, "dedup: expected the end of the field's name after 'a', found 'b'"),
        ("r4", 5, no_unit),
    ]
    good = read_rules(csv, skip_bad=True)
    assert good.ids.to_pylist() == ["r1"]
    assert [error.rule for error in good.rejected] == ["r2", "r3", "r4"]
    jsonl = tmp_path / "b.jsonl"
    jsonl.write_text('{"id": 1, "when": "x", "throttle": 600}\n{"id": 2, "when": "x", "throttle": 600}\n')
    assert [rule for rule, _, _ in errors_of(jsonl)] == ["1", "2"]
    parquet = tmp_path / "c.parquet"
    pq.write_table(pa.table({"id": ["a"], "when": ["x"], "throttle": [["1 hour"]]}), parquet)
    assert [rule for rule, _, _ in errors_of(parquet)] == ["a"]


@given(
    st.lists(
        st.tuples(st.sampled_from([None, "", "1 h", "2 min", "x"]), st.sampled_from([None, "a", "b.c", "?"])),
        max_size=20,
    )
)
def test_columns_are_read_as_each_rule_alone(cells: list[tuple[str | None, str | None]]) -> None:
    metadata = pa.table({"throttle": [one for one, _ in cells], "dedup": [two for _, two in cells]})
    throttles, wrong = read_throttles(metadata, len(cells))
    for row, (throttle, dedup) in enumerate(cells):
        expected: Any = None
        if throttle not in ("x",) and dedup != "?" and (dedup is None or throttle):
            expected = parse_throttle(throttle) if throttle else 0
        assert (row in wrong) == (expected is None)
        if expected is not None:
            assert throttles.length[row] == expected
            named = None if throttles.field[row] < 0 else throttles.fields[throttles.field[row]]
            assert named == (None if dedup is None else read_dedup(dedup)[0])


def test_rules_that_change_in_an_index() -> None:
    index = tocsin.build(Rules.of(pa.table({"id": ["a"], "when": ["x = 1"], "throttle": ["1 day"]})))
    index.insert("b", "x = 2", metadata={"throttle": "5 minutes", "dedup": "ip"})
    with pytest.raises(RuleError, match="throttle: expected a length of time"):
        index.insert("c", "x = 2", metadata={"throttle": 5})
    with pytest.raises(RuleError, match="needs a 'throttle'"):
        index.replace("b", "x = 2", metadata={"dedup": "ip"})
    assert (len(index), index.rule("b").metadata) == (2, {"throttle": "5 minutes", "dedup": "ip"})
