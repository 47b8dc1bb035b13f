"""Which kernels some work calls, and with what types: found by doing it with the compiler off.

So what has to be compiled is known in seconds, before any of it is compiled, and can be shared out.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from types import CodeType
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numba import typeof, types

P = ParamSpec("P")
R = TypeVar("R")

NOTING = "TOCSIN_NOTES_KERNELS"
"""Set in the environment of a process that is to note them."""


class KernelCall(NamedTuple):
    """A kernel that Python called; `size` says about how long it takes to compile."""

    module: str
    name: str
    types: bytes
    size: int


_noted: dict[tuple[Callable[..., Any], tuple[Any, ...]], None] = {}
_codes: dict[CodeType, Callable[..., Any]] = {}
_within = threading.local()


def noting(function: Callable[P, R]) -> Callable[P, R]:
    """A kernel that runs as Python, and notes what types it is called with from outside of kernels."""
    _codes[function.__code__] = function

    @wraps(function)
    def noted(*args: P.args, **named: P.kwargs) -> R:
        if getattr(_within, "a_kernel", False):
            return function(*args, **named)
        _noted[function, tuple(map(_type, function.__annotations__.values(), args))] = None
        _within.a_kernel = True
        try:
            result: R = _returned(function(*args, **named))
            return result
        finally:
            _within.a_kernel = False

    return noted


def _returned(value: Any) -> Any:
    """What comes out of a kernel that is compiled: numbers are Python's."""
    if isinstance(value, tuple):
        items = map(_returned, value)
        return value._make(items) if hasattr(value, "_make") else tuple(items)
    return value.item() if isinstance(value, np.generic) else value


def _type(annotation: Any, value: Any) -> Any:
    """Its type for the compiler. What is pinned (pinned.py) is still a tuple when that is off."""
    is_pinned = isinstance(value, tuple) and annotation == "Longs"
    return types.int64[::1] if is_pinned else typeof(value)


def _size(code: CodeType, seen: set[CodeType]) -> int:
    """The length of a kernel and of all that becomes a part of it."""
    seen.add(code)
    used = [_codes[code].__globals__.get(name) for name in code.co_names]
    codes = {getattr(getattr(each, "__wrapped__", each), "__code__", code) for each in used} & _codes.keys()
    return len(code.co_code) + sum(_size(part, seen) for part in codes if part not in seen)


def calls_of(work: Callable[[], None]) -> list[KernelCall]:
    """What the work calls, the longest first. The compiler has to be off, and NOTING set."""
    _noted.clear()
    work()
    calls = [
        KernelCall(
            function.__module__, function.__name__, pickle.dumps(given), _size(function.__code__, set())
        )
        for function, given in _noted
    ]
    return sorted(calls, key=lambda call: -call.size)


def compile_call(call: KernelCall) -> None:
    """Compile a kernel for the types that it was called with; it is not run."""
    kernel: Any = getattr(import_module(call.module), call.name)
    types_of_defaults_too = kernel.fold_argument_types(pickle.loads(call.types), {})[
        1
    ]  # of this very program
    kernel.compile(types_of_defaults_too)
