"""Payments, and rules that watch them: flat events of 20 fields, as a table in a data lake has them.

A rule is a conjunction of clauses that thousands of rules share (`country = 'country 12'`, `amount >= 250`),
no field twice in one of them. With every clause more it matches about a fourth of the events. So the matches
of an event can be chosen by the number of rules and of clauses. Everything follows from the seed.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

FIELDS = 20
EVENTS_AT_ONCE = 250_000
START = np.datetime64("2026-01-05T00:00:00", "us")

TEXTS = {
    # A text field, how many different values it has, and how uneven they are.
    "country": (60, 1.0),
    "currency": (20, 1.2),
    "merchant": (5_000, 0.9),
    "category": (40, 0.7),
    "channel": (6, 0.5),
    "device": (12, 0.8),
    "card": (8, 0.6),
    "bank": (300, 0.9),
}
INTEGERS = {
    # An integer field, its least value and how many values it has, all as frequent.
    "hour": (0, 24),
    "weekday": (1, 7),
    "age": (18, 70),
    "items": (1, 30),
    "attempts": (0, 10),
    "account_days": (0, 3_000),
}
NUMBERS = ("amount", "distance", "risk")
YES_OR_NO = ("online", "known_device")

_Rng = np.random.Generator


def events(first: int, count: int, seed: int = 1) -> pa.Table:
    """`count` payments, the first of which has the id `first`."""
    rng = np.random.default_rng((seed, first))
    columns: dict[str, pa.Array] = {"id": pa.array(np.arange(first, first + count, dtype=np.int64))}
    for name, (values, skew) in TEXTS.items():
        names = pa.array([f"{name} {place}" for place in range(values)])
        columns[name] = names.take(pa.array(_uneven(rng, count, values, skew)))
    for name, (least, values) in INTEGERS.items():
        columns[name] = pa.array(rng.integers(least, least + values, count, dtype=np.int32))
    columns["amount"] = pa.array(np.round(np.exp(rng.normal(3.5, 1.2, count)), 2))
    columns["distance"] = pa.array(rng.exponential(200.0, count))
    columns["risk"] = pa.array(rng.random(count))
    for name in YES_OR_NO:
        columns[name] = pa.array(rng.random(count) < 0.6)
    made = pa.table(columns)
    assert made.num_columns == FIELDS
    return made


def write_events(folder: Path, count: int, files: int, seed: int = 1) -> None:
    """The payments as Parquet files of about the same size, written piece by piece."""
    folder.mkdir(parents=True)
    for number, part in enumerate(np.array_split(np.arange(count), files)):
        start, stop = int(part[0]), int(part[-1]) + 1
        with pq.ParquetWriter(
            folder / f"part-{number:03d}.parquet", events(0, 0, seed).schema, compression="zstd"
        ) as writer:
            for first in range(start, stop, EVENTS_AT_ONCE):
                writer.write_table(events(first, min(EVENTS_AT_ONCE, stop - first), seed))


def write_packed(folder: Path, count: int, files: int, seed: int = 1) -> None:
    """The payments as packed JSON lines."""
    folder.mkdir(parents=True)
    for number, part in enumerate(np.array_split(np.arange(count), files)):
        start, stop = int(part[0]), int(part[-1]) + 1
        with gzip.open(folder / f"part-{number:03d}.jsonl.gz", "wt", compresslevel=1) as lines:
            for first in range(start, stop, EVENTS_AT_ONCE):
                rows = events(first, min(EVENTS_AT_ONCE, stop - first), seed).to_pylist()
                lines.writelines(json.dumps(row) + "\n" for row in rows)


def rules(count: int, clauses: int, seed: int = 1) -> pa.Table:
    """`count` rules (id, when) of `clauses` clauses each."""
    return _rules(count, clauses, (*TEXTS, *INTEGERS, *NUMBERS, *YES_OR_NO), seed)


def exclusive_rules(count: int, clauses: int, seed: int = 1) -> pa.Table:
    """The same, each for another merchant: of these at most one matches an event."""
    others = [name for name in (*TEXTS, *INTEGERS, *NUMBERS, *YES_OR_NO) if name != "merchant"]
    made = _rules(count, clauses - 1, others, seed)
    when = [
        f"merchant = 'merchant {place}' and {each}" for place, each in enumerate(made["when"].to_pylist())
    ]
    return pa.table({"id": made["id"], "when": pa.array(when)})


def _rules(count: int, clauses: int, names: Sequence[str], seed: int) -> pa.Table:
    rng = np.random.default_rng((seed, 7))
    pools = [_clauses_of(rng, name) for name in names]
    chosen = rng.random((count, len(pools))).argsort(axis=1)[:, :clauses]
    drawn = rng.random((count, clauses)) ** 1.5  # the first of a pool are used more
    when = [
        " and ".join(
            pools[pool][int(place * len(pools[pool]))] for pool, place in zip(row, places, strict=True)
        )
        for row, places in zip(chosen.tolist(), drawn.tolist(), strict=True)
    ]
    ids = [f"rule-{number:07d}" for number in range(count)]
    return pa.table({"id": pa.array(ids), "when": pa.array(when)})


def _uneven(rng: _Rng, count: int, values: int, skew: float) -> NDArray[np.int64]:
    weights = np.arange(1, values + 1) ** -skew
    return np.searchsorted(np.cumsum(weights / weights.sum()), rng.random(count)).clip(0, values - 1)


def _clauses_of(rng: _Rng, name: str) -> list[str]:
    """The clauses on one field that rules choose from."""
    if name in TEXTS:
        values = TEXTS[name][0]
        made = [f"{name} = '{name} {place}'" for place in range(values)]
        for _ in range(values // 4 + 4):
            some = ", ".join(f"'{name} {place}'" for place in rng.integers(0, values, 4))
            made += [f"{name} in ({some})", f"{name} not in ({some})"]
        return made
    if name in INTEGERS:
        least, values = INTEGERS[name]
        lows = rng.integers(least, least + values, 40)
        spans = rng.integers(0, values // 3 + 1, 40)
        return [f"{name} between {low} and {low + span}" for low, span in zip(lows, spans, strict=True)]
    if name in YES_OR_NO:
        return [name, f"not {name}"]
    limits = {"amount": (1, 400), "distance": (1, 900), "risk": (0, 1)}[name]
    drawn = np.round(rng.uniform(*limits, 120), 2)
    return [f"{name} {'>=' if place % 3 else '<'} {value}" for place, value in enumerate(drawn.tolist())]
