"""Ctrl-C while a kernel's arrays and named tuples become Python objects: it is raised when they are."""

from __future__ import annotations

import subprocess
import sys

# One interrupt in some thousands falls into a weak reference's callback, which no error leaves; more follow.
_STORM = """
import random, signal
import pyarrow as pa
import tocsin

rules = [(f"r{n}", f"a > {n % 7} and b in ({n}, {n + 1}) or c = 'x{n % 3}'") for n in range(20)]
table = pa.table({"a": [5, 6, 9], "b": [3, 4, 5], "c": ["x1", "x2", None]})

def once():
    index = tocsin.build(rules)
    return list(index.match({"a": 5, "b": 3, "c": "x1"})), index.match_table(table).to_pylist()

def interrupted():
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-4, 8e-3), 0.05)
        while True:
            assert once() == right
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0)

right = once()
signal.signal(signal.SIGALRM, signal.default_int_handler)
for _ in range(500):
    interrupted()
assert once() == right
print("unhurt")
"""


def test_interrupts_at_any_time_hurt_nothing() -> None:
    child = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", _STORM], capture_output=True, text=True, timeout=300
    )
    assert (child.returncode, child.stdout) == (0, "unhurt\n"), child.stderr
