"""A child that is forked while its parent's threads write can write too; nothing hangs or is half there."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import tocsin
from tocsin.conditions.live.merge_policy import FRESH_AT_MOST

FORKS = 12
PATIENCE = 60

pytestmark = pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")


@contextmanager
def _busy(*work: Callable[[int], object]) -> Iterator[None]:
    """Threads that go on with their work until the block is done."""
    done = threading.Event()
    failed: list[BaseException] = []

    def run(each: Callable[[int], object]) -> None:
        turn = 0
        try:
            while not done.is_set():
                each(turn)
                turn += 1
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(each,)) for each in work]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert not failed


def _succeeds_in_a_child(work: Callable[[], bool]) -> bool:
    """Whether work done in a forked child says so before long."""
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)  # a child that hangs is ended by the signal
        try:
            os._exit(0 if work() else 1)
        finally:
            os._exit(2)
    return os.waitpid(child, 0)[1] == 0


def test_rules_are_inserted_in_a_child_while_threads_of_the_parent_write_and_compact() -> None:
    index = tocsin.build([(f"kept {number}", f"n = {number}") for number in range(50)])

    def write(turn: int) -> None:
        pairs = [("insert", f"{turn} {place}", "n = 7") for place in range(30)]
        index.apply([*pairs, *([("delete", f"{turn - 1} {place}") for place in range(30)] if turn else [])])

    def in_child() -> bool:
        before = [match.rule for match in index.match({"n": 7})]
        index.apply([("insert", f"child {number}", "n = 7") for number in range(FRESH_AT_MOST)])
        index.insert(f"child {FRESH_AT_MOST}", "n = 7")
        index.delete("kept 7")
        index.compact()
        after = [match.rule for match in index.match({"n": 7})]
        kept = [rule for rule in before if rule != "kept 7"]
        # The parent writes thirty rules at a time, and takes thirty away in the same change.
        return len(kept) in (0, 30) and after == [*kept, *(f"child {n}" for n in range(FRESH_AT_MOST + 1))]

    with _busy(write, lambda _: index.compact()):
        assert all(_succeeds_in_a_child(in_child) for _ in range(FORKS))


def test_rows_are_inserted_in_a_child_while_a_thread_of_the_parent_inserts() -> None:
    watch = tocsin.watch([("both", "n = 1 and contains(body, 'golf Käse')")])

    def in_child() -> bool:
        rows = len(watch.rows("t"))
        alerts = watch.insert("t", {"n": 1, "body": "golf über alles: Käse"})
        return [alert.rule for alert in alerts] == ["both"] and len(watch.rows("t")) == rows + 1

    with _busy(lambda turn: watch.insert("t", {"n": turn, "body": f"golf {chr(0x4E00 + turn % 5000)}"})):
        assert all(_succeeds_in_a_child(in_child) for _ in range(FORKS))
