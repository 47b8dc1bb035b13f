"""How many threads match a table, and their results in order.

Kernels leave the interpreter's lock, so threads share the cores. Each needs scratch memory of its own,
which for a large index is a lot; unless a number is given, there are no more threads than fit into
SCRATCH_AT_MOST together. Threads end with the call; the index keeps the scratch memory for the next one.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import TypeVar

from tocsin.conditions.matching.matcher import LayerMatcher
from tocsin.errors import UsageError

Item = TypeVar("Item")
Result = TypeVar("Result")

SCRATCH_AT_MOST = 4 << 30
"""Bytes that threads might come to use together for scratch memory, when their number is not given; what
they do use is mostly a fraction of it."""


def usable_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(asked: int | None, matchers: Iterable[LayerMatcher]) -> int:
    """How many threads to match with: as many as asked for, or as there are cores and memory for."""
    if asked is None:
        scratch = sum(each.most_scratch for each in matchers)
        return max(1, min(usable_cores(), SCRATCH_AT_MOST // max(1, scratch)))
    if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
        raise UsageError(f"threads must be a number from 1, not {asked!r}")
    return asked


def in_order(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    threads: int,
    ahead: Callable[[], int],
    given_up: Event | None = None,
) -> Iterator[Result]:
    """The results of work on each item, in the items' order, by so many threads.

    At most `ahead()` results, asked anew for each item, are in the making or waiting to be taken. One
    thread is the caller's own. An error comes where its result would have come. When the caller goes away
    before the end, with Ctrl-C say, `given_up` is set, so that work under way may end early.
    """
    if threads == 1:
        for item in items:
            yield work(item)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="tocsin-match") as pool:
        try:
            for item in items:
                while waiting and len(waiting) >= ahead():
                    yield waiting.popleft().result()
                waiting.append(pool.submit(work, item))
            while waiting:
                yield waiting.popleft().result()
        finally:
            if given_up is not None:
                given_up.set()
            pool.shutdown(wait=False, cancel_futures=True)
