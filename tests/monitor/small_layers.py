"""Layers, merges and compactions that come after a few rules instead of thousands."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tocsin.monitor import merging


@pytest.fixture
def small_layers() -> Iterator[None]:
    """Everything that happens at scale happens at once."""
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch)
        yield


def shrink(patch: pytest.MonkeyPatch) -> None:
    """Make the bounds of merging.py small."""
    patch.setattr(merging, "RATIO", 2)
    patch.setattr(merging, "ALWAYS_MERGED", 1)
    patch.setattr(merging, "READERS_SHARE", 3)
    patch.setattr(merging, "FRESH_AT_MOST", 4)
    patch.setattr(merging, "YOUNGER_AT_LEAST", 12)
