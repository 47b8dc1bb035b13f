"""An index in shards: a folder of index files, each with some of the rules, and a list of them.

    shards.json          the version of this format, and for each shard its file, rules, bytes and digest
    shard-3f2a-0.tocsin  an ordinary index file (index_file.py)

New shards are written under names of their own beside the old ones; they count from the moment that
shards.json is replaced, in one step, and the old ones go then. A shard that is not the one that was written
with the others is refused.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tocsin.arrays.array_file import index_digest
from tocsin.errors import IndexFileError
from tocsin.storage import draft_of, mode_within

FORMAT = 2
NAME = "shards.json"

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Shard:
    """One shard: `digest` says what its file holds (see array_file.index_digest)."""

    file: str
    rules: int
    bytes: int
    digest: str

    @staticmethod
    def of(path: Path, rules: int) -> Shard:
        """A shard that has been written."""
        return Shard(path.name, rules, path.stat().st_size, index_digest(path))


def is_sharded(path: PathLike) -> bool:
    """Whether a path is that of an index in shards."""
    return list_of_shards(path).is_file()


def list_of_shards(path: PathLike) -> Path:
    """The file that says what the shards are: it differs when any of them does."""
    return Path(path, NAME)


def check_folder(folder: Path) -> None:
    """IndexFileError when an index in shards cannot be written to a folder."""
    if folder.exists() and not folder.is_dir():
        raise IndexFileError(
            f"{folder} is a file, and an index in shards is a folder: remove it, or choose another name"
        )
    if folder.is_dir() and not is_sharded(folder) and any(folder.iterdir()):
        raise IndexFileError(f"{folder} holds something else: name an empty folder, or a new one")


def read_shards(path: PathLike) -> list[Shard]:
    """The shards of an index; IndexFileError when one is missing or is not the one that belongs there."""
    folder = Path(path)
    try:
        said: dict[str, Any] = json.loads((folder / NAME).read_bytes())
        if said["format"] != FORMAT:
            raise IndexFileError(
                f"{path} has shards of format {said['format']}, and this release reads format {FORMAT}"
            )
        shards = [
            Shard(Path(shard["file"]).name, int(shard["rules"]), int(shard["bytes"]), str(shard["digest"]))
            for shard in said["shards"]
        ]
        if not shards or len({shard.file for shard in shards}) < len(shards):
            raise ValueError
    except OSError as error:
        raise IndexFileError(f"cannot open {os.fspath(path)!r}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError) as error:
        raise IndexFileError(f"{path} is damaged: {NAME} cannot be read") from error
    for shard in shards:
        _check(folder, shard)
    return shards


def _check(folder: Path, shard: Shard) -> None:
    file = folder / shard.file
    try:
        found = file.stat()
        is_file_of_ours = stat.S_ISREG(found.st_mode) and found.st_size == shard.bytes
        is_the_one = is_file_of_ours and index_digest(file) == shard.digest
    except (OSError, ValueError) as error:
        cause = error.strerror if isinstance(error, OSError) else error
        raise IndexFileError(f"{folder} is damaged: cannot open its shard {shard.file!r}: {cause}") from error
    if not is_the_one:
        raise IndexFileError(
            f"{folder} is damaged: {shard.file} is not the shard that was written with the others"
        )


def write_shard_list(folder: Path, shards: Sequence[Shard]) -> None:
    """Make these the shards of the index, and take away those that were."""
    with draft_of(folder / NAME, mode_within(folder)) as draft:
        draft.write_text(
            json.dumps({"format": FORMAT, "shards": [asdict(shard) for shard in shards]}, indent=2) + "\n"
        )
    kept = {shard.file for shard in shards}
    for other in folder.glob("shard-*.tocsin"):
        if other.name not in kept:
            other.unlink(missing_ok=True)
