"""Machine code in one file, to be taken to other machines, or in a folder, to go into a wheel.

    contents.json                            format, what it was made with, a checksum for each other file
    tocsin.arrays.lookup-<digest>/...nbi     as in the cache (kernel_cache.py), of what Python calls, with the
    tocsin.arrays.lookup-<digest>/...nbc     entries for the common level of processors

The file is a zip. Numba writes its entries as pickles, so who takes a file in runs what is in it: it has to
be trusted like a program. The checks find what is damaged, or is for another machine or other kernels.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import pickle
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tocsin.arrays.code_levels import common_level, has_level
from tocsin.arrays.kernel_cache import (
    CONTENTS,
    PART,
    SHIPPED,
    add_entries,
    folder_name,
    made_with,
    own_folder,
)
from tocsin.errors import InputError, TocsinError
from tocsin.printable import printable

FORMAT = 1
MOST_BYTES = 1 << 28
_NAME = re.compile(r"(tocsin[.\w]*-[0-9a-f]{16})/([.\w]+-\d+\.py\d+t?)(?:\.(\d+))?\.nb[ic]", re.ASCII)


def export_code(path: Path) -> int:
    """Write what this machine has compiled for the common level into a file; how many kernels that are."""
    files = dict(_files())
    if not files:
        raise TocsinError(f"there is no machine code to put into {printable(str(path))}: {_no_level()}")
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    contents = {"format": FORMAT, "made_with": made_with(), "files": sums}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr(CONTENTS, json.dumps(contents, indent=1))
        for name, data in files.items():
            archive.writestr(name, data)
    return sum(name.endswith(".nbi") for name in files)


def write_code(folder: Path) -> int:
    """The same into a new folder, as it lies in a wheel."""
    files = dict(_files())
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    if not files:
        raise TocsinError(f"there is no machine code to put into a wheel: {_no_level()}")
    (folder / CONTENTS).write_text(json.dumps(made_with()))
    return sum(name.endswith(".nbi") for name in files)


def import_code(path: Path) -> int:
    """Take the machine code of a file into the cache of this user; how many kernels that are.

    InputError for a file that is damaged, made for something else, or no such file; nothing is taken then.
    """
    named = printable(str(path))
    try:
        with zipfile.ZipFile(path) as archive:
            files = _unpacked(named, archive)
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        EOFError,
        NotImplementedError,
        RuntimeError,
    ) as error:
        raise InputError(f"{named} is no file that `tocsin warm --export` wrote, or is damaged") from error
    _check(named, files)
    indexes = [name for name in files if name.endswith(".nbi")]
    for name in indexes:
        folder, base, _ = _NAME.fullmatch(name).groups()  # type: ignore[union-attr]
        entries = {key: files[f"{folder}/{data}"] for key, data in _index(files[name]).items()}
        add_entries(folder, base, entries)
    return len(indexes)


def _no_level() -> str:
    level = common_level()
    if level is None or not has_level():
        return "this processor has no level that others share"
    return "run `tocsin warm` first"


def _folders() -> Iterator[str]:
    """The names of the folders that this version's kernels are in."""
    package = SHIPPED.parent
    for path in sorted(package.rglob("*.py")):
        if path.parent.name in ("arrays", "kernels"):
            module = ".".join(("tocsin", *path.relative_to(package).with_suffix("").parts))
            spec: Any = find_spec(module)
            yield folder_name(module, spec.loader.get_data(spec.origin))


def _files() -> Iterator[tuple[str, bytes]]:
    """The files of an archive, with what is for the common level."""
    level = common_level()
    for name in _folders():
        for folder in (own_folder(name), SHIPPED / name):
            for path in sorted(folder.glob("*.nbi")):
                if not path.name.startswith(PART):
                    yield from _entries_for(level, name, path)


def _entries_for(level: Any, name: str, path: Path) -> Iterator[tuple[str, bytes]]:
    with path.open("rb") as file:
        version = pickle.load(file)
        stamp, index = pickle.load(file)
    chosen = {key: data for key, data in index.items() if key[1][1:] == level}
    if chosen:
        yield f"{name}/{path.name}", pickle.dumps(version) + pickle.dumps((stamp, chosen))
        for data in chosen.values():
            yield f"{name}/{data}", (path.parent / data).read_bytes()


def _unpacked(named: str, archive: zipfile.ZipFile) -> dict[str, bytes]:
    """What is in it, if its names are those of machine code, and it is no bomb."""
    members = archive.infolist()
    names = [member.filename for member in members]
    if len(set(names)) < len(names) or not all(name == CONTENTS or _NAME.fullmatch(name) for name in names):
        raise InputError(f"{named} holds files that `tocsin warm --export` does not write")
    if sum(member.file_size for member in members) > MOST_BYTES:
        raise InputError(f"{named} unfolds to more than {MOST_BYTES >> 20} MiB")
    files = {}
    for member in members:
        with archive.open(member) as file:
            files[member.filename] = file.read(member.file_size)
    return files


def _check(named: str, files: dict[str, bytes]) -> None:
    """InputError unless the files are whole, and for this machine and these kernels."""
    try:
        contents = json.loads(files.pop(CONTENTS))
        version, made, sums = contents["format"], contents["made_with"], contents["files"]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{named} has no list of what is in it") from error
    if version != FORMAT:
        raise InputError(
            f"{named} is of format {printable(str(version))}; this version of tocsin reads {FORMAT}"
        )
    if not isinstance(made, Mapping) or made != made_with():
        raise InputError(f"{named} is for {_said(made)}; this is {_said(made_with())}")
    if not has_level():
        raise InputError(f"{named} is for processors of the level {made['level']}, which this one has not")
    if {name: hashlib.sha256(data).hexdigest() for name, data in files.items()} != sums:
        raise InputError(f"{named} is damaged: a checksum is wrong")
    if not {name.partition("/")[0] for name in files} <= set(_folders()):
        raise InputError(f"{named} is for the kernels of another version of tocsin")


def _said(made: Any) -> str:
    if not isinstance(made, Mapping):
        return "nothing that it names"
    return ", ".join(f"{printable(str(key))} {printable(str(value))}" for key, value in made.items())


def _index(data: bytes) -> dict[Any, str]:
    """The entries of an index of Numba's: its version, and then stamp and entries."""
    file = io.BytesIO(data)
    pickle.load(file)  # the user has said that the file is to be trusted
    index: dict[Any, str] = pickle.load(file)[1]
    return index
