"""Machine code that came with the package: used where it suits, and said to be left where it does not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tocsin.arrays import kernel_cache
from tocsin.arrays.code_levels import has_level
from tocsin.arrays.kernel_cache import CONTENTS, made_with
from tocsin.arrays.radix_sort import order_by
from tocsin.errors import TocsinWarning


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder as it comes with a wheel."""
    monkeypatch.setattr(kernel_cache, "SHIPPED", tmp_path)
    known = (kernel_cache._shipped, kernel_cache._suits, kernel_cache._warn_of_shipped)
    for each in known:
        each.cache_clear()
    yield tmp_path
    for each in known:
        each.cache_clear()


def misses() -> None:
    """Look, twice, for machine code that is not there."""
    kernel: Any = order_by
    for types in ("none such", "nor such"):
        assert not kernel._cache.holds((types,), kernel.targetctx)


@pytest.mark.parametrize("other", [{"python": "3.2"}, {"numba": "0.1"}, {"level": "x86-64-v9"}])
def test_what_does_not_suit_is_said_once(shipped: Path, other: dict[str, str]) -> None:
    (shipped / CONTENTS).write_text(json.dumps(made_with() | other))
    with pytest.warns(
        TocsinWarning, match=f"is for .*{next(iter(other.values()))}.* cannot be used here"
    ) as said:
        misses()
    assert len(said) == 1


@pytest.mark.skipif(not has_level(), reason="this processor has no level that others share")
def test_what_suits_is_not_spoken_of(shipped: Path) -> None:
    (shipped / CONTENTS).write_text(json.dumps(made_with()))
    misses()


def test_without_any_nothing_is_said(shipped: Path) -> None:
    misses()
