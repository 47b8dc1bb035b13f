"""A saved and reopened index is the index that was saved."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.cases import make_conditions, make_event
from tests.contract.doors import built, by_event, by_table, expected, indexed
from tests.typed_tables import make_table

import tocsin
from tocsin.saved import open_rules

pytestmark = pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("verify", [True, False])
def test_the_same_matches(seed: int, verify: bool, tmp_path: Path, engine: str) -> None:
    rng = random.Random(seed)
    rules = [(f"r{number}", each) for number, each in enumerate(make_conditions(rng, rng.choice([1, 8, 80])))]
    path = tmp_path / "rules.tocsin"
    built(rules, engine).save(path)
    index = open_rules(path, verify=verify)
    assert index.engine == engine
    events = [make_event(rng) for _ in range(15)]
    assert by_event(index, events) == expected(rules, events)
    table, rows = make_table(rng, 15)
    assert by_table(index, table) == expected(rules, rows)
    second = tmp_path / "again.tocsin"
    index.save(second)
    assert by_event(open_rules(second), events) == expected(rules, events)


def test_everything_else_is_kept(tmp_path: Path, engine: str) -> None:
    table = pa.table(
        {
            "id": ["a", "b", "☃"],
            "when": ["x = 1 -- one", "not (y like 'é%')", "x = 1"],
            "severity": ["high", None, "low"],
            "cost": [1.5, 2.5, None],
        }
    )
    index = indexed(table, engine)
    path = tmp_path / "rules.tocsin"
    index.save(path)
    reopened = tocsin.open(path)
    for name in ("a", "b", "☃"):
        assert name in reopened
        assert reopened.rule(name) == index.rule(name)
        event = {"x": 1, "y": "éa"}
        assert str(reopened.explain(name, event)) == str(index.explain(name, event))
    assert reopened.rule("a").metadata == {"severity": "high", "cost": 1.5}
    assert reopened.rule("b").when == "not (y like 'é%')"
    assert len(reopened) == 3
    assert "c" not in reopened
    assert reopened.fields == index.fields
    assert str(reopened.stats()) == str(index.stats())
    with pytest.raises(KeyError):
        reopened.rule("c")


def test_no_rules_at_all(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "none.tocsin"
    indexed([], engine).save(path)
    reopened: Any = tocsin.open(path)
    assert len(reopened) == 0
    assert list(reopened.match({"a": 1})) == []
    assert reopened.match_table(pa.table({"a": [1, 2]})).num_rows == 0


def test_free_text_keeps_its_settings_through_changes_and_files(engine: str, tmp_path: Path) -> None:
    words = tocsin.Dictionary.count(["golf open", "david lee golf", "trophy final", "a b c apple"])
    settings: Any = {"dictionaries": {"body": words}, "stop_words": ["the"], "text_threshold": 0.2}
    rules = [
        ("a", "contains(body, 'golf & the & open')"),
        ("b", "x = 1"),
        ("c", "contains(body, 'open, lee')"),
    ]
    later = [("d", "contains(body, 'golf, trophy') and x = 1"), ("b", "contains(body, 'the, open', 0.9)")]
    event = {"x": 1, "body": "the golf open of lee"}
    index = tocsin.build(rules, engine, **settings)
    index.apply([("insert", *later[0]), ("replace", *later[1])])
    wanted = tocsin.build([rules[0], rules[2], *later], **settings)
    index.save(tmp_path / "rules.tocsin")
    again = tocsin.open(tmp_path / "rules.tocsin")
    again.insert("e", "contains(body, 'the & golf')")
    wanted.insert("e", "contains(body, 'the & golf')")
    right = [(match.rule, match.score) for match in wanted.match(event)]
    assert len(right) >= 3
    assert [(match.rule, match.score) for match in again.match(event)] == right
    other = tocsin.Dictionary.count(["golf golf golf", "lee"])
    for index in (again, wanted):
        assert index.reweighed(dictionaries={"body": other}).engine == index.engine
    found = [each.reweighed(dictionaries={"body": other}).match(event) for each in (again, wanted)]
    assert [(match.rule, match.score) for match in found[0]] == [
        (match.rule, match.score) for match in found[1]
    ]
    assert [(match.rule, match.score) for match in found[0]] != right
