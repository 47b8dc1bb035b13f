"""ABE-Gen: the same for the same seed, the paper's figures, and texts that mean what they should."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tocsin
from tocsin.conditions.language import Connective, Operator, Predicate, parse_condition, print_predicate
from tocsin.conditions.meaning import matches
from tocsin.errors import UsageError
from tocsin.tables import parse_lines
from tocsin_lab import abe_gen
from tocsin_lab.abe_gen.__main__ import main
from tocsin_lab.abe_gen.draws import covering, zipf, zipf_weights
from tocsin_lab.abe_gen.forest import RULES_AT_ONCE
from tocsin_lab.abe_gen.workloads import forest_of, rule_batches

SMALL = abe_gen.Setting(expressions=4_000)
SMALL_ADS = abe_gen.AdsSetting(expressions=20_000)
FEW_ADS = replace(SMALL_ADS, expressions=5_000)
SETTINGS = (
    SMALL,
    replace(SMALL, depth=1),
    replace(SMALL, depth=2, children=2, zipf=0.0),
    replace(SMALL, depth=5, expressions=300, dimensions=replace(SMALL.dimensions, count=30, cardinality=3)),
    FEW_ADS,
    replace(SMALL_ADS, depth=4, expressions=500),
)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_same_seed_gives_the_same_and_another_gives_another(setting: abe_gen.Workload):
    other = replace(setting, seed=2)
    assert abe_gen.rules(setting).equals(abe_gen.rules(setting))
    assert not abe_gen.rules(setting).equals(abe_gen.rules(other))
    rows = abe_gen.rows_of(abe_gen.events(setting, 20))
    assert rows == abe_gen.rows_of(abe_gen.events(setting, 20))
    assert rows != abe_gen.rows_of(abe_gen.events(other, 20))


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_texts_are_the_forest(setting: abe_gen.Workload):
    """Predicates and depth of the parsed texts are those of the shape; a `not` may belong to a leaf."""
    rules = abe_gen.rules(setting)
    assert rules["id"].to_pylist() == [f"r{number}" for number in range(1, setting.expressions + 1)]
    shape = abe_gen.shape_of(abe_gen.forest_of(setting))
    texts = rules["when"].to_pylist()[:150]
    counts, depths = [], []
    for text in texts:
        condition = parse_condition(text)
        heights: list[int] = []
        for step, operands in zip(condition.steps, condition.operands(), strict=True):
            below = max((heights[place] for place in operands), default=0)
            negated = isinstance(step, Operator) and step.connective is Connective.NOT
            heights.append(below + (0 if negated else 1))
        counts.append(sum(1 for _ in condition.predicates()))
        depths.append(heights[-1])
    assert shape.fewest_predicates <= min(counts)
    assert max(counts) <= shape.most_predicates
    assert max(depths) <= shape.depth == setting.depth
    assert np.mean(counts) == pytest.approx(shape.mean_predicates, rel=0.2)


def test_the_default_has_the_figures_of_the_paper():
    shape = abe_gen.shape_of(abe_gen.forest_of(SMALL))
    predicates, subexpressions, rules = shape.uses
    assert predicates == pytest.approx(18.35, rel=0.05)
    assert subexpressions == pytest.approx(4.33, rel=0.03)
    assert rules == 1
    assert shape.mean_predicates == pytest.approx(3.5**2, rel=0.05)


def test_the_advertisements_have_the_figures_of_the_paper():
    shape = abe_gen.shape_of(abe_gen.forest_of(SMALL_ADS))
    assert (shape.fewest_predicates, shape.most_predicates, shape.depth) == (1, 56, 9)
    assert shape.mean_predicates == pytest.approx(48, rel=0.02)
    assert shape.dimensions == 122
    assert shape.distinct_predicates == pytest.approx(973_794 * 20_000 / 1_392_196, rel=0.02)
    assert shape.uses[0] == pytest.approx(68.76, rel=0.05)
    assert shape.uses[-1] == pytest.approx(2.88, rel=0.02)
    assert list(shape.uses) == sorted(shape.uses, reverse=True)


@pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning")
@pytest.mark.parametrize(("setting", "least", "most"), [(SMALL, 0.01, 0.05), (FEW_ADS, 0.001, 0.01)])
def test_few_rules_match_and_fewer_match_thinned_events(setting: abe_gen.Workload, least: float, most: float):
    index = tocsin.build(abe_gen.rules(setting))
    whole = abe_gen.events(setting, 200)
    shares = [
        np.mean(index.match_table(abe_gen.table_of(some), count=True).per_event) / setting.expressions
        for some in (whole, abe_gen.thinned(whole, 5))
    ]
    assert least <= shares[0] <= most
    assert shares[1] <= shares[0] / 5


def test_a_workload_that_grows_uses_the_same_parts_more():
    small, large = (
        abe_gen.shape_of(abe_gen.forest_of(abe_gen.Setting(expressions=count, pools_for=2_000)))
        for count in (2_000, 8_000)
    )
    assert small.distinct_predicates == large.distinct_predicates
    assert large.uses[1] == pytest.approx(4 * small.uses[1], rel=0.05)


def test_operators_come_in_their_shares():
    texts = abe_gen.rules(replace(SMALL, depth=2))["when"].to_pylist()
    roots = [parse_condition(text).steps[-1] for text in texts]
    names = [root.connective.value for root in roots if isinstance(root, Operator)]
    shares = {name: names.count(name) / len(texts) for name in ("and", "or", "not", "xor", "xnor")}
    assert shares == pytest.approx({"and": 0.4, "or": 0.4, "not": 0.1, "xor": 0.05, "xnor": 0.05}, abs=0.03)


def test_every_kind_of_predicate_is_written():
    forms: set[tuple[int, str]] = set()
    for text in abe_gen.rules(SMALL)["when"].to_pylist()[:1_000]:
        for predicate in parse_condition(text).predicates():
            forms.add((int(predicate.field[0][1:]) % 10, predicate.test.value))
    numeric = {"=", "<", "<=", ">", ">=", "in"}
    assert {test for digit, test in forms if digit <= 5} == numeric
    assert {test for digit, test in forms if digit in (6, 7)} == {"=", "in"}
    assert {test for digit, test in forms if digit == 8} == {"="}
    assert {test for digit, test in forms if digit == 9} == {"in"}


def test_predicates_are_different():
    setting = replace(SMALL, expressions=800, dimensions=replace(SMALL.dimensions, count=30, cardinality=10))
    forest = abe_gen.forest_of(setting)
    parsed = {
        print_predicate(step)
        for text in abe_gen.rules(setting)["when"].to_pylist()
        for step in parse_condition(text).steps
        if isinstance(step, Predicate)
    }
    marks = np.column_stack(forest.predicates[:3])
    assert len(np.unique(marks, axis=0)) == len(marks)
    assert len(parsed) <= len(marks)


def test_the_last_digit_of_a_field_is_its_kind():
    made = abe_gen.events(SMALL, 200)
    listed = abe_gen.listed_fields(SMALL)
    for event in abe_gen.rows_of(made):
        assert len(event) == SMALL.dimensions.event_size
        for name, value in event.items():
            kind = int(name[-1])
            expected = int if kind <= 5 else str if kind <= 7 else bool if kind == 8 else list
            assert type(value) is expected
            assert (expected is list) == ((name,) in listed)


def test_tables_and_rows_are_the_same_events():
    made = abe_gen.events(SMALL, 50)
    for some in (made, abe_gen.thinned(made, 5)):
        rows = abe_gen.table_of(some).to_pylist()
        present = [{name: value for name, value in row.items() if value is not None} for row in rows]
        assert present == abe_gen.rows_of(some)


def test_thinned_events_are_parts_of_the_whole():
    made = abe_gen.events(SMALL, 50)
    for whole, part in zip(abe_gen.rows_of(made), abe_gen.rows_of(abe_gen.thinned(made, 5)), strict=True):
        assert len(part) == 5
        assert all(whole[name] == part[name] for name in part)


def test_draws_follow_the_law_and_cover_the_pool():
    rng = np.random.default_rng(7)
    drawn = np.bincount(zipf(rng, 10, 0.6, 100_000), minlength=10) / 100_000
    assert drawn == pytest.approx(zipf_weights(10, 0.6), abs=0.01)
    assert set(covering(rng, 50, 1.0, 60).tolist()) == set(range(50))
    assert len(covering(rng, 50, 1.0, 20)) == 20


def test_the_command_writes_what_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    arguments = ["--expressions", "300", "--events", "12", "--thin", "5", "--out", str(tmp_path)]
    assert main(arguments) == 0
    setting = abe_gen.Setting(expressions=300)
    rules = pq.read_table(tmp_path / "rules.parquet")
    assert rules.equals(abe_gen.rules(setting))
    lines = (tmp_path / "rules.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == rules.to_pylist()
    events = parse_lines((tmp_path / "events.jsonl").read_bytes().splitlines()).objects
    conditions = [parse_condition(text) for text in rules["when"].to_pylist()]
    index = tocsin.build(rules)
    for event in events:
        expected = [f"r{n}" for n, each in enumerate(conditions, 1) if matches(each, event)]
        assert [match.rule for match in index.match(event)] == expected
    assert pq.read_table(tmp_path / "thinned.parquet").num_rows == 12
    assert "300 rules written" in capsys.readouterr().err


def test_nonsense_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(UsageError, match="as many dimensions"):
        replace(SMALL.dimensions, count=10)
    with pytest.raises(UsageError, match="add up to 1"):
        abe_gen.Setting(operators=(0.5, 0.5, 0.5, 0.0, 0.0))
    assert main(["--depth", "0", "--out", str(tmp_path)]) == 2
    assert "depth" in capsys.readouterr().err


def test_rules_are_made_a_portion_at_a_time():
    """Beside a portion there are the texts of the parts that rules share, and nothing that grows."""
    setting = replace(SMALL, expressions=3 * RULES_AT_ONCE)
    before = pa.total_allocated_bytes()
    beside, portions = [], []
    for batch in rule_batches(forest_of(setting)):
        assert batch.num_rows == RULES_AT_ONCE
        portions.append(batch.nbytes)
        beside.append(pa.total_allocated_bytes() - before - batch.nbytes)
        del batch
    assert len(portions) == 3
    assert max(beside) - min(beside) < 0.1 * min(portions)
