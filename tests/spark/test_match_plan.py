"""The planner: which way events meet an index in shards, by the sizes alone."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tocsin.errors import UsageError
from tocsin.spark.match_plan import APART, TOGETHER, Room, ShardSize, choose_way, parse_bytes, room_of

MB = 1_000_000
SHARDS = [ShardSize(rules=1000, mapped=100 * MB, scratch=50 * MB) for _ in range(4)]


def test_parts_go_together_as_long_as_there_is_memory() -> None:
    plan = choose_way(SHARDS, Room(memory=800 * MB, cores=2))
    assert (plan.way, plan.together, plan.apart) == (TOGETHER, 800 * MB, 300 * MB)
    plan = choose_way(SHARDS, Room(memory=799 * MB, cores=2))
    assert plan.way == APART
    assert "memory for one shard in each worker" in plan.reason
    assert "all shards need yet more" in choose_way(SHARDS, Room(memory=299 * MB, cores=2)).reason


def test_one_part_and_streams_go_together_however_large() -> None:
    tiny = Room(memory=1, cores=2)
    assert choose_way(SHARDS[:1], tiny).way == TOGETHER
    assert choose_way(SHARDS, tiny, streaming=True).way == TOGETHER


def test_the_user_decides() -> None:
    assert choose_way(SHARDS, Room(10**12, 2), way=APART).way == APART
    assert choose_way(SHARDS, Room(1, 2), way=TOGETHER).way == TOGETHER
    with pytest.raises(UsageError, match="read once"):
        choose_way(SHARDS, Room(1, 2), way=APART, streaming=True)
    with pytest.raises(UsageError, match="no way 'sideways'"):
        choose_way(SHARDS, Room(1, 2), way="sideways")


def test_what_it_says() -> None:
    plan = choose_way(SHARDS, Room(memory=500 * MB, cores=2))
    assert str(plan).splitlines() == [
        "rules         4,000 in 4 shards",
        "way           apart: every task takes its events past one shard, and the events are read 4 times",
        f"because       {plan.reason}",
        "together      800.0 MB at most on an executor of 2 cores",
        "apart         300.0 MB at most",
        "there is      500.0 MB beside Java's memory",
    ]


@pytest.mark.parametrize(
    ("master", "said", "room"),
    [
        ("local-cluster[2,3,1024]", {}, Room(384 << 20, 3)),
        ("local-cluster[2, 3, 1024]", {"spark.executor.cores": "2"}, Room(384 << 20, 2)),
        ("yarn", {"spark.executor.memory": "8g"}, Room((8 << 30) // 10, 1)),
        ("yarn", {"spark.executor.memoryOverhead": "2g"}, Room(2 << 30, 1)),
        ("yarn", {"spark.executor.pyspark.memory": "3g", "spark.executor.cores": "4"}, Room(3 << 30, 4)),
    ],
)
def test_what_executors_have_by_the_settings(master: str, said: dict[str, str], room: Room) -> None:
    session = SimpleNamespace(sparkContext=SimpleNamespace(master=master, getConf=lambda: said))
    assert room_of(session) == room  # type: ignore[arg-type]


def test_sizes_as_spark_writes_them() -> None:
    sizes = {
        "512m": 512 << 20,
        "4g": 4 << 30,
        "4GB": 4 << 30,
        "1024": 1 << 30,
        "7b": 7,
        "2k": 2048,
        "1T": 1 << 40,
    }
    assert {text: parse_bytes(text) for text in sizes} == sizes
    with pytest.raises(UsageError, match="not a size"):
        parse_bytes("much")
