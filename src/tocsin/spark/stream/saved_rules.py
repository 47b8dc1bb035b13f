"""Saved indexes in the folder of a stream's rules: copies that nobody else writes to, whole or not there.

    00000003-9f2c....tocsin      an index
    00000003-9f2c....parts/      an index in parts (conditions/graph/shards.py)
    .00000003.draft              what is being copied; of no account

Copies and no links: a stream maps them, and a file that someone writes into would change under it. A name
holds a digest of the content. Importing this module loads neither NumPy nor the kernels.
"""

from __future__ import annotations

import shutil
from hashlib import blake2b
from pathlib import Path

from tocsin.errors import IndexFileError, InputError
from tocsin.storage.drafts import sync_file, sync_folder

WHOLE, IN_PARTS = ".tocsin", ".parts"


def draft_path(folder: Path, number: int) -> Path:
    """Where a version is written before it has its name; what a crash has left there is taken away."""
    draft = folder / f".{number:08d}.draft"
    remove(draft)
    return draft


def copy_saved(saved: Path, folder: Path, number: int) -> str:
    """Copy a saved index, whole or in parts, and verify the copy; its name in the folder.

    IndexFileError when it is damaged, InputError when it cannot be copied. Either may be raised when it is
    written anew meanwhile.
    """
    from tocsin.conditions.graph.shards import is_in_parts
    from tocsin.saved import open_rules

    draft = draft_path(folder, number)
    try:
        if is_in_parts(saved):
            _copy_parts(saved, draft)
        else:
            _copy_file(saved, draft)
    except OSError as error:
        remove(draft)
        raise InputError(f"{saved}: cannot be copied: {error.strerror}") from error
    try:
        open_rules(draft)
    except IndexFileError:
        remove(draft)
        open_rules(saved)  # says the same of the file by the name that the user knows
        raise IndexFileError(f"{saved} was changed while it was being read") from None
    return settle(draft, number)


def settle(draft: Path, number: int) -> str:
    """Give what is written its name, in one step."""
    from tocsin.arrays.array_file import index_digest
    from tocsin.conditions.graph.shards import is_in_parts, read_parts

    if is_in_parts(draft):
        digests = [part.digest for part in read_parts(draft)]
        name = f"{number:08d}-{blake2b(' '.join(digests).encode(), digest_size=16).hexdigest()}{IN_PARTS}"
        remove(draft.with_name(name))  # left by a stream that ended before it took the version up
    else:
        name = f"{number:08d}-{index_digest(draft)}{WHOLE}"
    draft.replace(draft.with_name(name))
    sync_folder(draft.parent)
    return name


def remove(path: Path) -> None:
    """Take away a file or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _copy_parts(saved: Path, draft: Path) -> None:
    from tocsin.conditions.graph.shards import read_parts, write_parts

    parts = read_parts(saved)
    draft.mkdir()
    for part in parts:
        _copy_file(saved / part.file, draft / part.file)
    write_parts(draft, parts)
    sync_folder(draft)


def _copy_file(source: Path, target: Path) -> None:
    """Copy a file onto the disk: workers open it without reading it through."""
    shutil.copyfile(source, target)
    sync_file(target)
