"""tocsin explain."""

from __future__ import annotations

import pytest
from tests.cli.running import RULES, Command


@pytest.fixture(params=["rules.csv", "rules.tocsin"])
def rules(tocsin: Command, request: pytest.FixtureRequest) -> str:
    tocsin.file("rules.csv", RULES)
    assert tocsin("build", "rules.csv", "-o", "rules.tocsin").code == 0
    return str(request.param)


def test_a_match_and_a_miss(tocsin: Command, rules: str) -> None:
    ran = tocsin("explain", rules, "--rule", "young west", "--event", '{"age": 12, "state": "CA"}')
    assert ran.code == 0
    assert ran.out.startswith("young west matches\n")
    assert "age is 12" in ran.out
    ran = tocsin("explain", rules, "--rule", "young west", "--event", '{"age": 12}')
    assert ran.code == 0
    assert ran.out.startswith("young west does not match\n")
    assert "state is missing" in ran.out


def test_an_event_from_a_file_over_several_lines(tocsin: Command, rules: str) -> None:
    tocsin.file("event.json", b'\xef\xbb\xbf{\n  "age": 31\n}\n')
    ran = tocsin("explain", rules, "--rule", "adults", "--event", "@event.json")
    assert ran.out.startswith("adults matches\n")


def test_an_unknown_rule_suggests_the_nearest(tocsin: Command, rules: str) -> None:
    ran = tocsin("explain", rules, "--rule", "adult", "--event", "{}")
    assert ran == (1, "", "tocsin: there is no rule 'adult': did you mean 'adults'?\n")


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ('{"age": 3', "at character 10"),
        ("[1]", "not an object but a list"),
        ("", "empty"),
        ("null", "not an object"),
        ('{"a": 1} x', "at character 10"),
        ("[" * 100_000, "nested"),
    ],
)
def test_what_is_no_event(tocsin: Command, event: str, reason: str) -> None:
    tocsin.file("rules.csv", RULES)
    ran = tocsin("explain", "rules.csv", "--rule", "adults", "--event", event)
    assert ran.code == 1
    assert reason in ran.err


def test_a_trigger_with_an_alias(tocsin: Command) -> None:
    tocsin.file("rules.sql", "create trigger old from visits as v when v.age > 65;")
    ran = tocsin("explain", "rules.sql", "--rule", "old", "--event", '{"age": 70}')
    assert ran.out.startswith("old matches\n")


def test_the_mistakes_of_other_rules_do_not_matter_but_its_own_do(tocsin: Command) -> None:
    tocsin.file("rules.sql", "create trigger a when x = 1; create trigger b when x == 1;")
    assert tocsin("explain", "rules.sql", "--rule", "a", "--event", "{}").code == 0
    ran = tocsin("explain", "rules.sql", "--rule", "b", "--event", "{}")
    assert ran.code == 1
    assert "rules.sql:1:" in ran.err


def test_the_nearest_of_very_many(tocsin: Command) -> None:
    tocsin.file("rules.csv", "id,when\n" + "".join(f"rule{number},true\n" for number in range(30_000)))
    ran = tocsin("explain", "rules.csv", "--rule", "rule29999x", "--event", "{}")
    assert ran.err == "tocsin: there is no rule 'rule29999x': did you mean 'rule29999'?\n"
