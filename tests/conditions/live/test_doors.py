"""What the doors take for rules and for tables: read as it was meant, or refused by name."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import tocsin

WORDS = ["alpha", "beta", None, "alpha"]
PLAIN = pa.array(WORDS, pa.string())
LAYOUTS: dict[str, pa.Array] = {
    "large": PLAIN.cast(pa.large_string()),
    "view": PLAIN.cast(pa.string_view()),
    "dictionary": PLAIN.dictionary_encode(),
    "large dictionary": PLAIN.cast(pa.large_string()).dictionary_encode(),
    "dictionary of views": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None, 0]), pa.array(["alpha", "beta"], pa.string_view())
    ),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3, 4]), PLAIN),
    "runs of views": pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3, 4]), PLAIN.cast(pa.string_view())),
}
RULES = [("a", "contains(s, 'alpha')"), ("b", "n > 1"), ("c", "s like 'b%'")]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_events_in_every_layout_of_strings(layout: str) -> None:
    def table(words: pa.Array) -> pa.Table:
        times = pa.array([f"2026-01-0{day}T00:00:00Z" for day in range(1, 5)])
        return pa.table({"s": words, "n": [1, 2, 3, 4], "t": times.cast(pa.string_view())})

    events, plain = table(LAYOUTS[layout]), table(PLAIN)
    index: Any = tocsin.build(RULES, sample=events)
    wanted = index.match_table(plain)
    assert wanted["rule"].to_pylist() == ["a", "b", "c", "b", "a", "b"]
    assert index.match_table(events).equals(wanted)
    assert index.match_table(events.to_reader()).read_all().equals(wanted)
    assert index.match_table(events, count=True).per_rule.to_pylist() == [2, 3, 1]
    overview, of_plain = (tocsin.backtest(RULES, each, time="t", bucket="1 day") for each in (events, plain))
    assert overview.rules.equals(of_plain.rules)
    assert overview.samples.equals(of_plain.samples)
    run = tocsin.backtest(RULES, events, rule="a")
    assert list(run.ranking.texts) == [("alpha",), ("alpha",)]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([["alpha"], ["x", "y"], None], pa.list_(pa.string_view())),
        pa.array([["alpha"], ["x", "y"], None], pa.list_view(pa.string_view())),
        pa.array([["alpha"], ["x"], None], pa.list_(pa.string_view(), 1)),
        pa.array([[("k", "alpha")], [], None], pa.map_(pa.string_view(), pa.string_view())),
        pa.array([{"k": "alpha"}, {"k": None}, None], pa.struct([("k", pa.string_view())])),
    ],
)
def test_events_with_views_inside(values: pa.Array) -> None:
    rules = [("own", "s = 'alpha'"), ("member", "s.k = 'alpha'"), ("every", "n > 0")]
    overview = tocsin.backtest(rules, pa.table({"s": values, "n": [1, 2, 3]}))
    assert sum(overview.rules["hits"].to_pylist()) == 4
    shown = overview.samples.to_pylist()
    assert any('"alpha"' in each["json"] for each in shown)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rules_in_every_layout_of_strings(layout: str, tmp_path: Any) -> None:
    ids = LAYOUTS[layout]
    whens = pa.array(["a = 1", "a = 2", "a = 3", "a ="]).cast(pa.string_view())
    table = pa.table({"id": ids, "when": whens, "mark": ids})
    index, errors = tocsin.build_good(table)
    assert index.ids.to_pylist() == ["alpha", "beta"]
    assert len(errors) == 2
    index.insert("new", "a = 1", {"mark": "own"})
    index.delete("alpha")
    index.save(tmp_path / "rules.tocsin")
    again = tocsin.open(tmp_path / "rules.tocsin")
    assert [again.rule(each).metadata for each in ("beta", "new")] == [{"mark": "beta"}, {"mark": "own"}]


def test_facts_in_every_layout_of_strings() -> None:
    for values in LAYOUTS.values():
        program = tocsin.Program.parse(
            ".decl p(x:symbol)\n.input p\n.decl q(x:symbol)\n.output q\nq(x) :- p(x)."
        )
        engine = program.start()
        engine.load("p", pa.table({"x": values.slice(0, 2)}))
        assert sorted(engine.query("q")) == [("alpha",), ("beta",)]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()])
def test_bytes_are_refused_by_name(kind: pa.DataType) -> None:
    events = pa.table({"s": pa.array([b"alpha", None], kind), "n": [1, 2]})
    with pytest.raises(
        tocsin.InputError, match=r"field s has the type .*binary.*, which no condition can test"
    ):
        tocsin.build(RULES).match_table(events)


def test_dictionaries_are_rules() -> None:
    rows: list[Any] = [
        {"id": "r1", "when": "a = 1", "severity": "high"},
        ("r2", "a = 1"),
        {"when": "a = 1", "id": 3},
    ]
    index = tocsin.build(rows)
    assert [match.rule for match in index.match({"a": 1})] == ["r1", "r2", "3"]
    assert index.rule("r1").metadata == {"severity": "high"}
    assert index.rule("r2").metadata == {}
    assert len(tocsin.watch(rows).insert("any", {"a": 1})) == 3
    assert tocsin.backtest(rows, [{"a": 1}]).rules["hits"].to_pylist() == [1, 1, 1]
    assert [each.rule for each in tocsin.build(iter(rows), "scan").match({"a": 1})] == ["r1", "r2", "3"]


@pytest.mark.parametrize(
    ("row", "reason", "rule"),
    [
        ("ab", "expected a pair of an id and a condition, not 'ab'", None),
        (b"ab", "expected a pair of an id and a condition, not b'ab'", None),
        ({"a", "b"}, "expected a pair of an id and a condition, not {", None),
        ({"id": "x"}, "the condition is missing", "x"),
        ({"when": "a = 1"}, "the id is missing", None),
        ({}, "the id is missing", None),
    ],
)
def test_what_is_no_rule_is_refused_with_its_row(row: Any, reason: str, rule: str | None) -> None:
    doors: list[Any] = [tocsin.build, tocsin.watch]
    for door in doors:
        with pytest.raises(tocsin.RuleError) as caught:
            door([("good", "a = 1"), row])
        assert caught.value.reason.startswith(reason)
        assert (caught.value.line, caught.value.rule) == (2, rule)
    index, errors = tocsin.build_good([("good", "a = 1"), row])
    assert (len(index), len(errors)) == (1, 1)


@pytest.mark.parametrize("rules", ["ab", b"ab", bytearray(b"ab"), {"id": "x", "when": "a = 1"}, 7])
def test_what_is_no_rules_is_refused(rules: Any) -> None:
    with pytest.raises(tocsin.UsageError, match="rules cannot be"):
        tocsin.build(rules)
