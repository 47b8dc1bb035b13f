"""Where results go: checked before the work starts, not after it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tocsin.errors import InputError, UsageError


def check_new_folder(path: Path) -> None:
    """Refuse a folder that holds something, or cannot be made."""
    if path.exists() and not path.is_dir():
        raise InputError(f"{path}: cannot be written: it is a file, and a folder is asked for")
    if path.is_dir() and any(path.iterdir()):
        raise InputError(f"{path}: cannot be written: the folder is not empty")
    if not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written: there is no folder {path.parent}")


def check_destinations(paths: Iterable[str | Path], inputs: Sequence[str | Path]) -> None:
    """Refuse files that cannot be written, or that are among the files to be read."""
    for path in paths:
        target = Path(path)
        if target.is_dir():
            raise InputError(f"{path}: cannot be written: it is a folder")
        if not target.parent.is_dir():
            raise InputError(f"{path}: cannot be written: there is no folder {target.parent}")
        if target.exists() and any(Path(each).exists() and target.samefile(each) for each in inputs):
            raise UsageError(f"{path} cannot be written: it is one of the files to be read")


def check_outside(path: Path, events: str | Path) -> None:
    """Refuse a folder in the folder that events are read from: the next run would take it for events."""
    whole = Path(events).resolve()
    if whole.is_dir() and path.resolve().is_relative_to(whole):
        raise UsageError(f"{path} cannot be written: it is in {events}, where events are read from")
