"""From a setting to its forest and its rules."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from tocsin_lab.abe_gen.abe import random_forest
from tocsin_lab.abe_gen.ads import ads_forest
from tocsin_lab.abe_gen.forest import Forest, rule_texts
from tocsin_lab.abe_gen.settings import AdsSetting, Workload
from tocsin_lab.abe_gen.texts import decimals, side_by_side

RULE_SCHEMA = pa.schema([("id", pa.large_string()), ("when", pa.large_string())])


def forest_of(setting: Workload) -> Forest:
    """The expressions of a setting, as arrays."""
    return ads_forest(setting) if isinstance(setting, AdsSetting) else random_forest(setting)


def rules(setting: Workload) -> pa.Table:
    """The rules of a setting: id (r1, r2, ...) and when; the same for the same setting."""
    return rules_of(forest_of(setting))


def rules_of(forest: Forest) -> pa.Table:
    """The rules of a forest."""
    return pa.Table.from_batches(rule_batches(forest), RULE_SCHEMA)


def rule_batches(forest: Forest) -> Iterator[pa.RecordBatch]:
    """The rules in portions, for workloads whose texts should not stand in memory all at once."""
    first = 1
    for texts in rule_texts(forest):
        ids = side_by_side("r", decimals(np.arange(first, first + len(texts))))
        yield pa.record_batch([ids, texts], schema=RULE_SCHEMA)
        first += len(texts)
