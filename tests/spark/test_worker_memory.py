"""Memory of workers: what a batch has used is there for the next."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
import numpy as np
from tocsin.spark.match_worker import keep_freed_memory

if sys.argv[1] == "kept":
    keep_freed_memory()
    keep_freed_memory()

def use():
    arrays = [np.ones(1_500_000) for _ in range(4)]
    return sum(map(len, arrays))

use()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    use()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(setting: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, setting], check=True, capture_output=True, text=True
    )
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="a setting of the GNU C library")
def test_pages_are_not_asked_for_again() -> None:
    assert faults("kept") * 5 < faults("as it is") + 5
