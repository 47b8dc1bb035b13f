"""The exchange in miniature: the same for the same seed, well-formed, and as busy as it says."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt
import pytest

from tocsin import Index, build
from tocsin.conditions.language import parse_condition
from tocsin.conditions.meaning import matches
from tocsin_lab.exchange import campaigns, visits

CAMPAIGNS, VISITS = 20_000, 2_000


@pytest.fixture(scope="module")
def index() -> Index:
    built = build(campaigns(CAMPAIGNS))
    assert isinstance(built, Index)
    return built


def leaves(data_type: pa.DataType) -> int:
    return sum(leaves(each.type) for each in data_type) if pt.is_struct(data_type) else 1


def test_the_same_seed_gives_the_same_and_another_gives_another():
    assert campaigns(300, seed=5).equals(campaigns(300, seed=5))
    assert visits(300, seed=5).equals(visits(300, seed=5))
    assert not campaigns(300, seed=5).equals(campaigns(300, seed=6))
    assert not visits(300, seed=5).equals(visits(300, seed=6))


def test_a_visit_has_some_thirty_fields_of_many_types():
    table = visits(100)
    assert 30 <= sum(leaves(each.type) for each in table.schema) - 1 <= 40
    nested = [each.type for column in table.schema if pt.is_struct(column.type) for each in column.type]
    types = {*table.schema.types, *nested}
    tests = (pt.is_decimal, pt.is_timestamp, pt.is_boolean, pt.is_floating, pt.is_list, pt.is_string)
    for test in tests:
        assert any(test(each) for each in types)


def test_visits_are_in_order_of_time_and_agree_with_their_hour_and_weekday():
    rows = visits(500).to_pylist()
    assert [row["visit"] for row in rows] == list(range(500))
    assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)
    assert all(row["hour"] == row["time"].hour for row in rows)
    assert all(row["weekday"] == row["time"].isoweekday() for row in rows)


def test_values_are_missing_now_and_then_and_some_lists_are_empty():
    users = [row["user"] for row in visits(1_000).to_pylist()]
    assert 100 < sum(user["age"] is None for user in users) < 300
    assert 50 < sum(user["interests"] is None for user in users) < 200
    assert 20 < sum(user["interests"] == [] for user in users) < 300
    listed = [user["interests"] for user in users if user["interests"]]
    assert all(len(set(each)) == len(each) for each in listed)


def test_ids_are_unique_and_a_campaign_bids_up_to_its_price():
    rows = campaigns(2_000).to_pylist()
    assert len({row["id"] for row in rows}) == 2_000
    assert all(row["when"].endswith(f"price_floor <= {row['bid']:.2f}") for row in rows)
    assert all(row["name"].startswith(row["advertiser"]) for row in rows)


def test_all_operators_of_the_language_are_used():
    text = "\n".join(campaigns(5_000)["when"].to_pylist())
    for word in (" or ", " not ", " xor ", " in (", " between ", " like ", " ilike ", " matches ", "cidr("):
        assert word in text
    for word in (" is null", "timestamp '", " != ", " not in ", " not between "):
        assert word in text


def test_campaigns_share_their_parts(index: Index):
    stats = index.stats()
    assert stats.uses > 3
    assert stats.predicates < CAMPAIGNS / 2


def test_a_visit_matches_20_to_50_of_100_000_campaigns(index: Index):
    found = index.match_table(visits(VISITS), count=True)
    assert not isinstance(found, pa.Table | pa.RecordBatchReader)
    a_visit = sum(found.per_event.to_pylist()) / VISITS
    assert 20 <= a_visit * 100_000 / CAMPAIGNS <= 50


def test_campaigns_name_only_fields_that_visits_have(index: Index):
    schema = visits(1).schema
    for first, *rest in index.fields:
        here = schema.field(first).type
        for name in rest:
            here = here.field(name).type
        assert not pt.is_struct(here)


def test_matches_are_those_of_the_plain_evaluator(index: Index):
    rules = campaigns(CAMPAIGNS).slice(0, 400).to_pylist()
    conditions = [(row["id"], parse_condition(row["when"])) for row in rules]
    known = {rule for rule, _ in conditions}
    for event in visits(10).to_pylist():
        expected = [rule for rule, condition in conditions if matches(condition, event)]
        assert [match.rule for match in index.match(event) if match.rule in known] == expected
