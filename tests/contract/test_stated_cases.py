"""Cases worked out by hand from the specification: what is true, what is false, what is unknown.

Unlike the random cases they do not trust conditions/meaning.py, which has to pass them too. A condition is
true when it matches, false when its negation does, and unknown when neither does.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from tests.contract.doors import indexed

TRUE, FALSE, UNKNOWN = "true", "false", "unknown"
NAN = float("nan")
T = "timestamp '2026-01-31T12:00:00Z'"


def verdict(found: set[str]) -> str:
    assert len(found) <= 1
    return {"holds": TRUE, "fails": FALSE}[found.pop()] if found else UNKNOWN


def rules_of(condition: str) -> list[tuple[str, str]]:
    return [("holds", condition), ("fails", f"not ({condition})")]


CASES: list[tuple[str, object, str]] = [
    # kinds, and what is missing
    ("x = 1", 1, TRUE),
    ("x = 1", 1.0, TRUE),
    ("x = 1.0", 1, TRUE),
    ("x = 1", True, UNKNOWN),
    ("x = 1", "1", UNKNOWN),
    ("x = 1", None, UNKNOWN),
    ("x = 1", NAN, UNKNOWN),
    ("x = 1", {"y": 1}, UNKNOWN),
    ("x is null", None, TRUE),
    ("x is null", NAN, TRUE),
    ("x is null", {}, FALSE),
    ("x is null", [], FALSE),
    ("x is null", [None, NAN], FALSE),
    ("x is null", [{}], FALSE),
    ("x", True, TRUE),
    ("x", False, FALSE),
    ("x", 1, UNKNOWN),
    ("x != true", False, TRUE),
    ("x < true", False, TRUE),
    ("x = 'true'", True, UNKNOWN),
    # numbers by value, integers of any size exactly
    ("x = 0", -0.0, TRUE),
    ("x = -0.0", 0, TRUE),
    ("x = 9007199254740993", 2**53 + 1, TRUE),
    ("x = 9007199254740993", 2**53, FALSE),
    ("x = 9007199254740993", float(2**53), FALSE),
    ("x > 9007199254740992", 2**53 + 1, TRUE),
    ("x >= 9007199254740993", float(2**53), FALSE),
    ("x < 9223372036854775807", 2**63 - 2, TRUE),
    ("x = 9223372036854775807", 2**63 - 1, TRUE),
    ("x > 9223372036854775807", 2**63, TRUE),
    ("x > 9223372036854775807", float(2**63), TRUE),
    ("x = -9223372036854775808", -(2**63), TRUE),
    ("x < -9223372036854775808", -(2**63) - 1, TRUE),
    ("x > 9223372036854775807", 2**64, TRUE),
    ("x > 1e29", 10**30, TRUE),
    ("x > 1e30", 10**30 + 10**15, TRUE),
    ("x < 1e308", 10**400, FALSE),
    ("x > 1e308", 10**400, TRUE),
    ("x > 1e308", float("inf"), TRUE),
    ("x < -1e308", -(10**400), TRUE),
    ("x = 0.1", 0.1, TRUE),
    ("x between 5 and 1", 3, FALSE),
    ("x between 1 and 5", 5, TRUE),
    ("x not between 1 and 5", 6, TRUE),
    ("x in (1, 2.0, 3)", 2, TRUE),
    ("x not in (1, 2)", 3, TRUE),
    ("x > 1e-400", 0, FALSE),
    # decimals compare with the literal's text
    ("x = 0.1", Decimal("0.1"), TRUE),
    ("x = 0.1", Decimal("0.10"), TRUE),
    ("x = 0.1", Decimal.from_float(0.1), FALSE),
    ("x < 0.1", Decimal("0.09999999999999999999999"), TRUE),
    ("x in (0.1, 0.2)", Decimal("0.2"), TRUE),
    ("x between 0.1 and 0.3", Decimal("0.30"), TRUE),
    ("x = 5", Decimal("5.00"), TRUE),
    ("x > 9007199254740992", Decimal("9007199254740992.5"), TRUE),
    ("x = 1", Decimal("NaN"), UNKNOWN),
    ("x > 1e300", Decimal("Infinity"), TRUE),
    ("x > 1e300", Decimal("1e5000"), TRUE),
    # strings, byte by byte in UTF-8
    ("x = ''", "", TRUE),
    ("x < 'a'", "", TRUE),
    ("x > 'Z'", "a", TRUE),
    ("x > '\uffff'", "\U0001f600", TRUE),
    ("x = 'é'", "e\u0301", FALSE),
    ("x = 'a\x00b'", "a\x00b", TRUE),
    ("x > 'a'", "a\x00", TRUE),
    ("x = 'it''s'", "it's", TRUE),
    # like, ilike, matches
    ("x like '%'", "", TRUE),
    ("x like '_'", "", FALSE),
    ("x like '_'", "😀", TRUE),
    ("x like '_'", "e\u0301", FALSE),
    ("x like 'a%c'", "a\n\nc", TRUE),
    ("x like 'a\\%c'", "a%c", TRUE),
    ("x like 'a\\%c'", "abc", FALSE),
    ("x like 'a\\_c'", "abc", FALSE),
    ("x like '\\a'", "a", TRUE),
    ("x like '%\\\\'", "a\\", TRUE),
    ("x like 'ABC'", "abc", FALSE),
    ("x ilike 'ABC'", "abc", TRUE),
    ("x ilike 'ß'", "ss", FALSE),
    ("x ilike 'ẞ'", "ẞ", TRUE),
    ("x ilike 'k'", "\u212a", TRUE),
    ("x ilike 'İ'", "i", FALSE),
    ("x ilike 'σ'", "ς", TRUE),
    ("x not like 'a%'", "b", TRUE),
    ("x not like 'a%'", 5, UNKNOWN),
    ("x matches 'b+'", "abbc", TRUE),
    ("x matches '^b'", "abbc", FALSE),
    ("x matches '^.$'", "😀", TRUE),
    ("x matches ''", "", TRUE),
    # addresses
    ("cidr(x, '10.0.0.0/8')", "10.255.0.1", TRUE),
    ("cidr(x, '10.0.0.0/8')", "::ffff:10.1.2.3", TRUE),
    ("cidr(x, '::ffff:10.0.0.0/104')", "10.1.2.3", TRUE),
    ("cidr(x, '10.0.0.0/8')", "11.0.0.0", FALSE),
    ("cidr(x, '10.0.0.0/8')", "::1", FALSE),
    ("cidr(x, '10.0.0.0/8')", "ten", UNKNOWN),
    ("cidr(x, '10.0.0.0/8')", 10, UNKNOWN),
    ("cidr(x, '2001:db8::/32')", "2001:DB8::1", TRUE),
    # timestamps
    (f"x = {T}", "2026-01-31T12:00:00Z", TRUE),
    (f"x = {T}", "2026-01-31T13:00:00+01:00", TRUE),
    (f"x < {T}", "2026-01-31T11:59:59.999999999Z", TRUE),
    (f"x = {T}", "2026-01-31", UNKNOWN),
    (f"x = {T}", "soon", UNKNOWN),
    (f"x = {T}", 1769860800, UNKNOWN),
    (f"x = {T}", datetime(2026, 1, 31, 12), TRUE),
    (f"x = {T}", datetime(2026, 1, 31, 12, tzinfo=UTC), TRUE),
    (f"x = {T}", datetime(2026, 1, 31, 7, tzinfo=timezone(timedelta(hours=-5))), TRUE),
    (f"x > {T}", np.datetime64("2026-01-31T12:00:00.000000001"), TRUE),
    ("x = timestamp '2026-01-31T00:00:00Z'", date(2026, 1, 31), TRUE),
    (f"x between {T} and timestamp '2026-02-01T00:00:00Z'", date(2026, 2, 1), TRUE),
    # lists: any element; negations: none; nulls dropped first; empty satisfies only negations
    ("x = 1", [1, 2], TRUE),
    ("x != 1", [1, 2], FALSE),
    ("x != 1", [2, 3], TRUE),
    ("x < 5", [3, 7], TRUE),
    ("not (x < 5)", [3, 7], FALSE),
    ("x >= 5", [3, 7], TRUE),
    ("x < 5 and x >= 5", [3, 7], TRUE),
    ("x between 4 and 6", [3, 7], FALSE),
    ("x >= 4 and x <= 6", [3, 7], TRUE),
    ("x = 1", [], FALSE),
    ("x != 1", [], TRUE),
    ("x not like 'a'", [], TRUE),
    ("cidr(x, '::/0')", [], FALSE),
    (f"x = {T}", [], FALSE),
    ("x", [], FALSE),
    ("x = 1", [None, NAN], FALSE),
    ("x = 1", ["a"], UNKNOWN),
    ("x != 1", ["a", True], UNKNOWN),
    ("x = 1", ["a", 1], TRUE),
    ("x = 1", ["a", 2], FALSE),
    ("x = 1", [{}], UNKNOWN),
    ("x = 1", [{}, 2], FALSE),
    ("x = 1", [[], [[1]]], TRUE),
    ("x = 1", [1, Decimal(2)], TRUE),
    ("x = 2", [1, Decimal(2)], TRUE),
    ("cidr(x, '10.0.0.0/8')", ["x", "11.0.0.1"], FALSE),
    ("cidr(x, '10.0.0.0/8')", ["x", "y"], UNKNOWN),
    # nested fields
    ("x.y = 1", {"y": 1}, TRUE),
    ("x.y = 1", {}, UNKNOWN),
    ("x.y is null", {}, TRUE),
    ("x.y is null", 5, TRUE),
    ("x.y = 1", [{"y": 1}, {"y": 2}, {}, 5], TRUE),
    ("x.y != 1", [{"y": 1}, {"y": 2}], FALSE),
    ("x.y is null", [{}, {"z": 1}], TRUE),
    ("x.y is null", [{"y": None}], TRUE),
    ("x.y is null", [], TRUE),
    ("x.y = 1", [{"y": [1, 2]}, {"y": []}], TRUE),
    ("x.y = 1", [{"y": []}], FALSE),
    ("x.y.z = 1", {"y": [{"z": 1}]}, TRUE),
    ('"x.y" = 1', {"y": 1}, UNKNOWN),
    # connectives: Kleene, and no complement law
    ("x = 1 or not x = 1", None, UNKNOWN),
    ("x = 1 and not x = 1", None, UNKNOWN),
    ("x = 1 or true", None, TRUE),
    ("x = 1 and false", None, FALSE),
    ("x = 1 or x is null", None, TRUE),
    ("x = 1 xor true", 1, FALSE),
    ("x = 1 xor true", None, UNKNOWN),
    ("x = 1 xor x = 1", 1, FALSE),
    ("x = 1 xor x = 1", None, UNKNOWN),
    ("x = 1 xnor x = 1", 2, TRUE),
    ("x = 1 xnor x = 1", None, UNKNOWN),
    ("x = 1 xor x = 1 xor x = 1", 1, TRUE),
    ("x = 1 xor x = 2 xor x = 3", 2, TRUE),
    ("x = 1 xor x < 5 xnor x > 0", 1, FALSE),
    ("true xor false xor true", 0, FALSE),
    ("(true xor true) or x = 1", 1, TRUE),
    ("(true xnor false) or x = 1", 1, TRUE),
    ("(true xor false) and x = 1", 2, FALSE),
    ("(true xor false xnor true) and (false xor true) and x = 1", 1, TRUE),
    ("not not not x = 1", 2, TRUE),
    ("true", None, TRUE),
    ("false", None, FALSE),
    ("not true or not false and true", None, TRUE),
    ("x = 1 or x = 2 and x = 3", 1, TRUE),
    ("x = 1 xor x = 1 and x = 2", 1, TRUE),
    ("not x = 1 and x = 2", 2, TRUE),
]


@pytest.mark.parametrize(("condition", "value", "truth"), CASES, ids=lambda part: str(part)[:60])
def test_events(engine: str, condition: str, value: object, truth: str) -> None:
    index = indexed(rules_of(condition), engine=engine)
    assert verdict({match.rule for match in index.match({"x": value})}) == truth


def test_all_cases_in_one_index(engine: str) -> None:
    rules = [
        (f"{number} {name}", text)
        for number, (condition, _, _) in enumerate(CASES)
        for name, text in rules_of(condition)
    ]
    index = indexed(rules, engine=engine)
    for number, (_, value, truth) in enumerate(CASES):
        found = {match.rule for match in index.match({"x": value})}
        mine = {name for name in ("holds", "fails") if f"{number} {name}" in found}
        assert verdict(mine) == truth, CASES[number]


ARROW_CASES: list[tuple[pa.DataType, object, str, str]] = [
    (pa.int8(), -128, "x = -128", TRUE),
    (pa.uint64(), 2**64 - 1, "x > 9223372036854775807", TRUE),
    (pa.uint64(), 2**53 + 1, "x = 9007199254740993", TRUE),
    (pa.int64(), 2**53 + 1, "x > 9007199254740992", TRUE),
    (pa.float32(), 0.1, "x = 0.1", FALSE),
    (pa.float32(), 0.1, "x > 0.1", TRUE),
    (pa.float16(), 0.5, "x = 0.5", TRUE),
    (pa.float64(), NAN, "x is null", TRUE),
    (pa.decimal128(5, 2), Decimal("0.10"), "x = 0.1", TRUE),
    (pa.decimal128(38, 20), Decimal("0.1"), "x = 0.1", TRUE),
    (pa.decimal256(76, 30), Decimal("0.1000000000000000000000001"), "x > 0.1", TRUE),
    (pa.decimal128(20, 0), Decimal(2**53 + 1), "x = 9007199254740993", TRUE),
    (pa.timestamp("s"), 1769860800, f"x = {T}", TRUE),
    (pa.timestamp("ms", "Asia/Kolkata"), 1769860800001, f"x > {T}", TRUE),
    (pa.timestamp("us"), 1769860799999999, f"x < {T}", TRUE),
    (pa.timestamp("ns", "UTC"), 1769860800000000001, f"x > {T}", TRUE),
    (pa.timestamp("us", "America/New_York"), 1769860800000000, f"x = {T}", TRUE),
    (pa.date32(), date(2026, 1, 31), "x = timestamp '2026-01-31T00:00:00Z'", TRUE),
    (pa.date64(), date(2026, 2, 1), f"x > {T}", TRUE),
    (pa.string_view(), "2026-01-31T12:00:00Z", f"x = {T}", TRUE),
    (pa.dictionary(pa.int8(), pa.string()), "a%c", "x like 'a\\%c'", TRUE),
    (pa.large_string(), "10.0.0.1", "cidr(x, '10.0.0.0/8')", TRUE),
    (pa.bool_(), True, "x", TRUE),
    (pa.bool_(), True, "x = 1", UNKNOWN),
    (pa.null(), None, "x is null", TRUE),
    (pa.list_(pa.int64()), [3, None, 7], "not (x < 5)", FALSE),
    (pa.large_list(pa.string()), [], "x != 'a'", TRUE),
    (pa.list_view(pa.float64()), [NAN, None], "x != 1", TRUE),
    (pa.list_(pa.int32(), 2), [1, 2], "x = 2", TRUE),
    (pa.list_(pa.list_(pa.int64())), [[], [1]], "x = 1", TRUE),
    (pa.struct([("y", pa.int64())]), {"y": 1}, "x.y = 1", TRUE),
    (pa.struct([("y", pa.int64())]), {"y": None}, "x is null or x.y is not null", FALSE),
    (pa.struct([("y", pa.int64())]), None, "x is null and x.y is null", TRUE),
    (pa.list_(pa.struct([("y", pa.string())])), [{"y": "a"}, None], "x.y = 'a'", TRUE),
    (pa.map_(pa.string(), pa.int64()), [("y", 1)], "x.y = 1", TRUE),
    (pa.map_(pa.string(), pa.int64()), [("y", 1), ("y", 2)], "x.y = 2", TRUE),
    (pa.map_(pa.string(), pa.int64()), [], "x.y is null and x is not null", TRUE),
]


@pytest.mark.filterwarnings("ignore:Encountered key")  # a map with a key twice: the last one wins
@pytest.mark.parametrize(
    ("kind", "value", "condition", "truth"), ARROW_CASES, ids=lambda part: str(part)[:60]
)
def test_tables(engine: str, kind: pa.DataType, value: object, condition: str, truth: str) -> None:
    index = indexed(rules_of(condition), engine=engine)
    column = pa.array([None, value, None], kind)
    result = index.match_table(pa.table({"x": column}))
    found = zip(result["event"].to_pylist(), result["rule"].to_pylist(), strict=True)
    assert verdict({rule for event, rule in found if event == 1}) == truth


def test_rules_come_in_their_order_and_events_in_theirs(engine: str) -> None:
    names = [f"r{number}" for number in (5, 3, 9, 1)]
    index = indexed([(name, f"x >= {number}") for number, name in enumerate(names)], engine=engine)
    assert [match.rule for match in index.match({"x": 2})] == names[:3]
    result = index.match_table(pa.table({"x": [3, -1, 0]}))
    assert result["event"].to_pylist() == [0, 0, 0, 0, 2]
    assert result["rule"].to_pylist() == [*names, names[0]]
    ids = pa.dictionary(pa.int32(), pa.string())
    assert result.schema == pa.schema([("event", pa.int64()), ("rule", ids), ("score", pa.float64())])
