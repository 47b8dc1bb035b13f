"""How events meet the rules: one index in every worker, or the shards of an index one by one.

    together   every task takes its events past all shards. Their pages are mapped once on a machine, and
               every worker needs room to work with all of them
    apart      every task takes its events past one shard, and each has tasks of its own: a worker holds
               one shard, and the events are read once for each

Together is quicker as long as there is memory for it, so memory decides. A stream is matched together
always: its source is read once.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

from tocsin.errors import UsageError
from tocsin.printable import number_of
from tocsin.spark.session import is_local

if TYPE_CHECKING:
    from tocsin.conditions.live import Index

TOGETHER, APART = "together", "apart"
WAYS = ("auto", TOGETHER, APART)

MEBIBYTE = 1 << 20
_LEAST_OVERHEAD = 384 * MEBIBYTE
_UNITS = {"": MEBIBYTE, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}


@dataclass(frozen=True, slots=True)
class ShardSize:
    """What one shard takes: bytes that are mapped, once on a machine, and those of each worker alone."""

    rules: int
    mapped: int
    scratch: int


@dataclass(frozen=True, slots=True)
class Room:
    """What there is for rules on one executor: `memory` beside Java's, for as many workers as `cores`."""

    memory: int
    cores: int


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """How a match goes, and why; print it."""

    way: str
    reason: str
    shards: tuple[ShardSize, ...]
    room: Room

    @property
    def together(self) -> int:
        """Bytes on an executor when each worker takes all shards."""
        scratch = sum(shard.scratch for shard in self.shards)
        return sum(shard.mapped for shard in self.shards) + self.room.cores * scratch

    @property
    def apart(self) -> int:
        """Bytes on an executor when each worker takes one shard, the largest at worst."""
        largest = sorted(self.shards, key=lambda shard: shard.mapped + shard.scratch)[-self.room.cores :]
        scratch = max((shard.scratch for shard in self.shards), default=0)
        return sum(shard.mapped for shard in largest) + self.room.cores * scratch

    def __str__(self) -> str:
        rules = sum(shard.rules for shard in self.shards)
        count = len(self.shards)
        tasks = "every task takes its events past all rules"
        if self.way == APART:
            tasks = f"every task takes its events past one shard, and the events are read {count} times"
        return "\n".join(
            (
                f"rules         {rules:,} in {number_of(count, 'shard')}",
                f"way           {self.way}: {tasks}",
                f"because       {self.reason}",
                f"together      {_size(self.together)} at most on an executor of {self.room.cores} cores",
                f"apart         {_size(self.apart)} at most",
                f"there is      {_size(self.room.memory)} beside Java's memory",
            )
        )


def choose_way(
    shards: Sequence[ShardSize], room: Room, *, way: str = "auto", streaming: bool = False
) -> MatchPlan:
    """Choose by the sizes, unless the user has."""
    if way not in WAYS:
        raise UsageError(f"there is no way {way!r} to match: choose one of {', '.join(WAYS)}")
    if streaming and way == APART:
        raise UsageError("a stream is matched together: its source is read once")
    plan = MatchPlan(TOGETHER if way == "auto" else way, "it was asked for", tuple(shards), room)
    if way != "auto":
        return plan
    if len(shards) < 2:
        return replace(plan, reason="the index is one shard")
    if streaming:
        return replace(plan, reason="a stream's source is read once")
    if plan.together <= room.memory:
        return replace(plan, reason="there is memory for all shards")
    fits = "there is memory for one shard in each worker"
    if plan.apart > room.memory:
        fits = "all shards need yet more"
    return replace(plan, way=APART, reason=f"there is no memory for all shards together; {fits}")


def explain_match(
    events: DataFrame, index_or_path: Index | str | os.PathLike[str], *, way: str = "auto"
) -> str:
    """How ts.match would match these events, and why; nothing is matched.

    print(ts.explain_match(events, "rules.tocsin"))
    """
    from tocsin.spark.index_shipment import ship_rules

    if not isinstance(events, DataFrame):
        raise UsageError(f"explain_match takes a Spark DataFrame, not {type(events).__name__}")
    session = events.sparkSession
    indexes = ship_rules(session, index_or_path).shards()
    return str(plan_match(session, indexes, way=way, streaming=events.isStreaming))


def plan_match(session: SparkSession, indexes: Sequence[Index], *, way: str, streaming: bool) -> MatchPlan:
    """Choose the way for indexes that are open in the driver."""
    return choose_way([size_of(index) for index in indexes], room_of(session), way=way, streaming=streaming)


def size_of(index: Index) -> ShardSize:
    """What an index takes in a worker."""
    from tocsin.conditions.live import bytes_for_matching

    layers = index.version.layers
    mapped = sum(sum(bytes_for_matching(layer.compiled).values()) for layer in layers)
    return ShardSize(len(index), mapped, sum(layer.matcher.most_scratch for layer in layers))


def room_of(session: SparkSession) -> Room:
    """What a session's executors have for rules: on a local master half of what Java leaves over."""
    conf = session.sparkContext.getConf()
    master = session.sparkContext.master or ""
    if is_local(master) and not master.startswith("local-cluster"):
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        heap = parse_bytes(conf.get("spark.driver.memory", "1g") or "1g")
        return Room(max(0, machine - heap) // 2, session.sparkContext.defaultParallelism)
    cores = int(conf.get("spark.executor.cores") or _cores_of_a_worker(master))
    python = conf.get("spark.executor.pyspark.memory")
    if python:
        return Room(parse_bytes(python), cores)
    heap = parse_bytes(conf.get("spark.executor.memory", "1g") or "1g")
    share = float(conf.get("spark.executor.memoryOverheadFactor", "0.1") or 0.1)
    overhead = conf.get("spark.executor.memoryOverhead")
    return Room(parse_bytes(overhead) if overhead else max(_LEAST_OVERHEAD, int(share * heap)), cores)


def _cores_of_a_worker(master: str) -> str:
    """What an executor has when nobody says: one core, and of a local-cluster all that its worker has."""
    found = re.fullmatch(r"local-cluster\[[^,]*,\s*(\d+)\s*,[^,]*\]", master.strip())
    return "1" if found is None else found[1]


def parse_bytes(text: str) -> int:
    """A size as Spark's settings have it: `512m`, `4g`; a bare number is in mebibytes."""
    found = re.fullmatch(r"\s*(\d+)\s*([bkmgtp]?)(?:i?b)?\s*", text.lower())
    if found is None:
        raise UsageError(f"{text!r} is not a size that Spark has")
    return int(found[1]) * _UNITS[found[2]]


def _size(count: int) -> str:
    return f"{count / 1e9:,.2f} GB" if count >= 1e9 else f"{count / 1e6:,.1f} MB"
