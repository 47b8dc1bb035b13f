"""The Python loop says what conditions mean, on the plain events that it is for."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from tocsin.conditions.language import parse_condition
from tocsin.conditions.meaning import matches
from tocsin.errors import UsageError
from tocsin_lab import abe_gen
from tocsin_lab.exchange import campaigns, visits
from tocsin_lab.python_loop import PythonLoop

LISTS = frozenset({("tags",), ("user", "scores")})
PREDICATES = (
    "n = 5", "n < 5", "n <= 5", "n > 5", "n >= 5", "n in (1, 5, 7.5)", "n between 2 and 5", "n is null",
    "s = 'ab'", "s < 'b'", "s in ('ab', 'c')", "s between 'a' and 'b'", "s like 'a_%'", "s ilike 'A%'",
    "s matches '^a+'", "s is null", "flag", "flag = false", "flag < true", "cidr(ip, '10.0.0.0/8')",
    "cidr(ip, '::/0')", "at >= timestamp '2026-01-31T12:00:00Z'", "price <= 0.1", "tags = 'x'",
    "tags in ('x', 'y')", "tags like 'x%'", "tags is null", "user.scores > 3", "user.scores between 2 and 3",
    "true", "false",
)  # fmt: skip
EVENTS: tuple[dict[str, object], ...] = (
    {},
    {"n": 5, "s": "ab", "flag": True, "ip": "10.1.2.3", "tags": ["x", "z"], "user": {"scores": [1, 4]}},
    {"n": 5.5, "s": "", "flag": False, "ip": "::1", "tags": [], "user": {"scores": []}},
    {"n": float("nan"), "s": "Ab\n", "ip": "nowhere", "tags": None, "user": None},
    {"at": datetime(2026, 1, 31, 12, tzinfo=UTC), "price": Decimal("0.10"), "tags": ["xy", None]},
    {"at": "2026-01-31T11:59:59Z", "price": Decimal("0.11"), "user": {"scores": [2.5]}},
)


@pytest.mark.parametrize("predicate", PREDICATES)
@pytest.mark.parametrize(
    "form", ["{0}", "not {0}", "({0}) xor n < 9", "not (({0}) xnor not flag or s > 'a')"]
)
def test_a_condition_is_true_when_its_expression_is(predicate: str, form: str):
    text = form.format(predicate)
    loop = PythonLoop([text], LISTS)
    for event in EVENTS:
        expected = [0] if matches(parse_condition(text), event) else []
        assert loop.match(loop.prepare(event)) == expected, event


def test_a_field_of_two_kinds_is_refused():
    with pytest.raises(UsageError, match=r"user\.age is asked for values of several kinds"):
        PythonLoop(["user.age = 5", "user.age = 'five'"])


def test_an_expression_reaches_no_builtin_function():
    loop = PythonLoop(["s = '__import__(\"os\")'"])
    assert loop.match(loop.prepare({"s": '__import__("os")'})) == [0]


def test_the_workloads_are_plain():
    setting = abe_gen.Setting(expressions=300)
    rules, events = abe_gen.rules(setting), abe_gen.rows_of(abe_gen.events(setting, 20))
    exchange = campaigns(300), visits(20).to_pylist()
    for table, some, listed in (
        (rules, events, abe_gen.listed_fields(setting)),
        (*exchange, frozenset({("user", "interests"), ("site", "keywords")})),
    ):
        texts = table["when"].to_pylist()
        loop, conditions = PythonLoop(texts, listed), [parse_condition(text) for text in texts]
        for event in some:
            expected = [place for place, each in enumerate(conditions) if matches(each, event)]
            assert loop.match(loop.prepare(event)) == expected
