"""Layers, merges and compactions that come after a few rules instead of thousands."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tocsin.conditions.live import merge_policy


@pytest.fixture
def small_layers() -> Iterator[None]:
    """Everything that happens at scale happens at once."""
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch)
        yield


def shrink(patch: pytest.MonkeyPatch) -> None:
    """Make the bounds of merging.py small."""
    patch.setattr(merge_policy, "RATIO", 2)
    patch.setattr(merge_policy, "ALWAYS_MERGED", 1)
    patch.setattr(merge_policy, "READERS_SHARE", 3)
    patch.setattr(merge_policy, "FRESH_AT_MOST", 4)
    patch.setattr(merge_policy, "YOUNGER_AT_LEAST", 12)
