"""Compile every kernel at once, on all cores.

One process does what is to be compiled for with the compiler off, which takes a second or two, and notes
which kernels that calls and with what types. Others compile those, each one at a time, the longest first:

    python -m tocsin.parallel_warmup note       what is to be compiled, pickled, to standard output
    python -m tocsin.parallel_warmup compile    from standard input one kernel at a time, answered by a line

They compile for the common level of processors, where this one has it (arrays/code_levels.py), so that
what they make serves other machines too. This process itself loads no kernel.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from typing import IO, Any, cast

from tocsin.errors import TocsinError

Progress = Callable[[int, int], None]
"""Called with how much is done by now, and how much there is."""


def warm_up_in_parallel(progress: Progress = lambda _done, _total: None, work: str = "tocsin.warmup") -> int:
    """Compile what `warm_up_all` of a module needs; returns how many kernels that are."""
    calls = _noted(work)
    total = sum(call.size for call in calls)
    done = 0
    progress(done, total)
    idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
    count = min(len(os.sched_getaffinity(0)), len(calls))
    workers = [_start("compile", **_level()) for _ in range(count)]
    try:
        for worker in workers:
            idle.put(worker)
        with ThreadPoolExecutor(count) as pool:
            waiting = {pool.submit(_compile, idle, call): call for call in calls}
            try:
                for future in as_completed(waiting):
                    future.result()
                    done += waiting[future].size
                    progress(done, total)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()
    return len(calls)


def _noted(work: str) -> list[Any]:
    from tocsin.arrays.kernel_calls import NOTING

    process = _start("note", work, **{NOTING: "1", "NUMBA_DISABLE_JIT": "1"})
    written, _ = process.communicate()
    if process.returncode:
        raise TocsinError("cannot find out which kernels there are to compile: the cause is above")
    calls: list[Any] = pickle.loads(written)  # of a process of our own
    return calls


def _compile(idle: SimpleQueue[subprocess.Popen[bytes]], call: Any) -> None:
    worker = idle.get()
    try:
        to, back = cast("IO[bytes]", worker.stdin), cast("IO[bytes]", worker.stdout)
        pickle.dump(call, to)
        to.flush()
        if back.readline() != b"done\n":
            raise TocsinError(f"the kernel {call.module}.{call.name} cannot be compiled: the cause is above")
    finally:
        idle.put(worker)


def _start(*arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tocsin.parallel_warmup", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **environment},
    )


def _level() -> dict[str, str]:
    """What makes Numba compile for the common level; nothing when the user has named a processor."""
    from tocsin.arrays.code_levels import common_level, has_level

    level = common_level()
    if level is None or not has_level() or "NUMBA_CPU_NAME" in os.environ:
        return {}
    return {"NUMBA_CPU_NAME": level.name, "NUMBA_CPU_FEATURES": level.features}


def _note(work: str) -> None:
    from importlib import import_module

    from tocsin.arrays.kernel_calls import calls_of

    warnings.simplefilter("ignore")  # of NumPy, where a hash runs over as it should
    calls = calls_of(import_module(work).warm_up_all)
    sys.stdout.buffer.write(pickle.dumps(calls))


def _compile_what_comes() -> None:
    from tocsin.arrays.kernel_calls import compile_call

    while True:
        try:
            call = pickle.load(sys.stdin.buffer)  # of the process that started this one
        except EOFError:
            return
        compile_call(call)
        sys.stdout.write("done\n")
        sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[1] == "note":
        _note(sys.argv[2])
    else:
        _compile_what_comes()
