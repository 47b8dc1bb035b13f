"""Rules that stay as they were built."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NoReturn

from tocsin.conditions.live.change_requests import Change
from tocsin.conditions.live.layers import Layer
from tocsin.errors import UnsupportedError


class FixedRules:
    """What a store of such rules says when it is asked to change or save them.

    `apply` and `compact` refuse when they are looked up: nobody hears first what is wrong with a change that
    cannot be made.
    """

    _are_fixed: str
    """Why the rules cannot be changed."""
    _has_no_file: str
    """Why they cannot be saved."""

    @property
    def apply(self) -> Callable[[Sequence[Change]], None]:
        """Not here: UnsupportedError."""
        self._refuse()

    @property
    def compact(self) -> Callable[[], Layer]:
        """Not here: UnsupportedError."""
        self._refuse()

    def save(self, path: str | os.PathLike[str]) -> NoReturn:
        """Not here: UnsupportedError."""
        raise UnsupportedError(f"cannot write {path}: {self._has_no_file}")

    def _refuse(self) -> NoReturn:
        raise UnsupportedError(self._are_fixed)
