"""A door: the names by which others know a package, each loaded from its file when it is first used.

The package writes them once, in its `__init__`, as imports under `if TYPE_CHECKING:`. There type checkers,
editors and the import contract read them, and so does `names_at`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

_IMPORT = re.compile(r"^    from (\S+) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)
_NAME = re.compile(r"(\w+)(?: as (\w+))?")


def door(package: str) -> Callable[[str], Any]:
    """The `__getattr__` of a package."""

    def load(name: str) -> Any:
        home, inside = names_at(package).get(name, ("", ""))
        if not home:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value = getattr(import_module(home), inside)
        setattr(sys.modules[package], name, value)
        return value

    return load


@cache
def names_at(package: str) -> dict[str, tuple[str, str]]:
    """By each name at a package's door: the module that has it, and what it is called there."""
    loader: Any = sys.modules[package].__loader__
    source: str = loader.get_source(package)  # also from within a zip file
    names: dict[str, tuple[str, str]] = {}
    for home, several, one in _IMPORT.findall(source.partition("\nif TYPE_CHECKING:\n")[2]):
        names |= {known or inside: (home, inside) for inside, known in _NAME.findall(several or one)}
    return names
