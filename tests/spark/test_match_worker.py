"""What runs in a worker, run here: the right rows, and never too many at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

import tocsin
from tocsin.conditions.matching import row_bytes
from tocsin.errors import EventError
from tocsin.spark import match_worker
from tocsin.spark.event_columns import Layout
from tocsin.spark.match_worker import match_batches


def run(rules: list[tuple[str, str]], layout: Layout, *batches: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    index = tocsin.build(rules)
    assert isinstance(index, tocsin.Index)
    return match_batches([index], layout, batches)


def test_result_is_kept_columns_rule_and_score() -> None:
    batch = pa.record_batch({"c0": ["x", "y", None], "c1": [1, 2, 3]})
    layout = Layout(tested=(("c1", "age"),), kept=(("c0", "the name"), ("c1", "years")))
    found = pa.Table.from_batches(run([("a", "age > 1"), ("b", "age = 3"), ("c", "false")], layout, batch))
    assert found.to_pylist() == [
        {"the name": "y", "years": 2, "rule": "a", "score": None},
        {"the name": None, "years": 3, "rule": "a", "score": None},
        {"the name": None, "years": 3, "rule": "b", "score": None},
    ]
    assert found.schema.types == [pa.string(), pa.int64(), pa.string(), pa.float64()]


def test_a_task_uses_the_one_thread_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark gives a task one core; whoever wants more takes them from other tasks."""
    monkeypatch.setattr(threading.Thread, "start", lambda self: pytest.fail("a thread was started"))
    batch = pa.record_batch({"c0": range(50_000)})
    layout = Layout(tested=(("c0", "n"),), kept=())
    found = run([("a", "n >= 0"), ("b", "n < 10")], layout, batch)
    assert sum(each.num_rows for each in found) == 50_010


def test_no_match_and_no_row_give_no_batch() -> None:
    layout = Layout(tested=(("c0", "n"),), kept=())
    empty = pa.record_batch({"c0": pa.array([], pa.int64())})
    assert list(run([("a", "n > 1")], layout, empty, pa.record_batch({"c0": [0, 1]}))) == []


def test_rows_count_without_any_column() -> None:
    found = list(run([("a", "true")], Layout((), ()), pa.record_batch({"row": [True] * 5})))
    assert [batch.num_rows for batch in found] == [5]


def test_results_stay_small_when_every_rule_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_worker, "BYTES_IN_TASK", 100_000)
    monkeypatch.setattr(match_worker, "MATCHES_IN_TASK", 5_000)
    rules = [(f"rule {number}", "n >= 0") for number in range(300)]
    texts = ["x" * (number % 7) * 100 for number in range(500)]
    batch = pa.record_batch({"c0": range(500), "c1": texts, "c2": [[text] for text in texts]})
    layout = Layout(tested=(("c0", "n"),), kept=(("c0", "n"), ("c1", "t"), ("c2", "l")))
    sizes = 0
    counts = np.zeros(500, np.int64)
    for found in run(rules, layout, batch):
        assert found.nbytes < 120_000
        counts += np.bincount(found.column("n").to_numpy(), minlength=500)
        assert found.column("t").equals(batch.column("c1").take(found.column("n")))
        sizes += 1
    assert (counts == 300).all()
    assert sizes > 500 * 300 * 600 // 100_000


def test_one_row_larger_than_a_batch_goes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_worker, "BYTES_IN_TASK", 1_000)
    batch = pa.record_batch({"c0": ["a" * 5_000, "b"]})
    layout = Layout(tested=(), kept=(("c0", "t"),))
    found = list(run([("p", "true"), ("q", "true")], layout, batch))
    assert [each.column("t").to_pylist() for each in found] == [["a" * 5_000]] * 2 + [["b", "b"]]


@pytest.mark.parametrize(
    ("column", "sizes"),
    [
        (pa.array([1, None], pa.int64()), [8, 8]),
        (pa.array([True, None]), [1, 1]),
        (pa.array(["abc", None, "é"]), [3, 0, 2]),
        (pa.array([b"abc", None]), [3, 0]),
        (pa.nulls(2), [0, 0]),
    ],
)
def test_bytes_of_values(column: pa.Array, sizes: list[int]) -> None:
    assert row_bytes(column).tolist() == sizes


def test_bytes_of_nested_values_follow_their_size() -> None:
    short, long = row_bytes(pa.array([[{"a": "x"}], [{"a": "x" * 10}] * 100])).tolist()
    assert short < 100 < 1_000 < long


def test_bad_text_is_refused_by_field() -> None:
    text = pa.array([b"\xff"]).view(pa.string())
    found = run([("a", "s = 'x'")], Layout((("c0", "s"),), ()), pa.record_batch({"c0": text}))
    with pytest.raises(EventError, match=r"^the text of field s is not valid UTF-8$"):
        next(found)
