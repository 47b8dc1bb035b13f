"""Rules that contain each other: conjunctions that refine earlier ones, as segments of customers do.

    a3 = 1 and a17 = 0
    a3 = 1 and a17 = 0 and a58 = 2
    a3 = 1 and a17 = 0 and a58 = 2 and a9 = 3

The workload on which reorganisation and self-adjustment have most to do; ABE-Gen's expressions, which are put
together from common pools, hardly contain each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tocsin.errors import UsageError


@dataclass(frozen=True)
class NestedSetting:
    """Every rule adds a predicate to an earlier one, or begins anew with two (`anew` is the chance).

    fields         all of them have a value in every event,
    cardinality    one of so many
    longest        a rule with so many predicates is not refined further
    """

    rules: int = 12_500
    fields: int = 100
    cardinality: int = 4
    longest: int = 12
    anew: float = 0.1
    seed: int = 1

    def __post_init__(self) -> None:
        if not 2 <= self.longest <= self.fields or min(self.rules, self.cardinality) < 1:
            raise UsageError("nested conjunctions have two predicates at least, each of another field")


def nested_rules(setting: NestedSetting) -> pa.Table:
    """The rules: id (r1, r2, ...) and when, predicates in any order."""
    rng = np.random.default_rng(setting.seed)
    known: list[list[int]] = []
    open_rules: list[int] = []
    for number in range(setting.rules):
        parts: list[int] = []
        if open_rules and rng.random() >= setting.anew:
            parts = known[open_rules[rng.integers(len(open_rules))]]
        fields = {part // setting.cardinality for part in parts}
        grown = list(parts)
        for _ in range(1 if parts else 2):
            field = int(rng.integers(setting.fields))
            while field in fields:
                field = int(rng.integers(setting.fields))
            fields.add(field)
            grown.append(field * setting.cardinality + int(rng.integers(setting.cardinality)))
        known.append(grown)
        if len(grown) < setting.longest:
            open_rules.append(number)
    names = [f"a{part // setting.cardinality} = {part % setting.cardinality}" for part in _all(setting)]
    whens = [" and ".join(names[part] for part in rng.permutation(parts)) for parts in known]
    ids = [f"r{number}" for number in range(1, setting.rules + 1)]
    return pa.table({"id": ids, "when": whens})


def nested_events(setting: NestedSetting, events: int) -> pa.Table:
    """Events: every field has a value."""
    rng = np.random.default_rng([setting.seed, events])
    columns = {f"a{field}": rng.integers(setting.cardinality, size=events) for field in range(setting.fields)}
    return pa.table(columns)


def _all(setting: NestedSetting) -> range:
    return range(setting.fields * setting.cardinality)
