"""The process that Spark forks its Python workers from, with the kernels already loaded.

Spark runs it as `python -m tocsin.spark.worker_daemon pyspark.worker` (`spark.python.daemon.module`) in the
place of `pyspark.daemon`. Loading Numba and the compiled kernels takes each fresh worker a good part of
a second; a worker that is forked from a process that has them starts with them, and shares the memory.

Three things must hold, whatever the kernels do:

- no thread exists when Spark forks, or a child may wait for ever on a lock that nobody will release.
  If warming up leaves one behind, the process starts itself afresh as Spark's own daemon;
- nothing is written to standard output, on which Spark waits for a port number;
- a warm-up that fails costs its time and nothing else: the workers then load the kernels themselves.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

QUIET_LIBRARIES = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}


def main() -> None:
    """Warm up and serve Spark until it closes standard input."""
    keep_libraries_from_starting_threads()
    with standard_output_to_error():
        warm_up()
    if thread_count() > 1:
        os.execv(sys.executable, [sys.executable, "-m", "pyspark.daemon", *sys.argv[1:]])
    from pyspark.daemon import manager

    gc.freeze()  # what the workers share stays shared: their collector leaves it alone
    manager()


def keep_libraries_from_starting_threads() -> None:
    """Tell NumPy's and Arrow's libraries, before they load; Spark gives a task one core anyway."""
    for name, value in QUIET_LIBRARIES.items():
        os.environ.setdefault(name, value)


def warm_up() -> None:
    """Load the compiled kernels; report a failure and carry on."""
    try:
        from tocsin.warmup import warm_up as warm_up_kernels

        warm_up_kernels()
    except Exception:
        traceback.print_exc()


@contextlib.contextmanager
def standard_output_to_error() -> Iterator[None]:
    """Send what is printed meanwhile, by C code too, to standard error."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def thread_count() -> int:
    """How many threads this process has, native ones included where the system tells."""
    try:
        return len(list(Path("/proc/self/task").iterdir()))
    except OSError:
        return threading.active_count()


if __name__ == "__main__":
    main()
