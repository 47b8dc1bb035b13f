"""Event files on Spark: the same result as without it, whatever happens on the way."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.cases import random_condition, random_json_event
from tests.cli.documents import shown_commands, shown_files
from tests.cli.running import EVENTS, PAIRS, RULES, Command

import tocsin.events.slices as slices_module
from tocsin.errors import InputError
from tocsin.events.slices import plan_slices
from tocsin.monitor import parts
from tocsin.monitor.building import build
from tocsin.monitor.index import Index
from tocsin.monitor.parts import SliceJob, match_slice, read_part
from tocsin.monitor.slice_matchers import IndexOnSlices
from tocsin.spark.files import match_slices


@pytest.fixture
def tocsin(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Command]:
    """The command, on the session that all tests share, with slices of a few lines."""
    plan = slices_module.plan_slices
    monkeypatch.setattr(slices_module, "plan_slices", lambda path: plan(path, slice_bytes=4_000))
    monkeypatch.chdir(tmp_path)
    return Command(tmp_path, capsys)
