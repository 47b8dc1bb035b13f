"""What a worker reads and writes of a key's state, and how it comes back to where the state is."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from tests.spark.activation.simulated import DictState

from tocsin.errors import DerivationError
from tocsin.spark.activation import keyed
from tocsin.spark.activation.initial import Setting
from tocsin.spark.activation.keyed import KeyedEngine
from tocsin.spark.activation.rows import Change, Moved

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


class WatchedState(DictState):
    """Counts how often all facts are read."""

    loads = 0

    def facts(self) -> Iterable[str]:
        self.loads += 1
        return super().facts()


def worker(setting: Setting) -> KeyedEngine:
    return KeyedEngine(setting, setting.plan.units[0])


def plus(port: str, *values: int, seq: int = 1) -> Change:
    return Change("given", "+", port, tuple(map(str, values)), seq)


def minus(port: str, *values: int, seq: int = 1) -> Change:
    return Change("given", "-", port, tuple(map(str, values)), seq)


def test_a_key_starts_with_the_facts_of_the_program() -> None:
    state = DictState()
    assert worker(BY_KEY).change("1", state, [plus("r@0", 1, 2)]) == [Moved("net", "+", "twice", ("1",), 1)]
    assert sorted(state.kept) == ['["r@0","1","1"]', '["r@0","1","2"]']
    assert worker(BY_KEY).change("1", state, [minus("r@0", 1, 1)]) == [Moved("net", "-", "twice", ("1",), 1)]


def test_a_worker_that_is_up_to_date_reads_no_facts() -> None:
    state, one = WatchedState(), worker(BY_KEY)
    for y in range(5):
        one.change("7", state, [plus("r@0", 7, y)])
    assert state.loads == 0


def test_a_worker_that_was_passed_by_loads_the_key_again() -> None:
    state, one, other = WatchedState(), worker(BY_KEY), worker(BY_KEY)
    one.change("7", state, [plus("r@0", 7, 0), plus("r@0", 7, 1)])
    other.change("7", state, [minus("r@0", 7, 0)])
    assert state.loads == 1
    assert one.change("7", state, [plus("r@0", 7, 2)]) == [Moved("net", "+", "twice", ("7",), 1)]
    assert state.loads == 2


def test_without_keys_it_follows_the_log_instead() -> None:
    state, workers = WatchedState(), [worker(WHOLE), worker(WHOLE)]
    for x in range(12):
        found = workers[x % 2].change("", state, [plus("arc", x, x + 1)])
        assert len(found) == x + 1
    assert state.loads == 1  # the second one, at first
    head = state.head()
    assert head is not None
    assert len(head.log) == keyed.BATCHES_IN_LOG


def test_too_much_for_the_log_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyed, "FACTS_IN_LOG", 3)
    state, workers = WatchedState(), [worker(WHOLE), worker(WHOLE)]
    for x in range(6):
        workers[x % 2].change("", state, [plus("arc", 5 * x + y, 5 * x + y + 1) for y in range(5)])
    assert state.loads == 5


def test_an_engine_is_given_up_when_it_has_grown_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyed, "LARGEST_ENGINE", 4)
    states, one = [WatchedState(), WatchedState()], worker(BY_KEY)
    for y in range(9):
        for key, state in enumerate(states, 7):
            found = one.change(str(key), state, [plus("r@0", key, y)])
            assert len(found) == (y == 1)
    assert all(state.loads > 1 for state in states)


def test_a_failed_task_leaves_no_trace() -> None:
    state, one = DictState(), worker(BY_KEY)
    one.change("7", state, [plus("r@0", 7, 0)])
    assert one.change("7", state.copy(), [plus("r@0", 7, 1)])
    assert one.change("7", state, [plus("r@0", 7, 2)]) == [Moved("net", "+", "twice", ("7",), 1)]


def test_a_key_without_facts_has_no_state() -> None:
    state, one = DictState(), worker(BY_KEY)
    one.change("7", state, [plus("r@0", 7, 0), plus("r@0", 7, 1)])
    one.change("7", state, [minus("r@0", 7, 0), minus("r@0", 7, 1)])
    assert state.head() is None
    assert one.change("7", state, [plus("r@0", 7, 0)]) == []


def test_where_the_program_gives_facts_no_facts_is_a_state() -> None:
    state = DictState()
    worker(BY_KEY).change("1", state, [minus("r@0", 1, 1)])
    assert state.head() is not None
    assert worker(BY_KEY).change("1", state, [plus("r@0", 1, 2)]) == []


def test_an_error_leaves_the_worker_in_order() -> None:
    setting = Setting(".decl r(x: number, y: number)\n.decl q(x: number)\nq(100 / y) :- r(_, y), y < 9.\n")
    state, one = DictState(), worker(setting)
    one.change("1", state, [plus("r@1", 0, 1)])
    with pytest.raises(DerivationError):
        one.change("0", DictState(), [plus("r@1", 5, 0)])
    assert one.change("1", state, [plus("r@1", 3, 1), minus("r@1", 0, 1)]) == []
