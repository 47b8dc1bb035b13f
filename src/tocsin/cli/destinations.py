"""Where results go: checked before the work starts, not after it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tocsin.errors import InputError, UsageError


def check_destination(path: str | Path, inputs: Iterable[str]) -> None:
    """Refuse a file that cannot be written, or that is one of the files to be read."""
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{path}: cannot be written: it is a folder")
    if not target.parent.is_dir():
        raise InputError(f"{path}: cannot be written: there is no folder {target.parent}")
    for each in inputs:
        if target.exists() and Path(each).exists() and target.samefile(each):
            raise UsageError(f"{path} cannot be written: it is one of the files to be read")
