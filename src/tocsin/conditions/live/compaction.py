"""Layers compiled together and, now and then, everything: beside readers and writers, who go on.

Whoever is at work claims the layers there are, compiles without holding up anybody, and publishes a
version in which the result stands in their place. What was written meanwhile lies on top, untouched;
a rule that died meanwhile has its stamp and is masked like any other.
"""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Protocol
from weakref import WeakSet

from tocsin.conditions.graph.compiled_index import compile_like
from tocsin.conditions.live.layered_snapshot import Compiled, LayeredSnapshot
from tocsin.conditions.live.layers import Layer, Stack
from tocsin.conditions.live.merge_policy import compaction_is_due, fresh_are_due, merged_above


class Holder(Protocol):
    """Who has the present version."""

    version: LayeredSnapshot


_EVERY_UPKEEP: WeakSet[Upkeep] = WeakSet()


class Upkeep:
    """One piece of work at a time, by a thread that lives as long as there is some, or by a caller.

    `lock` is the writers', held while the holder's version is read and set.
    """

    def __init__(self, holder: Holder, lock: AbstractContextManager[bool]) -> None:
        self._holder = holder
        self._lock = lock
        self.start_over()
        _EVERY_UPKEEP.add(self)

    def start_over(self) -> None:
        """Nobody is at work: at first, and in a forked child, which has none of its parent's threads."""
        self._at_work = threading.Lock()
        self._is_running = False

    def start_if_due(self, version: LayeredSnapshot) -> None:
        """Start the thread if there is something to do; the lock is held."""
        if not self._is_running and _is_due(version):
            self._is_running = True
            threading.Thread(target=self._run, name="tocsin-upkeep", daemon=True).start()

    def compact(self) -> Layer:
        """Compile all rules, unless the main index is them already; the main index, as a layer."""
        with self._at_work:
            return self._compact()

    def _run(self) -> None:
        try:
            while self._goes_on():
                with self._at_work:
                    self._work()
        except BaseException:
            with self._lock:
                self._is_running = False
            raise

    def _goes_on(self) -> bool:
        with self._lock:
            self._is_running = _is_due(self._holder.version)
            return self._is_running

    def _work(self) -> None:
        version = self._holder.version
        if _wants_compaction(version):
            self._compact()
        elif fresh_are_due(fresh_rules(version)):
            version.settled()
        else:
            self._merge()

    def _merge(self) -> None:
        with self._lock:
            first = 1 + _merged_above(self._holder.version)
            claimed = self._claim(self._holder.version)
        layers = claimed.start.stack.layers
        merged = claimed.merged(layers[first:], claimed.count)
        with self._lock:
            now = self._holder.version
            latest = now.lineage.latest
            above = latest.stack.layers[len(layers) :]
            stack = (*layers[:first], *(() if merged is None else (merged,)), *above)
            self._holder.version = now.on(replace(latest, stack=Stack(stack, latest.stack), claimed=1))

    def _compact(self) -> Layer:
        """The layers of one moment become the main index; later layers move on top of it."""
        claimed, moment = self._claimed_whole()
        if claimed.is_whole:
            return claimed.main
        compacted = claimed.start.count
        kept = claimed.ledger.alive(compacted, moment)
        main = compile_like(claimed.ledger.main, claimed.ledger.rules(kept))
        layer = claimed.main.like(main)
        with self._lock:
            now = self._holder.version
            latest = now.lineage.latest
            shift = main.rule_count - compacted
            above = latest.stack.layers[len(claimed.start.stack.layers) :]
            stack = Stack((layer, *(each.moved(shift) for each in above)))
            ledger = now.ledger.after(main, kept, compacted)
            moved = replace(now, ledger=ledger, count=now.count + shift, compactions=now.compactions + 1)
            self._holder.version = moved.on(Compiled(stack, latest.count + shift, latest.change))
        return layer

    def _claimed_whole(self) -> tuple[LayeredSnapshot, int]:
        """A version whose layers are claimed, and the change whose rules they have, none before this call."""
        asked = self._holder.version.change
        while True:
            self._holder.version.settled()
            with self._lock:
                now = self._holder.version
                latest = now.lineage.latest
                if latest.count == now.count:
                    return self._claim(now), now.change
                if latest.change >= asked:
                    return self._claim(now), latest.change

    def _claim(self, now: LayeredSnapshot) -> LayeredSnapshot:
        """Keep readers from compiling the present layers together with others; the lock is held."""
        latest = now.lineage.latest
        self._holder.version = now.on(replace(latest, claimed=len(latest.stack.layers)))
        return self._holder.version


def _start_over() -> None:
    for upkeep in _EVERY_UPKEEP:
        upkeep.start_over()


os.register_at_fork(after_in_child=_start_over)


def fresh_rules(version: LayeredSnapshot) -> int:
    """How many rules are not compiled, of the present version."""
    return version.count - version.lineage.latest.count


def _is_due(version: LayeredSnapshot) -> bool:
    return (
        fresh_are_due(fresh_rules(version))
        or _wants_compaction(version)
        or _merged_above(version) < len(version.lineage.latest.stack.layers) - 1
    )


def _wants_compaction(version: LayeredSnapshot) -> bool:
    ledger = version.ledger
    return compaction_is_due(ledger.main_count, version.count - ledger.main_count, ledger.dead_in_main)


def _merged_above(version: LayeredSnapshot) -> int:
    """Of the layers above the main index, from which on to compile them together."""
    sizes = [len(layer) for layer in version.lineage.latest.stack.layers[1:]]
    alive = version.live - (version.ledger.main_count - version.ledger.dead_in_main)
    return merged_above(sizes, sum(sizes) - alive)
