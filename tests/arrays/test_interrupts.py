"""Ctrl-C: while a kernel's arrays and named tuples become Python objects, while much is built or matched."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from queue import Empty, SimpleQueue
from threading import Thread

import pytest

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


# Each is interrupted after a moment, and goes on for as long as that takes; what it is doing then it tells.
_LONG = """
import signal, sys, time
import pyarrow as pa
import tocsin

rules = [(f"r{n}", f"a = {n % 500} and b > {n % 7} or s like '%x_{n}%'") for n in range(20_000)]
table = pa.table({"a": [n % 600 for n in range(300_000)], "b": [9] * 300_000, "s": ["yx"] * 300_000})
small = table.slice(0, 3)
index = tocsin.build(rules)
right = index.match_table(small).to_pylist()
hostile = tocsin.build([(f"r{n}", f"s like '%" + "a_" * 2000 + f"b%{n}'") for n in range(100)])

def build():
    tocsin.build(rules)

def match_table():
    index.match_table(table)

def match_one_text():
    hostile.match({"s": "a" * 5_000_000})

for job in (build, match_table, match_one_text):
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print(job.__name__, flush=True)
        while True:
            job()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("interrupted", flush=True)
assert index.match_table(small).to_pylist() == right
assert tocsin.build(rules).match_table(small).to_pylist() == right
assert [found.rule for found in hostile.match({"s": "a" * 4000 + "b7"})] == ["r7"]
print("unhurt")
"""


def test_long_work_can_be_interrupted() -> None:
    """One interrupt is enough, unless it falls into a callback that no error leaves: then the next one is."""
    with subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-c", _LONG], stdout=subprocess.PIPE, text=True
    ) as child:
        lines: SimpleQueue[str] = SimpleQueue()
        assert child.stdout is not None
        Thread(target=lambda: [*map(lines.put, child.stdout or ())], daemon=True).start()
        for job in ("build", "match_table", "match_one_text"):
            assert lines.get(timeout=300) == f"{job}\n"
            time.sleep(0.4)
            for _ in range(60):
                child.send_signal(signal.SIGINT)
                with contextlib.suppress(Empty):
                    assert lines.get(timeout=5) == "interrupted\n"
                    break
            else:
                child.kill()
                pytest.fail(f"{job} is not interrupted")
        assert lines.get(timeout=300) == "unhurt\n"
    assert child.returncode == 0
