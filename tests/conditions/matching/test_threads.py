"""Tables matched by several threads: the same rows in the same order, and errors where they belong."""

from __future__ import annotations

import random
import threading
from typing import Any

import pyarrow as pa
import pytest
from tests.cases import make_rule_set
from tests.contract.doors import built
from tests.typed_tables import make_table

import tocsin
from tocsin.conditions.live import table_matcher
from tocsin.conditions.matching import portions, threads
from tocsin.conditions.matching.threads import in_order, thread_count, usable_cores
from tocsin.errors import EventError, UsageError
from tocsin.events import batch_of_table

pytestmark = pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning")


@pytest.fixture
def small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_matcher, "first_size", lambda rules: 3)
    monkeypatch.setattr(table_matcher, "even_size", lambda events, threads: 3)
    monkeypatch.setattr(table_matcher, "next_size", lambda size, events, matches: 1 + (size + matches) % 5)


@pytest.mark.usefixtures("small_portions")
@pytest.mark.parametrize("seed", range(6))
def test_the_same_rows_in_the_same_order(seed: int) -> None:
    rng = random.Random(seed)
    index = built(make_rule_set(rng, 30))
    index.insert("late", "true")
    index.delete("r0")
    table, _ = make_table(rng, 60)
    alone = index.match_table(table, threads=1)
    counts = index.match_table(table, threads=1, count=True)
    for number in (2, 5):
        assert index.match_table(table, threads=number).equals(alone)
        reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=7))
        assert index.match_table(reader, threads=number).read_all().equals(alone)
        again = index.match_table(table, threads=number, count=True)
        assert again.per_event.equals(counts.per_event)
        assert again.per_rule.equals(counts.per_rule)


def _working_threads(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    names: set[str] = set()
    read = batch_of_table

    def noted(*given: Any) -> Any:
        names.add(threading.current_thread().name)
        return read(*given)

    monkeypatch.setattr(table_matcher, "batch_of_table", noted)
    return names


@pytest.mark.usefixtures("small_portions")
def test_who_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    names = _working_threads(monkeypatch)
    index: Any = tocsin.build([("a", "x > 1")])
    table = pa.table({"x": range(100)})
    me = threading.current_thread().name
    index.match_table(table, threads=1)
    assert names == {me}
    index.match_table(table.slice(0, 3), threads=4)
    assert names == {me}, "one portion is no work for several"
    names.clear()
    index.match_table(table, threads=4)
    assert names
    assert me not in names
    assert not [each for each in threading.enumerate() if each.name.startswith("tocsin-match")]


def test_default_is_cores_within_the_memory_for_scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "usable_cores", lambda: 8)
    index: Any = tocsin.build([("a", "x > 1 and y = 2")])
    matchers = [each.matcher for each in index.version.settled().layers]
    assert thread_count(None, matchers) == 8
    monkeypatch.setattr(threads, "SCRATCH_AT_MOST", 3 * matchers[0].most_scratch)
    assert thread_count(None, matchers) == 3
    monkeypatch.setattr(threads, "SCRATCH_AT_MOST", 1)
    assert thread_count(None, matchers) == 1
    assert thread_count(5, matchers) == 5
    assert usable_cores() >= 1


@pytest.mark.parametrize("number", [0, -1, 1.5, "2", True])
def test_numbers_that_make_no_sense(number: Any) -> None:
    for engine in ("atree", "scan"):
        index: Any = tocsin.build([("a", "x > 1")], engine=engine)
        with pytest.raises(UsageError, match="threads"):
            index.match_table(pa.table({"x": [1]}), threads=number)


@pytest.mark.usefixtures("small_portions")
@pytest.mark.parametrize("number", [1, 3])
def test_an_error_comes_where_its_rows_would(number: int) -> None:
    index: Any = tocsin.build([("a", "s != 'x'")])
    good = pa.record_batch({"s": pa.array(["a"] * 9)})
    bad = pa.record_batch({"s": pa.array([b"\xff"]).view(pa.string())})
    reader = pa.RecordBatchReader.from_batches(good.schema, [good, bad, good])
    result = index.match_table(reader, threads=number)
    rows: list[int] = []
    while sum(rows) < 9:
        rows.append(result.read_next_batch().num_rows)
    with pytest.raises(EventError):
        result.read_next_batch()
    assert sum(rows) == 9


def test_results_wait_within_bounds() -> None:
    made: list[int] = []

    def make(item: int) -> int:
        made.append(item)
        return item

    for place, result in enumerate(in_order(make, range(50), 3, lambda: 4)):
        assert result == place
        assert len(made) <= place + 1 + 4
    assert sorted(made) == list(range(50))


def test_a_stream_that_is_left_ends_its_threads() -> None:
    index: Any = tocsin.build([("a", "x >= 0")])
    batch = pa.record_batch({"x": range(portions.FEWEST_EVENTS)})
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch] * 100)
    result = index.match_table(reader, threads=2)
    result.read_next_batch()
    del result
    left = [each for each in threading.enumerate() if each.name.startswith("tocsin-match")]
    for each in left:
        each.join(timeout=30)
        assert not each.is_alive()
