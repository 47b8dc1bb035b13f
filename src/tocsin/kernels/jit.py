"""The one decorator for compiled loops, and where their machine code is kept.

Compiled code is cached on disk, so a machine pays for compilation once. Numba looks only at the file
of a loop when it asks whether cached code is still good, not at the loops that it calls in other
files; so the cache folder is named after the content of all of them. Several processes may fill one
cache at the same time: each entry is written under a lock, because Numba gives two processes that
write different entries of one loop the same file name. NUMBA_CACHE_DIR, when set, wins.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numba
from numba.core.caching import FunctionCache

from tocsin.folders import cache_folder

P = ParamSpec("P")
R = TypeVar("R")


def kernels_digest() -> str:
    """What the machine code depends on, and Numba does not look at."""
    digest = blake2b(numba.__version__.encode(), digest_size=8)
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


if not os.environ.get("NUMBA_CACHE_DIR"):
    numba.config.CACHE_DIR = str(cache_folder("kernels", kernels_digest()))


class _LockedCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache, with one writer at a time."""

    def save_overload(self, sig: Any, data: Any) -> None:
        Path(self.cache_path).mkdir(parents=True, exist_ok=True)
        with Path(self.cache_path, "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            super().save_overload(sig, data)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop when it is first called: without the interpreter lock, cached on disk."""
    compiled: Any = numba.njit(nogil=True)(function)
    if not numba.config.DISABLE_JIT:
        compiled._cache = _LockedCache(function)
    return compiled  # type: ignore[no-any-return]


def is_cached(function: Callable[..., Any]) -> bool:
    """Whether this machine has the machine code of a kernel already."""
    if numba.config.DISABLE_JIT:
        return True
    compiled: Any = function
    return any(Path(compiled._cache.cache_path).glob(f"*.{function.__name__}-*.nbi"))
