"""What is noted with the compiler off is what is compiled with it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

NOTES = """
import pickle
import numpy as np
from tocsin.arrays.kernel_calls import calls_of
from tocsin.arrays.radix_sort import order_by
def work():
    order_by(np.array([2, 1], np.uint64))
    order_by(np.array([3, 1, 2], np.uint64))
for call in calls_of(work):
    print(call.module, call.name, *pickle.loads(call.types))
"""


def test_calls_from_python_are_noted_once_for_each_type() -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(__file__).parents[2] / "src"),
        "NUMBA_DISABLE_JIT": "1",
        "TOCSIN_NOTES_KERNELS": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", NOTES], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "tocsin.arrays.radix_sort order_by array(uint64, 1d, C)\n"
