"""What a worker keeps in memory between batches."""

from __future__ import annotations

import pytest
from tests.spark.datalog_stream.simulated import DictStore

from tocsin.datalog.spark.stream import processors
from tocsin.datalog.spark.stream.initial_facts import Setting
from tocsin.datalog.spark.stream.processors import Stepping
from tocsin.datalog.spark.stream.step_rows import Moved

SETTING = Setting(".decl r(x: number)\n.decl q(x: number)\nq(x) :- r(x).\n")


def test_buckets_are_given_up_when_they_hold_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors, "HELD", 30)
    monkeypatch.setattr(processors, "_buckets", {})
    counting, stores = Stepping(SETTING, "count", None, {}), [DictStore() for _ in range(4)]
    for number in range(40):
        bucket = number % 4
        change = Moved("support", "+", "q", (str(number),), number)
        counting._held(0, bucket).change(stores[bucket], [change])
        others = [each for (*_, held), each in processors._buckets.items() if held != bucket]
        assert sum(each.contents.size for each in others) <= 30
    assert len(processors._buckets) < 4
    again = Moved("support", "-", "q", ("4",), 99)
    (gone,) = counting._held(0, 0).change(stores[0], [again])
    assert (gone.op, gone.tuple) == ("-", ("4",))
