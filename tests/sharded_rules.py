"""Rules shared out over the parts of an index, at random, without Spark."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tests.cases import Choices

import tocsin
from tocsin import Index, Rules
from tocsin.conditions.graph import Shard, write_shard_list
from tocsin.conditions.live.sharded_index import sharded_index


def shared_out(choices: Choices, rules: object, count: int, **settings: Any) -> list[Index]:
    """As many indexes, each with some of the rules; one may have none."""
    every = Rules.of(rules)
    part_of = np.array([choices.randint(0, count - 1) for _ in range(len(every))], np.int64)
    made = [tocsin.build(every.take(np.flatnonzero(part_of == part)), **settings) for part in range(count)]
    return [each for each in made if isinstance(each, Index)]


def in_parts(choices: Choices, rules: object, count: int, **settings: Any) -> Index:
    """An index in shards of the rules."""
    return sharded_index(shared_out(choices, rules, count, **settings))


def write_in_parts(folder: Path, indexes: Sequence[Index]) -> None:
    """Write an index in shards as ts.build does, in the place of the one that is there."""
    folder.mkdir(exist_ok=True)
    unique = uuid.uuid4().hex[:8]
    parts = []
    for number, index in enumerate(indexes):
        file = folder / f"shard-{unique}-{number:04}.tocsin"
        index.save(file)
        parts.append(Shard.of(file, len(index)))
    write_shard_list(folder, parts)
