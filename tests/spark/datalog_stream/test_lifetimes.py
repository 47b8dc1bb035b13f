"""Facts that expire in event time: as an engine's `advance`, where times are in order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.spark.datalog_stream.simulated import Given, Simulated
from tests.spark.datalog_stream.spread_programs import DERIVED, INPUTS, spread_operations, spread_programs
from tests.spark.datalog_stream.test_plans_at_work import EXAMPLES, at_once, said

from tocsin import Program
from tocsin.datalog.engine.requests import Operation

TTL = 5

NEAR = """
.decl near(who: symbol)
.decl there(who: symbol)
there(w) :- near(w).
near("eve").
"""


@settings(EXAMPLES, max_examples=25)
@given(
    spread_programs(),
    st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.lists(spread_operations(), max_size=4)), max_size=4),
        max_size=5,
    ),
    st.integers(0, 3),
)
def test_in_order_it_is_what_advance_does(
    text: str, batches: list[list[tuple[int, list[Operation]]]], delay: int
) -> None:
    engine = Program.parse(text).start()
    simulated = Simulated(text, workers=2, ttl=dict.fromkeys([*INPUTS, *DERIVED], TTL))
    seq = now = watermark = 0
    for batch in [*batches, []]:
        expected = said(engine.advance(watermark), None)
        changes: list[Given] = []
        for passed, operations in batch:
            seq += 1
            now += passed
            expected |= said(engine.apply(at_once(operations), ttl=now + TTL - watermark), seq)
            changes += [(*operation, seq, now) for operation in dict.fromkeys(operations)]
        assert simulated.batch(changes, watermark) == expected
        watermark = max(watermark, now - delay)


def near() -> Simulated:
    return Simulated(NEAR, ttl={"near": TTL})


def test_an_older_time_does_not_shorten_a_life() -> None:
    watch = near()
    assert watch.batch([("+", "near", ("ada",), 1, 9), ("+", "near", ("ada",), 2, 4)], 3) == {
        ("+", "there", ("ada",), 1)
    }
    assert watch.batch([], 13) == set()
    assert watch.batch([], 14) == {("-", "there", ("ada",), None)}


def test_what_comes_when_its_time_is_over_is_passed_over() -> None:
    watch = near()
    assert watch.batch([("+", "near", ("ada",), 1, 4), ("+", "near", ("bob",), 2, 5)], 9) == {
        ("+", "there", ("bob",), 2)
    }


def test_a_late_deletion_counts() -> None:
    watch = near()
    watch.batch([("+", "near", ("ada",), 1, 9)], 3)
    assert watch.batch([("-", "near", ("ada",), 2, 1)], 9) == {("-", "there", ("ada",), 2)}
    assert watch.batch([], 30) == set()


def test_it_expires_before_the_changes_of_its_batch() -> None:
    watch = near()
    watch.batch([("+", "near", ("ada",), 1, 1)], 0)
    assert watch.batch([("+", "near", ("ada",), 2, 8)], 6) == {
        ("-", "there", ("ada",), None),
        ("+", "there", ("ada",), 2),
    }


def test_facts_of_the_program_live_for_ever_until_they_are_given_a_time() -> None:
    watch = near()
    assert watch.batch([], 1000) == set()
    assert watch.batch([("+", "near", ("eve",), 1, 1001)], 1000) == set()
    assert watch.batch([], 1006) == {("-", "there", ("eve",), None)}


def test_a_life_is_counted_from_when_the_fact_is_given_not_taken_back() -> None:
    watch = near()
    both: list[Given] = [("-", "near", ("ada",), 1, 90), ("+", "near", ("ada",), 1, 9)]
    assert watch.batch(both, 3) == {("+", "there", ("ada",), 1)}
    assert watch.batch([], 14) == {("-", "there", ("ada",), None)}
