"""The daemon speaks Spark's protocol, whatever warming up does: a port on standard output, then forks."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

PRETENDED = """
import os, sys, threading, time, types
def warm_up():
    {body}
sys.modules["tocsin.warmup"] = types.SimpleNamespace(warm_up=warm_up)
"""
SERVE = """
from tocsin.spark import worker_daemon
worker_daemon.main()
"""


def start(warm_up: str | None = None) -> tuple[int, str, str]:
    """The port that a daemon announces, its command line, and its standard error.

    With the true warm-up, or with a pretended one that runs the given statements.
    """
    pretence = "" if warm_up is None else PRETENDED.format(body=warm_up)
    source = str(Path(__file__).parents[2] / "src")
    process = subprocess.Popen(
        [sys.executable, "-c", pretence + SERVE, "pyspark.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": source},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        (port,) = struct.unpack("!i", process.stdout.read(4))
        command = Path(f"/proc/{process.pid}/cmdline").read_bytes().decode().replace("\0", " ")
        process.stdin.close()  # Spark's way of saying that it is over
        process.stdin = None
        rest, errors = process.communicate(timeout=20)
    finally:
        process.kill()
    assert rest == b""
    return port, command, errors.decode()


pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks into /proc")


def test_true_warm_up_leaves_no_thread_behind() -> None:
    port, command, errors = start()
    assert 0 < port < 65536
    assert "tocsin.spark" in command  # it did not have to start afresh
    assert errors == ""


def test_serves_after_warming_up() -> None:
    port, command, errors = start("sys.stderr.write('warm')")
    assert 0 < port < 65536
    assert "tocsin.spark" in command
    assert errors == "warm"


def test_what_the_warm_up_prints_does_not_reach_spark() -> None:
    port, _, errors = start("print('hello'); os.write(1, b'from C')")
    assert 0 < port < 65536
    assert "hello" in errors
    assert "from C" in errors


def test_failing_warm_up_is_reported_and_survived() -> None:
    port, command, errors = start("raise OSError('cache is full')")
    assert 0 < port < 65536
    assert "tocsin.spark" in command
    assert "cache is full" in errors


def test_thread_left_behind_makes_it_start_afresh_as_sparks_own() -> None:
    port, command, _ = start("threading.Thread(target=time.sleep, args=(60,), daemon=True).start()")
    assert 0 < port < 65536
    assert "-m pyspark.daemon pyspark.worker" in command
