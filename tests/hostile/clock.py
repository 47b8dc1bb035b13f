"""A limit in seconds: wide enough for a busy machine, far too narrow for anything that explodes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail when the block takes longer."""
    began = time.perf_counter()
    yield
    took = time.perf_counter() - began
    assert took < seconds, f"took {took:.1f} s"
