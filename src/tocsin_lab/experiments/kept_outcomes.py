"""What was measured, kept in a folder: a run that was stopped goes on where it was.

    FOLDER/atree-figure12/0.1-1-<digest>/b.json        panel (b)
                                         whole.json    all of it, when it is finished

The digest is that of the source that measures: the experiment's module, its engines, and all of tocsin
and tocsin_lab that these import. What other source measured is not taken.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from tocsin_lab.experiments.outcome import Axis, Bar, Bars, Column, Line, Lines, Outcome, Plot, Table

OURS = ("tocsin", "tocsin_lab")


class Kept(Protocol):
    """Where the outcomes of one run of one experiment are kept, part by part."""

    def find(self, part: str) -> Outcome | None:
        """What was measured before."""

    def put(self, part: str, outcome: Outcome) -> None:
        """Keep what was measured now."""


class NotKept:
    """Nothing is there, and nothing is kept."""

    def find(self, part: str) -> Outcome | None:
        """Nothing."""

    def put(self, part: str, outcome: Outcome) -> None:
        """Nothing."""


class KeptOutcomes:
    """A JSON file for each part. A file is there whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, part: str) -> Outcome | None:
        """What its file has, if there is one."""
        path = self._path(part)
        return outcome_of(json.loads(path.read_text())) if path.exists() else None

    def put(self, part: str, outcome: Outcome) -> None:
        """Write its file."""
        self._folder.mkdir(parents=True, exist_ok=True)
        draft = self._path(part).with_suffix(".draft")
        draft.write_text(json.dumps(asdict(outcome), default=_plain, indent=1))
        draft.replace(self._path(part))

    def _path(self, part: str) -> Path:
        return self._folder / f"{part}.json"


def outcome_of(read: Mapping[str, Any]) -> Outcome:
    """An outcome from what JSON has of it."""
    return Outcome(
        [
            Table(**{**table, "columns": [Column(**column) for column in table["columns"]]})
            for table in read["tables"]
        ],
        [
            Plot(**{**plot, "panels": [_panel(dict(panel)) for panel in plot["panels"]]})
            for plot in read["plots"]
        ],
        read["notes"],
    )


def _panel(read: dict[str, Any]) -> Lines | Bars:
    read["up"] = Axis(**read["up"])
    if "bars" in read:
        return Bars(**{**read, "bars": [Bar(**bar) for bar in read["bars"]]})
    return Lines(
        **{**read, "across": Axis(**read["across"]), "lines": [_line(each) for each in read["lines"]]}
    )


def _line(read: Mapping[str, Any]) -> Line:
    points = [(x, y) for x, y in read["points"]]
    return Line(read["name"], points, frozenset(read["partial"]), read["slowest"])


def _plain(value: Any) -> Any:
    """What JSON does not know: sets, and NumPy's numbers."""
    return sorted(value) if isinstance(value, frozenset) else value.item()


@cache
def source_digest(module: str, engines: tuple[str, ...] = ()) -> str:
    """Of the source of a module and some engines, and of all of ours that they import, also in functions.

    Engines are loaded by their names, so no import tells of them.
    """
    sources: dict[str, bytes] = {}
    waiting = [module, *(f"tocsin.engines.{name.replace('-', '_')}" for name in engines)]
    while waiting:
        name = waiting.pop()
        source = None if name in sources else _source(name)
        if source is not None:
            sources[name] = source
            waiting += [each for each in _imported(source) if each.split(".")[0] in OURS]
    digest = blake2b(version("numba").encode(), digest_size=8)
    for name in sorted(sources):
        digest.update(sources[name])
    return digest.hexdigest()


@cache
def _imported(source: bytes) -> list[str]:
    """Modules, and names in modules that may be modules too."""
    names: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
    return names


def _source(module: str) -> bytes | None:
    """None when it is no module but a name in one."""
    try:
        spec: Any = find_spec(module)
    except ModuleNotFoundError:  # a name in a module that is no package
        return None
    return None if spec is None else spec.loader.get_data(spec.origin)
