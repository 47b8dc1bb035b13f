"""The A-Tree's kernels as plain Python: they rely on nothing that Numba adds, nor on IDs being unique."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

SCRIPT = """
import random, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
from tests.cases import make_event, make_rule_set
from tests.lab.atree.test_paper_atree import history
from tocsin_lab.atree import atree
from tocsin_lab.kernels import atree_covers, atree_updates
from tocsin_lab.atree.paper_atree import Design

assert not hasattr(atree_updates.add_groups, "py_func"), "the compiler is on"
if sys.argv[1] == "all the same":
    one = lambda identity, operator, operand: np.uint64(7)
    atree_covers.identify = atree_updates.identify = atree.identify = one
rng = random.Random(3)
for turn in range(6):
    zero_suppression = turn % 2 == 0
    design = Design(zero_suppression=zero_suppression, on_demand=zero_suppression)
    history(rng, make_rule_set(rng, 10), [make_event(rng)], design)
print("done", turn + 1)
"""


@pytest.mark.parametrize("identities", ["as they are", "all the same"])
def test_histories_without_the_compiler(identities: str) -> None:
    """With one ID for all expressions, only the comparison of operands tells them apart."""
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, identities],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2_000:]
    assert ran.stdout == "done 6\n"
