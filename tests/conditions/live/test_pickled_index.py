"""An index, and what it gives, in other processes and as copies."""

from __future__ import annotations

import copy
import pickle
import random
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.sharded_rules import shared_out, write_in_parts

import tocsin

RULES: list[dict[str, Any]] = [
    {"id": "a", "when": "x > 1", "severity": "high"},
    {"id": "b", "when": "contains(s, 'golf', 0.5)"},
    {"id": "c", "when": "x > 1 and s like 'g%'"},
]
EVENT = {"x": 2, "s": "golf"}


def again(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))


def facts(index: tocsin.Index) -> Any:
    return index.engine, [index.rule(rule) for rule in index], list(index.match(EVENT))


@pytest.mark.parametrize("engine", ["atree", "interval", "scan"])
@pytest.mark.parametrize("is_changed", [False, True])
@pytest.mark.parametrize("is_saved", [False, True])
def test_an_index_in_a_pickle_and_copied(
    engine: str, is_changed: bool, is_saved: bool, tmp_path: Path
) -> None:
    index = tocsin.build(RULES, engine=engine)
    if is_saved:
        index.save(tmp_path / "rules.tocsin")
    if is_changed:
        index.delete("a")
        index.insert("d", "x = 2")
    for other in (again(index), again(again(index)), copy.copy(index), copy.deepcopy(index)):
        assert facts(other) == facts(index)
        other.delete("c")
        assert "c" in index
    by_file = is_saved and not is_changed
    assert (b"rules.tocsin" in pickle.dumps(index)) == by_file
    assert (len(pickle.dumps(index)) < 300) == by_file


def test_an_index_that_was_opened_is_pickled_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "rules.tocsin"
    tocsin.build(RULES).save(path)
    index = tocsin.open(path)
    pickled = pickle.dumps(index)
    assert len(pickled) < 300
    assert facts(pickle.loads(pickled)) == facts(index)
    index.insert("d", "x = 2")
    assert facts(again(index)) == facts(index), "what is not in the file is in the pickle"
    index.save(path)
    assert len(pickle.dumps(index)) < 300
    with pytest.raises(tocsin.IndexFileError, match="is another file than when an index was pickled by it"):
        pickle.loads(pickled)
    path.unlink()
    assert facts(again(index)) == facts(index), "without its file, the pickle has the rules"
    with pytest.raises(tocsin.IndexFileError, match="cannot open"):
        pickle.loads(pickled)


def test_a_damaged_pickle_is_refused(tmp_path: Path) -> None:
    pickled = bytearray(pickle.dumps(tocsin.build(RULES)))
    pickled[pickled.index(b"TOCSIN\r\n") + 200] ^= 1
    with pytest.raises(tocsin.IndexFileError, match="damaged"):
        pickle.loads(bytes(pickled))
    path = tmp_path / "rules.tocsin"
    tocsin.build(RULES).save(path)
    by_file = pickle.dumps(tocsin.open(path))
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(tocsin.IndexFileError, match="checksum is wrong"):
        pickle.loads(by_file)


def test_an_index_in_shards_is_pickled_by_its_files(tmp_path: Path) -> None:
    rules = [(str(row["id"]), str(row["when"])) for row in RULES]
    write_in_parts(tmp_path / "parts.tocsin", shared_out(random.Random(1), rules, 2))
    index = tocsin.open(tmp_path / "parts.tocsin")
    assert facts(again(index)) == facts(index)
    assert len(pickle.dumps(index)) < 1_000


def _found(index: tocsin.Index, event: dict[str, Any]) -> tocsin.Matches:
    return index.match(event)


def test_an_index_goes_to_other_processes_and_its_matches_come_back() -> None:
    index = tocsin.build(RULES)
    events: list[dict[str, Any]] = [EVENT, {"x": 1}]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as workers:
        found = list(workers.map(_found, [index] * len(events), events))
    assert found == [index.match(event) for event in events]
    assert [match.rule for match in found[0][1:]] == ["b", "c"]


def test_matches_take_only_their_own_ids_along() -> None:
    index = tocsin.build([*RULES, *((f"other {n}", "x = 77") for n in range(5_000))])
    matches = index.match(EVENT)
    assert len(pickle.dumps(matches)) < 2_000
    found = again(matches)
    assert (found, found.rules().to_pylist()) == (matches, ["a", "b", "c"])
    assert found[::-1] == matches[::-1]
    assert again(found[1:]) == matches[1:]
    assert not again(index.match({}))


def test_other_things_are_pickled(tmp_path: Path) -> None:
    index = tocsin.build(RULES)
    for value in (index.match(EVENT)[0], index.explain("b", EVENT), index.stats(), index.rule("a")):
        assert again(value) == value
    rules = again(tocsin.Rules.of(RULES))
    assert list(rules) == list(tocsin.Rules.of(RULES))
    alerts = tocsin.watch(RULES).insert("t", EVENT)
    assert again(alerts) == alerts
    program = tocsin.Program.parse(".decl a(x: symbol)\n.decl p(x: symbol)\np(X) :- a(X).\n")
    engine = again(program).start(facts={"a": [(f"word {n}",) for n in range(5_000)]})
    changes = engine.insert("a", ("one",))
    assert again(changes) == changes
    assert again(changes).added["p"].table().to_pylist() == [{"x": "one"}]
    assert len(pickle.dumps(changes)) < 1_000, "without the engine's other words"
    assert not again(engine.insert("a", ("one",)))
    with pytest.raises(tocsin.UnsupportedError, match="an engine cannot be pickled: save it"):
        pickle.dumps(engine)


def test_ids_are_a_sequence() -> None:
    index = tocsin.build(RULES)
    ids = index.ids
    assert (len(ids), list(ids), ids[0], ids[-1], ids[1:], ids[::-1]) == (
        3, ["a", "b", "c"], "a", "c", ["b", "c"], ["c", "b", "a"],
    )  # fmt: skip
    assert list(index) == list(ids) == ids.to_pylist() == pa.array(ids).to_pylist() == ["a", "b", "c"]
    assert ("b" in ids, "z" in ids, ids.index("c")) == (True, False, 2)
    assert np.asarray(ids).tolist() == ["a", "b", "c"]
    with pytest.raises(IndexError):
        ids[3]
    index.delete("a")
    index.replace("b", "x = 2")
    assert (list(ids), list(index)) == (["a", "b", "c"], ["c", "b"]), "those of before, and those of now"
    assert (again(ids), repr(index.ids)) == (["a", "b", "c"], "['c', 'b']")
    many = tocsin.build([(str(n), "x = 1") for n in range(10_003)])
    assert list(many.ids) == [str(n) for n in range(10_003)]
    assert repr(many.ids) == "['0', '1', '2', '3', '4', ... 10,003 in all]"
    with pytest.raises(tocsin.UsageError, match="a tocsin Index: it is built already"):
        tocsin.build(index)  # type: ignore[arg-type]
