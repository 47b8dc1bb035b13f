"""Names in a folder of events that Spark passes over without a word: each is told of once.

Spark lists a folder by Java's means. A name that is not UTF-8 stands for no file there, and a link that leads
nowhere is left out; a folder with such a name is left out with all that is in it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

_NOT_UTF_8 = "its name is not UTF-8"
_DANGLING = "it is a link to nothing"
_SETTLED_NANOSECONDS = 2_000_000_000
"""A folder that was last changed so long ago has another time when it is changed again."""


class PassedOver:
    """Looks at a folder again and again, and at those parts alone that have changed since."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: dict[Path, tuple[int, list[Path]]] = {}
        self._told: set[Path] = set()

    def new(self) -> list[str]:
        """What has not been told of before, with the reason."""
        found = []
        for path, reason in self._odd():
            if path not in self._told:
                self._told.add(path)
                name = os.fsencode(path.relative_to(self._folder)).decode("utf-8", "backslashreplace")
                found.append(f"{name} in the folder of events is passed over: {reason}")
        return found

    def _odd(self) -> Iterator[tuple[Path, str]]:
        waiting, entered = [self._folder], set()
        while waiting:
            folder = waiting.pop()
            try:
                state = folder.stat()
            except OSError:
                continue
            if (state.st_dev, state.st_ino) in entered:
                continue
            entered.add((state.st_dev, state.st_ino))
            changed, inner = self._seen.get(folder, (None, []))
            if changed != state.st_mtime_ns:
                inner = []
                yield from _looked_at(folder, inner)
                if time.time_ns() - state.st_mtime_ns > _SETTLED_NANOSECONDS:
                    self._seen[folder] = (state.st_mtime_ns, inner)
            waiting += inner


def is_hidden(name: str) -> bool:
    """Whether files and folders of that name are left out on purpose, as Spark and Hive do."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def is_seen_in(other: Path, folder: Path) -> bool:
    """Whether who reads a folder reads what is in another one: it is the same, or below it and not hidden."""
    whole, inner = folder.resolve(), other.resolve()
    if not inner.is_relative_to(whole):
        return False
    return not any(is_hidden(name) for name in inner.relative_to(whole).parts)


def _looked_at(folder: Path, inner: list[Path]) -> Iterator[tuple[Path, str]]:
    """What is odd in a folder; the folders in it that are not are added to `inner`."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        path = Path(entry.path)
        if is_hidden(entry.name):
            continue
        if not _is_utf_8(entry.name):
            yield path, _NOT_UTF_8
        elif entry.is_symlink() and not path.exists():
            yield path, _DANGLING
        elif entry.is_dir():
            inner.append(path)


def _is_utf_8(name: str) -> bool:
    try:
        os.fsencode(name).decode()
    except UnicodeDecodeError:
        return False
    return True
