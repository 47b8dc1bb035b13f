"""Where machine code is kept, and how it is found again.

Numba looks only at the file of a loop when it asks whether cached code is still good, not at the loops that
it calls in other files, and it takes the same file in another folder for another one. Here a module's
machine code lies in a folder that is named after the module, its content and that of every module whose
loops it uses:

    <package>/machine_code/tocsin.arrays.lookup-<digest>/...        came with the wheel; is only read
    ~/.cache/tocsin/kernels/tocsin.arrays.lookup-<digest>/...       was compiled here

So it serves every copy of the same source, wherever that lies. NUMBA_CACHE_DIR, when set, is where the
folders of the second kind lie. Machine code is run, so none is taken from a folder that others may write
to (storage/folders.py); what came with the package is trusted as the package is.

An entry is for types of arguments and for a processor. One for the common level (code_levels.py) serves
every processor that has the level. Several processes may fill one cache at the same time: what one of them
compiles the others wait for.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache, cached_property
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, IndexDataCacheFile, _Cache
from numba.core.serialize import dumps

from tocsin.arrays.code_levels import common_level, has_level
from tocsin.errors import TocsinWarning
from tocsin.storage.folders import cache_folder

SHIPPED = Path(__file__).parents[1] / "machine_code"
"""What came with the package, and beside it CONTENTS: what it was compiled with."""

CONTENTS = "contents.json"

PART = "part."
"""What the files of parts begin with, which are not machine code: see kernel_dispatch.py."""

_IMPORT = re.compile(
    rb"^from (tocsin\w*\.(?:\w+\.)*?(?:arrays|kernels))((?:\.\w+)*) import (\([^)]*\)|.*)", re.MULTILINE
)
_NAME = re.compile(r"(\w+)(?: as \w+)?")
_NO_CODE = {f"tocsin.arrays.{module}" for module in ("code_levels", "kernel_cache", "kernel_calls")}

_locked: set[Path] = set()


def kernels_digest(source: bytes) -> str:
    """What the machine code of a module's loops depends on, and Numba does not look at: the module's own
    source, and that of every module whose loops it uses.
    """
    sources: dict[str, bytes] = {}
    waiting = _kernel_modules(source)
    while waiting:
        needed = waiting.pop()
        if needed not in sources and needed not in _NO_CODE:
            sources[needed] = _source(needed)
            waiting += _kernel_modules(sources[needed])
    checked = b" with bounds checks" if numba.config.BOUNDSCHECK else b""
    digest = blake2b(numba.__version__.encode() + checked + source, digest_size=8)
    for needed in sorted(sources):
        digest.update(sources[needed])
    return digest.hexdigest()


def _kernel_modules(source: bytes) -> list[str]:
    """Those that a source takes something from (`from a.kernels.b import c`), or takes whole."""
    modules = []
    for room, module, names in _IMPORT.findall(source):
        taken = [module.decode()] if module else [f".{name}" for name in _NAME.findall(names.decode())]
        modules += [room.decode() + name for name in taken]
    return modules


@cache
def _source(module: str) -> bytes:
    spec: Any = find_spec(module)
    content: bytes = spec.loader.get_data(spec.origin)  # also from within a zip file
    return content


def cache_root() -> Path | None:
    """Where the user has said that machine code should lie."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    return Path(named).absolute() if named else None


@cache
def own_folder(name: str) -> Path:
    """Where the machine code of a module that is compiled here lies."""
    return cache_folder("kernels", name, cache_root())


@cache
def folder_name(module: str, source: bytes) -> str:
    """What the folder of a module's machine code is called."""
    return f"{module}-{kernels_digest(source)}"


def made_with() -> dict[str, str]:
    """What machine code depends on beside its source and its processor."""
    return {
        "python": f"{sys.version_info.major}.{sys.version_info.minor}{sys.abiflags}",
        "numba": numba.__version__,
        "level": getattr(common_level(), "name", "none"),
    }


@cache
def _shipped() -> dict[str, str]:
    """What the machine code that came with the package was made with; nothing when there is none."""
    try:
        contents: dict[str, str] = json.loads((SHIPPED / CONTENTS).read_bytes())
    except OSError:
        return {}
    return contents


@cache
def _suits(contents: tuple[tuple[str, str], ...]) -> bool:
    return dict(contents) == made_with() and has_level()


@cache
def _warn_of_shipped() -> None:
    """Once, when something is compiled that came compiled for others."""
    shipped = _shipped()
    warnings.warn(
        f"the machine code that came with tocsin is for Python {shipped['python']}, Numba {shipped['numba']}"
        f" and processors of the level {shipped['level']}, and cannot be used here: kernels are compiled when"
        " they are first needed, or all at once by `tocsin warm`",
        TocsinWarning,
        stacklevel=2,
    )


def add_entries(folder: str, name: str, entries: dict[Any, bytes]) -> None:
    """Put entries that were written elsewhere beside those of a kernel that are here."""
    file: Any = IndexDataCacheFile(str(own_folder(folder)), name, folder)
    with _locked_for_writing(own_folder(folder) / f"{name}.lock"):
        index = file._load_index()
        for number, (key, data) in enumerate(entries.items(), 1 + len(index)):
            if key not in index:
                index[key] = file._data_name(number)
                with file._open_for_write(file._data_path(index[key])) as written:
                    written.write(data)
        file._save_index(index)


@contextmanager
def _locked_for_writing(path: Path) -> Iterator[None]:
    if path in _locked:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _locked.add(path)
        try:
            yield
        finally:
            _locked.discard(path)


class KernelCache(_Cache):  # type: ignore[misc]
    """The machine code of one kernel. `form` says how that is written and read."""

    def __init__(self, function: Callable[..., Any], form: CompileResultCacheImpl, prefix: str = "") -> None:
        self._function = function
        self._form = form
        name = function.__qualname__.replace("<", "").replace(">", "")
        python = f"py{sys.version_info.major}{sys.version_info.minor}{sys.abiflags}"
        self._name = f"{prefix}{name}-{function.__code__.co_firstlineno}.{python}"

    @cached_property
    def _folder(self) -> str:
        module: Any = self._function.__globals__
        return folder_name(
            module["__name__"], module["__loader__"].get_data(self._function.__code__.co_filename)
        )

    @cached_property
    def _own(self) -> Any:
        return IndexDataCacheFile(self.cache_path, self._name, self._folder)

    @cached_property
    def _came(self) -> Any:
        return IndexDataCacheFile(str(SHIPPED / self._folder), self._name, self._folder)

    @property
    def cache_path(self) -> str:
        """The folder of what is compiled here."""
        return str(own_folder(self._folder))

    def enable(self) -> None:
        """It always is."""

    disable = enable

    def flush(self) -> None:
        """Forget what was compiled here."""
        self._own.flush()

    def is_cached(self) -> bool:
        """Whether some machine code is there."""
        return any(file._load_index() for file in self._files())

    def holds(self, sig: Any, target_context: Any) -> bool:
        """Whether it has the machine code for these types."""
        target_context.refresh()
        return self._place(sig, target_context) is not None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for these types, or None."""
        target_context.refresh()
        place = self._place(sig, target_context)
        data = None if place is None else place[0].load(place[1])
        return None if data is None else self._form.rebuild(target_context, data)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep it."""
        if self._form.check_cachable(data):
            self._own.save(self._key(sig, data.codegen.magic_tuple()), self._form.reduce(data))

    def one_at_a_time(self) -> AbstractContextManager[None]:
        """Compile what others do not compile at the same time: they wait, and find it in the cache."""
        return _locked_for_writing(Path(self.cache_path, f"{self._name}.lock"))

    def _files(self) -> Iterator[Any]:
        shipped = _shipped()
        if shipped:
            if _suits(tuple(shipped.items())):
                yield self._came
        yield self._own

    def _place(self, sig: Any, target_context: Any) -> tuple[Any, Any] | None:
        keys = [
            self._key(sig, processor) for processor in _processors(target_context.codegen().magic_tuple())
        ]
        for file in self._files():
            index = file._load_index()
            for key in keys:
                if key in index:
                    return file, key
        if _shipped() and not _suits(tuple(_shipped().items())):
            _warn_of_shipped()
        return None

    def _key(self, sig: Any, processor: tuple[str, ...]) -> Any:
        cells = self._function.__closure__
        closure = dumps(tuple(cell.cell_contents for cell in cells)) if cells else b""
        return sig, processor, hashlib.sha256(closure).hexdigest()


def _processors(own: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Which entries run here: those for the level, and those for what this process compiles for.

    Who names a processor for Numba (NUMBA_CPU_NAME) gets what is compiled for that one.
    """
    level = common_level()
    if level is not None and numba.config.CPU_NAME is None and has_level():
        return [(own[0], *level), own]
    return [own]
