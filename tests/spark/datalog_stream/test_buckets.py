"""What a worker reads and writes of a bucket's state, and how it comes back to where the state is."""

from __future__ import annotations

from random import Random

import pytest
from tests.spark.datalog_stream.simulated import DictStore

from tocsin.datalog.spark.stream import bucket_contents, bucket_journal
from tocsin.datalog.spark.stream.bucket_contents import Facts
from tocsin.datalog.spark.stream.bucket_journal import START, Entries, Head, append, everything, since
from tocsin.datalog.spark.stream.buckets import BUCKETS, Bucket, bucket_of
from tocsin.datalog.spark.stream.initial_facts import Setting
from tocsin.datalog.spark.stream.step_rows import Moved
from tocsin.errors import DerivationError

BY_KEY = Setting(
    """
    .decl r(x: number, y: number)
    .decl twice(x: number)
    twice(x) :- r(x, y), r(x, z), y < z.
    r(1, 1).
    """
)
WHOLE = Setting(
    """
    .decl arc(x: number, y: number)
    .decl path(x: number, y: number)
    path(x, y) :- arc(x, y).
    path(x, z) :- path(x, y), arc(y, z).
    """
)


class WatchedStore(DictStore):
    """Counts how often it is asked for anything."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = self.writes = 0

    def head(self) -> Head | None:
        self.reads += 1
        return super().head()

    def set_head(self, head: Head) -> None:
        self.writes += 1
        super().set_head(head)

    def piece(self, number: int) -> str:
        self.reads += 1
        return super().piece(number)

    def set_piece(self, number: int, text: str) -> None:
        self.writes += 1
        super().set_piece(number, text)

    @property
    def facts(self) -> Entries:
        return everything(self, super().head())


class WatchedFacts(Facts):
    """Counts how often it is filled anew."""

    fills = 0

    def fill(self, entries: Entries) -> None:
        self.fills += 1
        super().fill(entries)


def worker(setting: Setting, key: str | None = None) -> Bucket:
    bucket = 0 if key is None else bucket_of(key)
    return Bucket(WatchedFacts(setting, setting.plan.units[0], bucket))


def fills(one: Bucket) -> int:
    assert isinstance(one.contents, WatchedFacts)
    return one.contents.fills


def plus(port: str, *values: int, seq: int = 1) -> Moved:
    return Moved("given", "+", port, tuple(map(str, values)), seq)


def minus(port: str, *values: int, seq: int = 1) -> Moved:
    return Moved("given", "-", port, tuple(map(str, values)), seq)


TWICE = [Moved("net", "+", "twice", ("7",), 1)]


def test_a_bucket_starts_with_the_facts_of_the_program() -> None:
    store = WatchedStore()
    gone = Moved("net", "-", "twice", ("1",), 1)
    assert worker(BY_KEY, "1").change(store, [plus("r@0", 1, 2)]) == [gone._replace(op="+")]
    assert set(store.facts) == {("r@0", "1", "1"), ("r@0", "1", "2")}
    assert worker(BY_KEY, "1").change(store, [minus("r@0", 1, 1)]) == [gone]


def test_a_program_s_fact_that_was_taken_back_stays_so() -> None:
    store = WatchedStore()
    worker(BY_KEY, "1").change(store, [minus("r@0", 1, 1)])
    assert worker(BY_KEY, "1").change(store, [plus("r@0", 1, 2)]) == []


def test_a_batch_of_many_changes_reads_and_writes_once() -> None:
    store, one = WatchedStore(), worker(BY_KEY, "7")
    for y in range(5):
        one.change(store, [plus("r@0", 7, 100 * y + each, seq=each) for each in range(100)])
    assert (store.reads, store.writes) == (5, 5)
    assert fills(one) == 1


def test_workers_that_take_turns_follow_the_journal() -> None:
    for size in (1, 600):  # in the tail, and in pieces
        store, workers = WatchedStore(), [worker(WHOLE), worker(WHOLE)]
        for x in range(12):
            workers[x % 2].change(store, [plus("arc", 0, size * x + y) for y in range(size)])
        assert max(map(fills, workers)) == 1
        assert len(store.facts) == 12 * size


def test_a_worker_that_was_away_for_long_is_filled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucket_journal, "TAIL", 50)
    store, one, other = WatchedStore(), worker(BY_KEY, "7"), worker(BY_KEY, "7")
    one.change(store, [plus("r@0", 7, 0)])
    for y in range(100, 300):
        other.change(store, [plus("r@0", 7, y)])
        other.change(store, [minus("r@0", 7, y)])
    assert one.change(store, [plus("r@0", 7, 1)]) == TWICE
    assert fills(one) == 2


def test_a_failed_task_leaves_no_trace() -> None:
    store, one = WatchedStore(), worker(BY_KEY, "7")
    one.change(store, [plus("r@0", 7, 0)])
    assert one.change(store.copy(), [plus("r@0", 7, 1)])
    assert one.change(store, [plus("r@0", 7, 2)]) == TWICE


def test_an_engine_is_given_up_when_it_has_taken_in_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucket_contents, "LEAST_OUTGROWN", 10)
    store, one = WatchedStore(), worker(BY_KEY, "7")
    for y in range(60):
        assert len(one.change(store, [plus("r@0", 7, y)])) == (y == 1)
        one.change(store, [plus("r@0", 8, y), minus("r@0", 8, y - 1)])
    assert 2 < fills(one) < 60


def test_an_error_leaves_the_worker_in_order() -> None:
    setting = Setting(".decl r(x: number, y: number)\n.decl q(x: number)\nq(100 / y) :- r(_, y), y < 9.\n")
    store, one = WatchedStore(), worker(setting)
    one.change(store, [plus("r@1", 0, 1)])
    with pytest.raises(DerivationError):
        one.change(store, [plus("r@1", 5, 2), plus("r@1", 5, 0, seq=2)])
    assert one.change(store, [plus("r@1", 3, 1), minus("r@1", 0, 1)]) == []
    assert set(store.facts) == {("r@1", "3", "1")}


def test_a_journal_gives_back_what_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"TAIL": 60, "PIECE": 4, "LOOSE": 300, "MARKS": 5}.items():
        monkeypatch.setattr(bucket_journal, name, value)
    random = Random(4)
    store, expected = DictStore(), dict[tuple[str, ...], int]()
    past: list[tuple[str, dict[tuple[str, ...], int]]] = [(START, {})]
    followed = 0
    for number in range(400):
        changed: Entries = {
            ("r", f"é{random.randrange(30)}", "\n"): random.choice((None, number))
            for _ in range(random.choice((1, 1, 2, 9)))
        }
        token = append(store, store.head(), changed)
        expected = {fact: value for fact, value in {**expected, **changed}.items() if value is not None}
        head = store.head()
        assert head is not None
        assert everything(store, head) == expected
        past.append((token, expected))
        for known, then in past[-12:]:
            missed = {} if known == head.token else since(store, head, known)
            if missed is not None:
                followed += 1
                after = {**then, **missed}
                assert {fact: value for fact, value in after.items() if value is not None} == expected
    assert followed > 1000
    assert len(store.pieces) < 30


def test_keys_are_spread_over_all_buckets() -> None:
    assert {bucket_of(str(number)) for number in range(20 * BUCKETS)} == set(range(BUCKETS))
    assert bucket_of("a", "bc") != bucket_of("ab", "c")
