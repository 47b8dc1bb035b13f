"""Locks that a forked child can take.

A child has one thread. A lock that another thread held at the fork is never released there, and what that
thread was writing stays half written. So a fork waits until nobody holds any of these locks, and both
processes go on with all of them free.

Where one lock is taken inside another, the outer one has the lower order, in which a fork takes them.
"""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

WATCH, RULES, CACHE, COMPILER = range(4)
"""A watch changes rules, a change of rules may fill a cache, and all of them may compile a kernel."""


class Lock(Protocol):
    """What has to be free at a fork; the thread that forks may hold it."""

    def acquire(self) -> Any:
        """Wait until it is free, and take it."""

    def release(self) -> None:
        """Give it back."""


AnyLock = TypeVar("AnyLock", bound=Lock)

_registering = threading.Lock()
_locks: tuple[WeakSet[Lock], ...] = tuple(WeakSet() for _ in range(COMPILER + 1))
_taken: list[Lock] = []


def fork_safe_lock(order: int) -> AbstractContextManager[bool]:
    """A lock that the thread which holds it may take again, and that a fork waits for."""
    return free_at_forks(threading.RLock(), order)


def free_at_forks(lock: AnyLock, order: int) -> AnyLock:
    """Have forks wait for a lock for as long as it exists."""
    with _registering:
        _locks[order].add(lock)
    return lock


def _take() -> None:
    _registering.acquire()
    for locks in _locks:
        for lock in locks:
            lock.acquire()
            _taken.append(lock)


def _give_back() -> None:
    while _taken:
        _taken.pop().release()
    _registering.release()


os.register_at_fork(before=_take, after_in_parent=_give_back, after_in_child=_give_back)
