"""The script that becomes the workers' Python."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tocsin.spark.launch_scripts import PYTHON_SCRIPT, worker_python

CHATTER = "pyspark.sql.streaming.transform_with_state_driver_worker"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def said(*arguments: str) -> tuple[str, str, int]:
    done = subprocess.run([worker_python(), *arguments], capture_output=True, text=True, check=False)
    return done.stdout, done.stderr, done.returncode


def test_it_is_this_python_with_its_arguments() -> None:
    program = "import sys; print(sys.prefix, sys.argv[1:]); sys.exit(3)"
    assert said("-c", program, "a b", "") == (f"{sys.prefix} ['a b', '']\n", "", 3)


def test_only_the_chatter_is_thrown_away() -> None:
    program = "import sys; print('out'); print('err', file=sys.stderr)"
    assert said("-c", program, CHATTER) == ("", "err\n", 0)
    assert said("-c", program, f"{CHATTER}s") == ("out\n", "err\n", 0)


def test_spark_still_has_what_is_kept_quiet() -> None:
    assert find_spec(CHATTER) is not None
    assert f" {CHATTER} " in PYTHON_SCRIPT


def test_a_path_with_odd_letters(tmp_path: Path) -> None:
    python = tmp_path / "it's $HOME"
    python.symlink_to(sys.executable)
    done = subprocess.run([worker_python(str(python)), "-c", "print(1)"], capture_output=True, check=True)
    assert done.stdout == b"1\n"
