"""A stream whose process is killed again and again: nothing is lost, nothing comes twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession
from tests.spark.datalog_stream.test_activate import SPREAD, Folder, Said, changes_of, found_in, random_seqs
from tests.spark.datalog_stream.test_plans_at_work import at_once, said

from tocsin import Program

FILES = 12
KILLS = 3


def batches_done(folder: Path) -> int:
    commits = folder / "checkpoint" / "commits"
    return sum(1 for each in commits.glob("[0-9]*")) if commits.exists() else 0


@pytest.mark.slow
def test_killed_at_any_moment(spark: SparkSession, tmp_path: Path) -> None:
    random = Random(3)
    engine = Program.parse(SPREAD).start()
    (tmp_path / "program.dl").write_text(SPREAD)
    folder = Folder(spark, tmp_path)
    expected: Said = set()
    for number in range(FILES):
        seqs = random_seqs(random, 10, 1 + 10 * number)
        for seq, operations in seqs:
            expected |= said(engine.apply(at_once(operations)), seq)
        folder.add(changes_of(seqs))
    command = [sys.executable, str(Path(__file__).with_name("killed_stream.py"))]
    for kill in range(KILLS + 1):
        before = batches_done(tmp_path)
        process = subprocess.Popen(
            [*command, str(tmp_path / "program.dl"), str(tmp_path)],
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if kill == KILLS:
            assert process.wait() == 0
            break
        while batches_done(tmp_path) < before + 2 and process.poll() is None:
            time.sleep(0.05)
        time.sleep(random.random())
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert (tmp_path / "done").exists()
    assert batches_done(tmp_path) == FILES
    assert found_in(folder.results()) == expected
