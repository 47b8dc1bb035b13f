"""A stream past an index in shards: the alerts are those of one index of the same rules."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.sharded_rules import shared_out, write_in_parts
from tests.spark.stream.test_stream import Heard, Place, drawn_events

import tocsin

KINDS = ("whole", "parts")
SECONDS = [None, None, "3 seconds", "20 seconds"]


def drawn_rules(dice: random.Random, count: int) -> pa.Table:
    """Rules with texts, throttles and dedup fields, some with free text, some of fields that nobody has."""
    whens = [
        dice.choice(
            [
                f"n = {dice.randrange(14)}",
                f"n < {dice.randrange(6)} and not tag = 'drill'",
                f"contains(user.name, 'u{dice.randrange(30)}')",
                f"tag = 'real' xor n > {dice.randrange(12)}",
                f"nowhere{dice.randrange(2)} = 1",
            ]
        )
        for _ in range(count)
    ]
    throttles = [dice.choice(SECONDS) for _ in whens]
    dedups = [None if each is None else dice.choice([None, "user.name", "tag"]) for each in throttles]
    alerts = [dice.choice([None, "{n} is too much", "{user.name} at {at}, {score}"]) for _ in whens]
    return pa.table(
        {
            "id": [f"r{number}" for number in range(count)],
            "when": whens,
            "alert": pa.array(alerts, pa.string()),
            "throttle": pa.array(throttles, pa.string()),
            "dedup": pa.array(dedups, pa.string()),
        }
    )


def write(place: Place, kind: str, rules: pa.Table) -> None:
    place.rules = place.folder / "rules.tocsin"
    if kind == "whole":
        tocsin.build(rules).save(place.rules)
    else:
        write_in_parts(place.rules, shared_out(random.Random(len(rules)), rules, 3))


def alerts(place: Place) -> list[dict[str, Any]]:
    return sorted(place.sent(), key=lambda row: (row["batch"], row["key"], row["rule"]))


def run(place: Place) -> Heard:
    return place.run(time="at", keep=["tag"])


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_alerts_are_those_of_one_index(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    sent: dict[str, list[dict[str, Any]]] = {}
    heard: dict[str, list[object]] = {}
    for kind in KINDS:
        dice = random.Random(seed)
        folder = tmp_path / kind
        folder.mkdir()
        place = Place(folder)
        write(place, kind, drawn_rules(dice, 40))
        place.put("a.jsonl", drawn_events(200, seed))
        first = run(place)
        write(place, kind, drawn_rules(dice, 30))
        place.put("b.jsonl", drawn_events(200, seed + 10))
        second = run(place)
        assert [each.version for each in (*first.batches, *second.batches)] == [1, 2]
        assert first.refusals == second.refusals == []
        sent[kind] = alerts(place)
        heard[kind] = [(each.events, each.matches) for each in (*first.batches, *second.batches)]
        heard[kind] += [*first.warnings, *second.warnings]
    assert len(sent["whole"]) > 200
    assert sent["parts"] == sent["whole"]
    assert heard["parts"] == heard["whole"]
    assert any("nowhere" in str(each) for each in heard["parts"])
