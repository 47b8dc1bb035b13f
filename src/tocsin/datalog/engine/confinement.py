"""Which files a program may name: those below a folder that its user gave it.

The names that stand in a program are its author's, and who runs it need not trust him. So a name is refused
that is absolute, that climbs (`..`), or that is or passes a link to somewhere outside of the folder; so is
what is no ordinary file, as reading a device or a pipe may never end. `allow_outside` takes all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tocsin.datalog.engine.fact_files import file_of
from tocsin.datalog.engine.result_files import result_path
from tocsin.datalog.language.directives import Transfer
from tocsin.errors import InputError


def confined(path: Path, folder: Path, whose: str, *, allow_outside: bool = False) -> Path:
    """The path, if it lies in the folder, or all are allowed. `whose` says in an error who names the file."""
    if allow_outside:
        return path
    name = path.relative_to(folder) if path.is_relative_to(folder) else path
    if name.is_absolute() or ".." in name.parts:
        raise InputError(f"{whose} names {name}, which leads out of {folder}: --allow-outside takes it")
    try:
        real = path.resolve()
        inside = real.is_relative_to(folder.resolve())
        is_odd = real.exists() and not (real.is_file() or real.is_dir())
    except (OSError, RuntimeError, ValueError) as error:  # a name too long, a link to itself
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if not inside:
        raise InputError(f"{whose} names {name}, a link that leads out of {folder}: --allow-outside takes it")
    if is_odd:
        raise InputError(f"{whose} names {name}, which is not an ordinary file: --allow-outside takes it")
    return path


def check_transfers(
    sources: Sequence[Transfer],
    targets: Sequence[Transfer],
    facts: Path,
    out: Path,
    *,
    program: Iterable[str] = (),
    allow_outside: bool = False,
) -> None:
    """Refuse inputs and outputs that are not below their folders, and outputs that overwrite one another.

    No output overwrites a file that the program is read from, `program`, or reads.
    """
    read: dict[Path, str] = {Path(file).resolve(): "the program is read from" for file in program}
    for source in sources:
        if source.stream:
            continue
        path = file_of(source, facts)
        whose = f".input {source.relation}"
        confined(path, facts, whose, allow_outside=allow_outside)
        read[path.resolve()] = f"{whose} reads"
        for part in path.rglob("*") if path.is_dir() else ():
            confined(part, facts, whose, allow_outside=allow_outside)
            read[part.resolve()] = f"{whose} reads"
    written: dict[Path, Transfer] = {}
    for target in targets:
        if target.stream:
            continue
        path = result_path(target, out)
        whose = f".output {target.relation}"
        real = confined(path, out, whose, allow_outside=allow_outside).resolve()
        if real in read:
            raise InputError(f"{path}: {whose} would overwrite what {read[real]}")
        other = written.setdefault(real, target)
        if other != target:
            raise InputError(f"{path}: both .output {other.relation} and {whose} write this file")
