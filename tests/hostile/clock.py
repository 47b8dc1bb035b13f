"""A limit on the work that a block may cost: wide enough for any machine, far too narrow to explode in."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail when the block costs this process more seconds of processor time."""
    began = time.process_time()
    yield
    took = time.process_time() - began
    assert took < seconds, f"took {took:.1f} s"
