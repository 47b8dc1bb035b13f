"""Engines whose rules stay as they were built."""

from __future__ import annotations

import os
from typing import NoReturn

from tocsin.errors import UnsupportedError


class FixedRules:
    """What such an engine says when it is asked to change its rules or to save them."""

    engine: str

    def insert(self, *_: object, **__: object) -> NoReturn:
        """Not here: UnsupportedError."""
        self._refuse()

    def replace(self, *_: object, **__: object) -> NoReturn:
        """Not here: UnsupportedError."""
        self._refuse()

    def delete(self, *_: object, **__: object) -> NoReturn:
        """Not here: UnsupportedError."""
        self._refuse()

    def apply(self, *_: object, **__: object) -> NoReturn:
        """Not here: UnsupportedError."""
        self._refuse()

    def compact(self) -> NoReturn:
        """Not here: UnsupportedError."""
        self._refuse()

    def save(self, path: str | os.PathLike[str]) -> NoReturn:
        """There is nothing to save: UnsupportedError."""
        raise UnsupportedError(
            f"cannot write {path}: the engine {self.engine} has no file, build with engine='atree'"
        )

    def _refuse(self) -> NoReturn:
        raise UnsupportedError(
            f"the rules of the engine {self.engine} cannot be changed: build with engine='atree'"
        )
