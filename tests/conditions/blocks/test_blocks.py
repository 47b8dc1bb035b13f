"""Rules in blocks become the index that they become together, whatever the blocks."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.cases import make_event, make_rule_set
from tests.conditions.blocks.pipeline import blocks_of, compared
from tests.text_rules import make_condition
from tests.text_rules import make_event as make_text_event

from tocsin import Index, Rules
from tocsin.arrays.array_file import open_arrays
from tocsin.conditions.blocks import compile_blocks, find_firsts, read_rows
from tocsin.conditions.graph import CompiledIndex, compile_rules, open_index, read_conditions, save_index
from tocsin.conditions.graph.predicate_table import keys_of_predicates
from tocsin.conditions.language import parse_condition, print_condition
from tocsin.conditions.meaning import matches
from tocsin.conditions.planner import Planner


def random_table(rng: random.Random, most: int = 40) -> tuple[pa.Table, list[dict[str, object]]]:
    """Rules of all kinds, sorted by id, and events."""
    pairs = [(name, print_condition(when)) for name, when in make_rule_set(rng, most)]
    pairs += [(f"t{number}", make_condition(rng)) for number in range(rng.randint(0, 6))]
    pairs.sort()
    events = [make_event(rng) for _ in range(6)] + [make_text_event(rng) for _ in range(6)]
    table = pa.table({"id": [name for name, _ in pairs], "when": [when for _, when in pairs]})
    return table, events


def cut(rng: random.Random, table: pa.Table, most: int = 5) -> list[pa.Table]:
    """The table in pieces, some of them small or empty."""
    ends = sorted(rng.randint(0, table.num_rows) for _ in range(rng.randint(0, most)))
    starts = [0, *ends]
    return [
        table.slice(start, end - start) for start, end in zip(starts, [*ends, table.num_rows], strict=True)
    ]


def built(tables: list[pa.Table], folder: Path, organise: str = "auto") -> CompiledIndex:
    folder.mkdir()
    work, refused = blocks_of(tables, folder)
    assert not refused
    return compile_blocks(compared(work), planner=Planner(organise=organise))


@pytest.mark.parametrize("seed", range(12))
def test_any_blocks_match_as_the_rules_mean(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    table, events = random_table(rng)
    compiled = built(cut(rng, table), tmp_path / "work")
    save_index(compiled, tmp_path / "index")
    whole = Index(compile_rules(Rules.of(table), planner=Planner()))
    for index in (Index(compiled), Index(open_index(tmp_path / "index"))):
        assert index.ids.to_pylist() == table.column("id").to_pylist()
        for event in events:
            assert list(index.match(event)) == list(whole.match(event))
    for event in events:
        by_meaning = [row["id"] for row in table.to_pylist() if matches(parse_condition(row["when"]), event)]
        assert [match.rule for match in Index(compiled).match(event)] == by_meaning


SHARED = (
    "a = 1 and (b = 2 or c < 3)",
    "(c < 3 or b = 2) and not (s like 'x%' xor a = 1)",
    "s like 'x%' xnor a = 1",
    "(b = 2 or c < 3) or (a = 1 and t in ('u', 'v'))",
    "contains(d, 'golf') and a = 1 and (b = 2 or c < 3)",
    "(b = 2 or c < 3) xor (a = 1 or z = 1) xor (c < 3 and t = 'u')",
    "true",
    "a = 1 and not b = 2",
)


@pytest.mark.parametrize("organise", ["unique", "full"])
@pytest.mark.parametrize("blocks", [1, 2, 3, 7, 30])
def test_the_arrays_are_those_of_the_rules_read_together(blocks: int, organise: str, tmp_path: Path) -> None:
    """Byte for byte: what is shared across blocks is stored once, and everything is in the same order."""
    rng = random.Random(blocks)
    ids = sorted(f"r{number}" for number in range(60))
    whens = [
        f"({rng.choice(SHARED)}) {rng.choice(['and', 'or'])} ({rng.choice(SHARED)} or z = {number % 9})"
        for number in range(60)
    ]
    table = pa.table({"id": ids, "when": whens, "owner": [f"o{number % 4}" for number in range(60)]})
    size = -(-60 // blocks)
    pieces = [table.slice(start, size) for start in range(0, 60, size)]
    together = compile_rules(Rules.of(table), planner=Planner(organise=organise))
    apart = built(pieces, tmp_path / "work", organise=organise)
    assert len(together.graph.is_and) > 50
    assert together.organisation == apart.organisation
    assert (together.organisation.spared > 0) == (organise == "full")
    save_index(together, tmp_path / "together")
    save_index(apart, tmp_path / "apart")
    expected, found = (open_arrays(tmp_path / name)[1] for name in ("together", "apart"))
    assert expected.keys() == found.keys()
    for name in expected.keys() - {"metadata"}:  # which comes in batches, one for each block
        assert expected[name].dtype == found[name].dtype
        assert np.array_equal(expected[name], found[name]), name
    owners = pa.ipc.open_stream(pa.py_buffer(apart.metadata)).read_all().column("owner")
    assert owners.to_pylist() == table.column("owner").to_pylist()


def test_exclusive_ors_of_groups_are_stored_once(tmp_path: Path) -> None:
    """Whatever their blocks have met before."""
    xor = "(a = 1 or b = 1) xor (c = 1 or d = 1) xor (e = 1 or f = 1)"
    whens = [xor, "(e = 1 or f = 1) and g = 1", f"({xor}) and g = 1", f"({xor}) or h = 1"]
    tables = [pa.table({"id": [str(number)], "when": [when]}) for number, when in enumerate(whens)]
    pieces = [tables[0], pa.concat_tables(tables[1:3]), tables[3]]
    apart, together = built(pieces, tmp_path / "work"), compile_rules(Rules.of(pa.concat_tables(tables)))
    assert np.array_equal(apart.graph.child, together.graph.child)


def test_equal_predicates_have_equal_keys_and_others_have_not() -> None:
    """However they are written, in two tables that number fields and predicates differently."""
    one = [
        "a = 1",
        "a = 1.0",
        "b = 1",
        "a in (1, 2)",
        "a in (2, 1)",
        "s = '1'",
        "s like '1%'",
        "s = ''",
        "t = ''",
    ]
    other = [
        "z = 5",
        "b = 1",
        "a in (1, 2)",
        "a = 1e0",
        "x.y = 1",
        "s = '1'",
        'x."y" = 1',
        "a between 1 and 2",
    ]
    keys: dict[bytes, list[str]] = {}
    for texts in (one, other):
        table = read_conditions(pa.array(texts, pa.large_string()), {}).table
        start, data = keys_of_predicates(table)
        found = [data[begin:end].tobytes() for begin, end in pairwise(start.tolist())]
        assert len(set(found)) == len(found)
        for key, (begin, end) in zip(found, pairwise(table.leaf_start.tolist()), strict=True):
            keys.setdefault(key, []).append(table.leaf_text[begin:end].tobytes().decode())
    assert sorted(map(tuple, keys.values())) == sorted(
        [
            ("a = 1", "a = 1e0"),
            ("b = 1", "b = 1"),
            ("a in (1, 2)", "a in (1, 2)"),
            ("s = '1'", "s = '1'"),
            ("s like '1%'",),
            ("s = ''",),
            ("t = ''",),
            ("z = 5",),
            ("x.y = 1",),
            ("a between 1 and 2",),
        ]
    )


def test_first_places_are_the_least_of_equal_keys() -> None:
    rng = random.Random(5)
    keys = [bytes(rng.choices(b"ab", k=rng.randint(0, 4))) for _ in range(500)]
    places = rng.sample(range(1 << 40), len(keys))
    others, firsts = find_firsts(pa.array(keys, pa.large_binary()), np.array(places))
    least: dict[bytes, int] = {}
    for key, place in zip(keys, places, strict=True):
        least[key] = min(place, least.get(key, place))
    expected = {place: least[key] for key, place in zip(keys, places, strict=True) if least[key] != place}
    assert dict(zip(others.tolist(), firsts.tolist(), strict=True)) == expected


def test_rows_that_are_no_rules_are_refused_with_their_reason() -> None:
    rows = [
        (None, "a = 1", "the id is missing: expected a string or an integer"),
        ("", "a = 3", "the id is empty"),
        ("a", "a = 1", None),
        ("a", "a = 2", "the id 'a' is already taken"),
        ("b", None, "the condition is missing"),
        ("c", "a = = 1", "a value"),
        ("d", "a = 1", None),
        ("e", "contains(a, 'x', 1) and contains(b, 'y', 2)", "threshold"),
    ]
    table = pa.table({"id": [row[0] for row in rows], "when": [row[1] for row in rows]})
    read = read_rows(table)
    assert [read.block.rule_id.text(number) for number in range(read.block.rules)] == ["a", "d"]
    assert read.last_id == "e"
    assert len(read.block.table.field) == 1
    reasons = {(refused.rule, refused.text): refused.reason for refused in read.refused}
    for name, when, reason in rows:
        if reason is not None:
            assert reason in reasons.pop((name or None, when))
    assert not reasons
    repeated = read_rows(table.slice(2, 1), last_id="a")
    assert (repeated.block.rules, len(repeated.refused)) == (0, 1)


def test_bytes_that_are_no_text_are_refused() -> None:
    """As Rules.of refuses them; Spark's strings may hold any bytes."""
    nonsense = pa.array([b"x = 1", b"\xff", b"x = 3", b"x = 4"]).view(pa.string())
    ids = ["a", "b", "c", "d"]
    good = ["x = 1"] * 4
    for table, reason in (
        (pa.table({"id": ids, "when": nonsense}), "the condition is not Unicode text"),
        (pa.table({"id": nonsense, "when": good}), "the id is not Unicode text"),
        (pa.table({"id": ids, "when": good, "m": nonsense}), "the column 'm' is not Unicode text"),
        (
            pa.table({"id": ids, "when": good, "throttle": nonsense.dictionary_encode()}).slice(1, 1),
            "the column 'throttle' is not Unicode text",
        ),
        (
            pa.table({"id": ids, "when": good, "m": pa.ListArray.from_arrays([0, 1, 2, 3, 4], nonsense)}),
            "the column 'm' is not Unicode text",
        ),
    ):
        read = read_rows(table)
        assert read.block.rules == len(table) - 1
        assert [refused.reason for refused in read.refused] == [reason]
        assert [error.reason for error in Rules.of(table, skip_bad=True).rejected] == [reason]


def test_throttles_that_cannot_be_read_are_refused() -> None:
    """As Rules.of refuses them."""
    table = pa.table(
        {
            "id": ["a", "b", "b", "c", "d"],
            "when": ["x = 1"] * 5,
            "throttle": ["10 minutes", "soon", "later", None, ""],
            "dedup": [None, None, None, "user", None],
        }
    )
    read = read_rows(table)
    assert [read.block.rule_id.text(number) for number in range(read.block.rules)] == ["a", "d"]
    expected = Rules.of(table, skip_bad=True)
    assert expected.ids.to_pylist() == ["a", "d"]
    by_rule = {refused.reason for refused in read.refused if "taken" not in refused.reason}
    assert by_rule < {error.reason for error in expected.rejected}
    assert len(by_rule) == 2


def test_alerts_that_are_no_texts_are_refused() -> None:
    """As Rules.of refuses them."""
    table = pa.table({"id": ["a", "b"], "when": ["x = 1"] * 2, "alert": [404, None]})
    (refused,) = read_rows(table).refused
    (expected,) = Rules.of(table, skip_bad=True).rejected
    assert (refused.rule, refused.reason) == ("a", expected.reason)
    assert expected.reason == "alert: expected a text, found 404"


def test_places_of_rows_are_told() -> None:
    """A condition in a trigger file, one in a table, and a row that the reader has refused."""
    rows = pa.table({"id": ["a", "b", "c", "d"], "when": ["v.x = ", "x = \n1 1", "not JSON", "v.x = 1"]})
    where = pa.table(
        {
            "file": ["t.sql", "r.csv", "r.jsonl", "t.sql"],
            "line": pa.array([7, 3, 9, 8], pa.int64()),
            "column": pa.array([11, 0, 4, 11], pa.int32()),
            "alias": ["v", None, None, "v"],
            "reason": [None, None, "no object", None],
        }
    )
    read = read_rows(rows, where)
    assert [(each.file, each.line, each.column) for each in read.refused] == [
        ("r.jsonl", 9, 4),
        ("t.sql", 7, 17),
        ("r.csv", 3, 8),
    ]
    assert read.block.rule_text.text(0) == "x = 1"


def test_texts_that_are_no_unicode_are_refused() -> None:
    bad = pa.array([b"a = '\xff'", b"a = 1"], pa.binary()).view(pa.string())
    read = read_rows(pa.table({"id": ["1", "2"], "when": bad}))
    assert read.block.rules == 1
    assert [(each.rule, each.text) for each in read.refused] == [("1", "a = '\\xff'")]


def test_no_rules_at_all(tmp_path: Path) -> None:
    index = Index(
        built(
            [pa.table({"id": pa.array([], pa.string()), "when": pa.array([], pa.string())})], tmp_path / "w"
        )
    )
    assert len(index) == 0
    assert Counter(match.rule for match in index.match({"a": 1})) == Counter()
