"""The one decorator for compiled loops, and where their machine code is kept.

Compiled code is cached on disk in a folder of its own for each version of tocsin, so a process pays
for compilation once per machine, and two versions installed side by side never read each other's.
NUMBA_CACHE_DIR, when set, wins.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numba

P = ParamSpec("P")
R = TypeVar("R")


def cache_folder(version: str) -> Path:
    """The per-version cache folder: under the user's cache if that can be written, else temporary."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "tocsin" / f"kernels-{version}-numba-{numba.__version__}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    folder = Path(tempfile.gettempdir()) / f"tocsin-{os.getuid()}" / folder.name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


if not os.environ.get("NUMBA_CACHE_DIR"):
    from tocsin.version import VERSION

    numba.config.CACHE_DIR = str(cache_folder(VERSION))


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop: cached on disk, without the interpreter lock, wrapping integer arithmetic."""
    compiled: Any = numba.njit(cache=True, nogil=True)(function)
    return compiled  # type: ignore[no-any-return]


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a few lines that other kernels call from their inner loops."""
    compiled: Any = numba.njit(cache=True, nogil=True, inline="never")(function)
    return compiled  # type: ignore[no-any-return]
