"""The column of rules in a table of matches: the right ids, each once, and few for few matches."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import make_conditions, make_event, make_rule_set
from tests.contract.doors import built, by_event, expected
from tests.sharded_rules import in_parts

import tocsin
from tocsin import Rules
from tocsin.conditions.language import print_condition
from tocsin.conditions.live import table_matcher
from tocsin.conditions.matching import rule_dictionary
from tocsin.conditions.matching.results import TABLE_SCHEMA
from tocsin.engines import ENGINES

pytestmark = pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning")

EVENTS = pa.table({"x": list(range(40)), "s": ["a", None] * 20})


@pytest.fixture(params=["whole", "own", "much"])
def dictionaries(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Dictionaries of all rules; of those that match; and ids that are too many for one."""
    kind: str = request.param
    monkeypatch.setattr(rule_dictionary, "SHARED_AT_MOST", 0 if kind == "own" else 1_000_000)
    monkeypatch.setattr(rule_dictionary, "FEW", 0 if kind == "own" else 8)
    if kind == "much":
        monkeypatch.setattr(rule_dictionary, "ID_BYTES", 20)
    monkeypatch.setattr(table_matcher, "BYTES_AT_ONCE", 160)
    return kind


def pairs(found: pa.Table) -> list[tuple[int, str]]:
    """Events and rules, after a look at every column of rules."""
    found.validate(full=True)
    assert found.schema == TABLE_SCHEMA
    for column in found["rule"].chunks:
        names = column.dictionary.to_pylist()
        assert len(set(names)) == len(names)
        column.cast(pa.string())
    return list(zip(found["event"].to_pylist(), found["rule"].cast(pa.string()).to_pylist(), strict=True))


def checked(index: Any, right: list[tuple[int, str]], events: pa.Table = EVENTS) -> None:
    """Every way to a table of matches gives the right ones."""
    assert pairs(index.match_table(events, threads=1)) == right
    assert pairs(index.match_table(events, threads=2)) == right
    reader = index.match_table(events.to_reader(max_chunksize=7))
    assert reader.schema == TABLE_SCHEMA
    assert pairs(reader.read_all()) == right


@pytest.mark.usefixtures("dictionaries")
@pytest.mark.parametrize("engine", ENGINES)
def test_after_every_change(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_matcher, "first_size", lambda rules: 10)
    monkeypatch.setattr(table_matcher, "even_size", lambda events, threads: 10)
    index: Any = tocsin.build([("one", "x > 10"), ("two", "x < 5 and s = 'a'"), ("never", "x = -1")], engine)
    rules = {"one": lambda x: x > 10, "two": lambda x: x < 5 and x % 2 == 0, "never": lambda x: x == -1}

    def right() -> list[tuple[int, str]]:
        return [(x, name) for x in range(40) for name, holds in rules.items() if holds(x)]

    checked(index, right())
    index.insert("three", "x between 3 and 20")
    rules["three"] = lambda x: 3 <= x <= 20
    checked(index, right())
    index.replace("one", "x = 7")
    del rules["one"]
    rules["one"] = lambda x: x == 7
    checked(index, right())
    index.delete("two")
    del rules["two"]
    index.insert("two", "s is null")
    rules["two"] = lambda x: x % 2 == 1
    checked(index, right())
    index.compact()
    checked(index, right())
    index.apply([("delete", name) for name in rules])
    rules.clear()
    checked(index, [])


@pytest.mark.usefixtures("dictionaries")
@pytest.mark.parametrize("seed", range(6))
def test_random_rules_that_change(seed: int) -> None:
    rng = random.Random(seed)
    rules = dict(make_rule_set(rng, 40))
    index = built(list(rules.items()))
    for number, condition in enumerate(make_conditions(rng, 20)):
        name = rng.choice([*rules, f"new{number}"])
        if name in rules:
            index.delete(name)
            del rules[name]
        if rng.random() < 0.8:
            index.insert(name, print_condition(condition))
            rules[name] = condition
    events = [make_event(rng) for _ in range(30)]
    right = expected(list(rules.items()), events)
    assert by_event(index, events) == right
    found = [each for event in events for each in index.match(event)]
    assert [each.rule for each in found] == [name for _, name in right]
    table = pa.Table.from_pylist([{"x": row} for row in range(3)])
    checked(index, expected(list(rules.items()), table.to_pylist()), table)


@pytest.mark.usefixtures("dictionaries")
@pytest.mark.parametrize("seed", range(3))
def test_shards(seed: int) -> None:
    rng = random.Random(seed)
    texts = [f"x > {rng.randrange(40)}" for _ in range(12)]
    rules = Rules.of(pa.table({"id": [f"rule {number}" for number in range(12)], "when": texts}))
    index = in_parts(rng, rules, 3)
    names = index.ids.to_pylist()
    limit = {f"rule {number}": int(text[4:]) for number, text in enumerate(texts)}
    checked(index, [(x, name) for x in range(40) for name in names if x > limit[name]])
    changed = index.shards[1]
    name = changed.ids[0]
    changed.replace(name, "x = 39")
    limit[name] = 38
    names = index.ids.to_pylist()
    checked(index, [(x, name) for x in range(40) for name in names if x > limit[name]])


@pytest.mark.usefixtures("dictionaries")
def test_nothing_to_match_and_no_rules() -> None:
    index: Any = tocsin.build([("one", "x > 10")])
    checked(index, [], EVENTS.slice(0, 0))
    checked(tocsin.build([]), [])


@pytest.mark.usefixtures("dictionaries")
def test_scores_are_null_without_free_text() -> None:
    index: Any = tocsin.build(
        [("plain", "x < 2"), ("text", "contains(s, 'a')"), ("both", "x < 1 or contains(s, 'a')")]
    )
    found = index.match_table(EVENTS.slice(0, 3))
    checked(index, pairs(index.match_table(EVENTS)))
    scores = dict(
        zip(
            zip(found["event"].to_pylist(), found["rule"].to_pylist(), strict=True),
            found["score"].to_pylist(),
            strict=True,
        )
    )
    assert scores[0, "plain"] is None
    assert scores[0, "text"] > 0
    for x in range(3):
        alone = {each.rule: each.score for each in index.match({"x": x, "s": EVENTS["s"][x].as_py()})}
        assert alone == {rule: score for (event, rule), score in scores.items() if event == x}


def test_a_stream_has_one_dictionary_and_its_version() -> None:
    index: Any = tocsin.build([(f"r{number}", f"x > {number}") for number in range(50)])

    def batches() -> Iterator[pa.RecordBatch]:
        for first in range(0, 40, 4):
            yield EVENTS.slice(first, 4).to_batches()[0]
            index.insert(f"later {first}", "true")

    reader = index.match_table(pa.RecordBatchReader.from_batches(EVENTS.schema, batches()), threads=1)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, reader.schema) as file:  # which takes no second dictionary
        for batch in reader:
            file.write_batch(batch)
    found = pa.ipc.open_file(sink.getvalue()).read_all()
    assert pairs(found) == [(x, f"r{number}") for x in range(40) for number in range(50) if x > number]


def test_the_dictionary_is_made_once_for_a_version() -> None:
    rules = [(f"r{number}", f"x > {number}") for number in range(8)]
    for index in (tocsin.build(rules), in_parts(random.Random(1), Rules.of(rules), 2)):
        part: Any = index
        one, other = (part.match_table(EVENTS)["rule"].chunk(0).dictionary for _ in range(2))
        assert one.buffers()[1].address == other.buffers()[1].address


def test_few_matches_bring_few_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_dictionary, "SHARED_AT_MOST", 999)
    index: Any = tocsin.build([(f"r{number}", f"x = {number}") for number in range(1_000)])
    found = index.match_table(EVENTS)
    assert len(found["rule"].chunk(0).dictionary) == 40
    assert pairs(found) == [(x, f"r{x}") for x in range(40)]
    many = pa.table({"x": list(range(500))})
    assert len(index.match_table(many)["rule"].chunk(0).dictionary) == 1_000


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(0, 12))
def test_pieces_are_what_was_matched(numbers: list[int], more: int) -> None:
    index: Any = tocsin.build([(f"{number}" * (1 + more), f"x = {number}") for number in range(31)])
    found = index.match_table(pa.table({"x": pa.array(numbers, pa.int64())}))
    assert pairs(found) == [(row, f"{number}" * (1 + more)) for row, number in enumerate(numbers)]


def test_frames_and_files_take_it(tmp_path: Any) -> None:
    import pyarrow.parquet as pq

    index: Any = tocsin.build([("a", "x > 1"), ("b", "x > 2")])
    index.replace("a", "x > 3")
    found = index.match_table(EVENTS)
    frame = found.to_pandas()
    assert frame["rule"].astype(str).tolist() == found["rule"].to_pylist()
    pq.write_table(found, tmp_path / "found.parquet")
    assert pairs(pq.read_table(tmp_path / "found.parquet").cast(TABLE_SCHEMA)) == pairs(found)
