"""The decorators for compiled loops.

Compiled code is cached on disk, so a machine pays for compilation once, or not at all where it came with
the package: kernel_cache.py says where it lies, kernel_dispatch.py what is compiled of a loop.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numba
from numba.core.compiler_lock import global_compiler_lock

from tocsin.arrays.boxes import box_without_python
from tocsin.arrays.kernel_calls import NOTING, noting
from tocsin.arrays.kernel_dispatch import Kernel
from tocsin.fork_locks import COMPILER, free_at_forks

P = ParamSpec("P")
R = TypeVar("R")

free_at_forks(global_compiler_lock, COMPILER)
box_without_python()


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
    if numba.config.DISABLE_JIT:
        return noting(function) if os.environ.get(NOTING) else function
    compiled: Any = Kernel(function, targetoptions={"nogil": True, **options})
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
    return bool(compiled.is_cached())
