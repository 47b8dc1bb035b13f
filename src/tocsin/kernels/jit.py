"""The decorators for compiled loops, and where their machine code is kept.

Compiled code is cached on disk, so a machine pays for compilation once. Numba looks only at the file
of a loop when it asks whether cached code is still good, not at the loops that it calls in other
files; so each file has a cache folder that is named after its content and that of every file whose
loops it uses. Several processes may fill one cache at the same time: each entry is written under a
lock, because Numba gives two processes that write different entries of one loop the same file name.
NUMBA_CACHE_DIR, when set, is where these folders lie. Machine code is run, so none is taken from a folder
that others may write to (folders.py).
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numba
from numba.core.caching import FunctionCache
from numba.core.compiler_lock import global_compiler_lock

from tocsin.folders import cache_folder
from tocsin.fork_locks import COMPILER, free_at_forks
from tocsin.kernels.boxes import box_without_python

P = ParamSpec("P")
R = TypeVar("R")

free_at_forks(global_compiler_lock, COMPILER)
box_without_python()

_HERE = Path(__file__).parent
_IMPORT = re.compile(rb"^from tocsin\.kernels\.([\w.]+) import", re.MULTILINE)


def kernels_digest(file: Path) -> str:
    """What the machine code of a file's loops depends on, and Numba does not look at."""
    sources: dict[Path, bytes] = {}
    waiting = [file]
    while waiting:
        needed = waiting.pop()
        if needed not in sources:
            sources[needed] = needed.read_bytes()
            waiting.extend(
                _HERE / f"{name.decode().replace('.', '/')}.py" for name in _IMPORT.findall(sources[needed])
            )
    checked = b" with bounds checks" if numba.config.BOUNDSCHECK else b""
    digest = blake2b(numba.__version__.encode() + checked, digest_size=8)
    for needed in sorted(sources):
        digest.update(sources[needed])
    return digest.hexdigest()


class _LockedCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache in a folder of our choice, with one writer at a time."""

    def __init__(self, function: Callable[..., Any]) -> None:
        numba.config.CACHE_DIR = str(_folder_of(Path(function.__code__.co_filename)))
        super().__init__(function)

    def save_overload(self, sig: Any, data: Any) -> None:
        Path(self.cache_path).mkdir(parents=True, exist_ok=True)
        with Path(self.cache_path, "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            super().save_overload(sig, data)


@cache
def _folder_of(file: Path) -> Path:
    named = os.environ.get("NUMBA_CACHE_DIR")
    root = Path(named).absolute() if named else None
    return cache_folder("kernels", f"{file.stem}-{kernels_digest(file)}", root)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop when it is first called: without the interpreter lock, cached on disk."""
    return _compiled(function)


def bare_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """A kernel that makes no array, and so need not count who holds one: its caller holds them all.

    Numba counts for every slice, and for every array that is handed to another function, with locked
    instructions that take as long as a short loop does.
    """
    return _compiled(function, _nrt=False)


def inner_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """A bare kernel that becomes a part of every loop that calls it: for what is called millions of times."""
    return _compiled(function, _nrt=False, forceinline=True)


def _compiled(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    compiled: Any = numba.njit(nogil=True, **options)(function)
    if not numba.config.DISABLE_JIT:
        compiled._cache = _LockedCache(function)
    return compiled  # type: ignore[no-any-return]


def entry_point(function: Callable[P, R]) -> Callable[P, R]:
    """A kernel that was called before, without the look at the types of its arguments: half of a call's cost.

    They must be of the types that it was called with. Only for what is called once for each single tuple.
    """
    if numba.config.DISABLE_JIT:
        return function
    compiled: Any = function
    (only,) = compiled.overloads.values()
    return only.entry_point  # type: ignore[no-any-return]


def is_cached(function: Callable[..., Any]) -> bool:
    """Whether this machine has the machine code of a kernel already."""
    if numba.config.DISABLE_JIT:
        return True
    compiled: Any = function
    return any(Path(compiled._cache.cache_path).glob(f"*.{function.__name__}-*.nbi"))
