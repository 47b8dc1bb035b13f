"""The files that the contents of tables are known by (held_tables.py): which there are, and which are
needed.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tocsin.spark.postgres.change_files import changes_files

_NAME = re.compile(r"[0-9A-F]{16}")


def contents_folders(folder: Path) -> list[tuple[int, Path]]:
    """The positions of which contents are on the disk, and where."""
    contents = folder / "contents"
    if not contents.is_dir():
        return []
    return [(int(path.name, 16), path) for path in contents.iterdir() if _NAME.fullmatch(path.name)]


def forget(folder: Path, position: int) -> None:
    """Take away what no batch from this position on can need."""
    known = sorted(base for base, _ in contents_folders(folder) if base <= position)
    if not known:
        return
    for start, end, path in changes_files(folder / "changes"):
        if start < known[-1] and end <= known[-1]:
            path.unlink(missing_ok=True)
    for base, path in contents_folders(folder):
        if base < known[-1]:
            shutil.rmtree(path, ignore_errors=True)
