"""The decorators for compiled loops, and where their machine code is kept.

Compiled code is cached on disk, so a machine pays for compilation once. Numba looks only at the file
of a loop when it asks whether cached code is still good, not at the loops that it calls in other
files, and it takes the same file in another folder for another one. Here a module's machine code lies in
a folder that is named after the module, its content and that of every module whose loops it uses:

    ~/.cache/tocsin/kernels/tocsin.arrays.lookup-<digest>/...

So it serves every copy of the same source, wherever that lies. Several processes may fill one cache at the
same time: each entry is written under a lock, because Numba gives two processes that write different
entries of one loop the same file name. NUMBA_CACHE_DIR, when set, is where these folders lie. Machine code is
run, so none is taken from a folder that others may write to (storage/folders.py).
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.compiler_lock import global_compiler_lock

from tocsin.arrays.boxes import box_without_python
from tocsin.fork_locks import COMPILER, free_at_forks
from tocsin.storage.folders import cache_folder

P = ParamSpec("P")
R = TypeVar("R")

free_at_forks(global_compiler_lock, COMPILER)
box_without_python()

_IMPORT = re.compile(
    rb"^from (tocsin\w*\.(?:\w+\.)*?(?:arrays|kernels))((?:\.\w+)*) import (\([^)]*\)|.*)", re.MULTILINE
)
_NAME = re.compile(r"(\w+)(?: as \w+)?")


def kernels_digest(source: bytes) -> str:
    """What the machine code of a module's loops depends on, and Numba does not look at: the module's own
    source, and that of every module whose loops it uses.
    """
    sources: dict[str, bytes] = {}
    waiting = _kernel_modules(source)
    while waiting:
        needed = waiting.pop()
        if needed not in sources:
            sources[needed] = _source(needed)
            waiting += _kernel_modules(sources[needed])
    checked = b" with bounds checks" if numba.config.BOUNDSCHECK else b""
    digest = blake2b(numba.__version__.encode() + checked + source, digest_size=8)
    for needed in sorted(sources):
        digest.update(sources[needed])
    return digest.hexdigest()


def _kernel_modules(source: bytes) -> list[str]:
    """Those that a source takes something from (`from a.kernels.b import c`), or takes whole."""
    modules = []
    for room, module, names in _IMPORT.findall(source):
        taken = [module.decode()] if module else [f".{name}" for name in _NAME.findall(names.decode())]
        modules += [room.decode() + name for name in taken]
    return modules


@cache
def _source(module: str) -> bytes:
    spec: Any = find_spec(module)
    content: bytes = spec.loader.get_data(spec.origin)  # also from within a zip file
    return content


class _ByContent(_CacheLocator):  # type: ignore[misc]
    """Where a function's machine code lies: by what it was made of, not by where its source is."""

    def __init__(self, function: Callable[..., Any]) -> None:
        module: Any = function.__globals__
        file = function.__code__.co_filename
        self._folder = _folder_of(module["__name__"], module["__loader__"].get_data(file))
        self._line = function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _ByContent:  # noqa: ARG003
        """Numba's way to make one."""
        return cls(py_func)

    def get_cache_path(self) -> str:
        """The folder."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """What the index of the cache has to say: its folder's name says it all."""
        return self._folder.name

    def get_disambiguator(self) -> str:
        """What tells functions of one name apart."""
        return str(self._line)


class _CodeByContent(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_ByContent,)


class _LockedCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache in a folder of our choice, with one writer at a time."""

    _impl_class = _CodeByContent

    def save_overload(self, sig: Any, data: Any) -> None:
        Path(self.cache_path).mkdir(parents=True, exist_ok=True)
        with Path(self.cache_path, "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            super().save_overload(sig, data)


@cache
def _folder_of(module: str, source: bytes) -> Path:
    named = os.environ.get("NUMBA_CACHE_DIR")
    root = Path(named).absolute() if named else None
    return cache_folder("kernels", f"{module}-{kernels_digest(source)}", root)


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
    (only,) = dict.values(compiled.overloads)  # an OrderedDict's own turn an interrupt into a KeyError
    return only.entry_point  # type: ignore[no-any-return]


def is_cached(function: Callable[..., Any]) -> bool:
    """Whether this machine has the machine code of a kernel already."""
    if numba.config.DISABLE_JIT:
        return True
    compiled: Any = function
    return any(Path(compiled._cache.cache_path).glob(f"*.{function.__name__}-*.nbi"))
