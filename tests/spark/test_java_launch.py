"""Java that is started with packages to fetch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.spark
def test_packages_that_cannot_be_fetched_are_told_of_in_one_line(tmp_path: Path) -> None:
    program = "import tocsin.spark as ts; ts.session('local[1]', config={'spark.jars.packages': 'nonsense'})"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 1
    assert "\tat " not in done.stderr  # of Java
    last = done.stderr.splitlines()[-1]
    assert last.startswith("tocsin.errors.TocsinError: Spark did not start with the packages nonsense: ")
    assert "Maven Coordinates" in last
