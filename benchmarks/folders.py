"""Folders of rules whose matches are known.

rules.parquet or rules.csv.gz, events.jsonl.gz, and in counts.txt.gz a number for each event.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

Row = dict[str, Any]


def rules_in(folder: Path) -> pa.Table:
    if (folder / "rules.parquet").exists():
        return pq.read_table(folder / "rules.parquet")
    return pyarrow.csv.read_csv(folder / "rules.csv.gz")


def events_in(folder: Path) -> list[Row]:
    with gzip.open(folder / "events.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def counts_in(folder: Path) -> list[int]:
    """How many rules match each event."""
    with gzip.open(folder / "counts.txt.gz", "rt") as lines:
        return [int(line) for line in lines]


def table_of(rows: Sequence[Row]) -> pa.Table:
    """Events as a table with a column for each field that any of them has."""
    names = sorted({name for row in rows for name in row})
    return pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})
