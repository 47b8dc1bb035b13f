"""The saved index: the arrays of a compiled index in one file (arrays/array_file.py), memory-mapped.

Its header also names the fields, the facts, how nodes were put together, and the settings of free text.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.array_checks import check_facts, check_paths, typed, typed_array
from tocsin.arrays.array_file import ENGINE, INDEX, kind_of, open_arrays, save_arrays, shown
from tocsin.arrays.lookup import Bounds, Literals
from tocsin.arrays.packed import Texts
from tocsin.conditions.graph.compiled_index import CompiledIndex
from tocsin.conditions.graph.organisation import Organisation
from tocsin.conditions.graph.soundness import check_index
from tocsin.conditions.kernels.leaves import Leaves, Ranges
from tocsin.conditions.kernels.pattern_search import Patterns
from tocsin.conditions.kernels.plane_links import Links
from tocsin.conditions.kernels.planes import PlaneGraph
from tocsin.conditions.planner.planner import Planner
from tocsin.errors import IndexFileError
from tocsin.storage import PRIVATE
from tocsin.text import CompiledTexts

_PARTS: dict[str, Any] = {
    "graph": PlaneGraph,
    "leaves": Leaves,
    "ranges": Ranges,
    "links": Links,
    "literals": Literals,
    "bounds": Bounds,
    "patterns": Patterns,
    "rule_id": Texts,
    "rule_text": Texts,
    "leaf_text": Texts,
}
_ARRAYS: dict[str, np.dtype[Any]] = {
    "group_kind": np.dtype(np.uint8),
    "pattern_leaf": np.dtype(np.int32),
    "metadata": np.dtype(np.uint8),
}


def save_index(
    index: CompiledIndex,
    path: str | os.PathLike[str],
    mode: int = PRIVATE,
    header: Mapping[str, Any] | None = None,
    beside: Sequence[tuple[str, NDArray[Any]]] = (),
) -> None:
    """Write the index to a file, whole or not at all; `mode` as in drafts.draft_of.

    `header` and the arrays `beside` are what else a file says whose kind is another.
    """
    said = {
        **(header or {}),
        "fields": [list(path) for path in index.group_path],
        "facts": index.facts,
        "organisation": asdict(index.organisation),
        "texts": index.texts.header(),
    }
    save_arrays(path, said, [*_named_arrays(index), *beside], mode)


def open_index(path: str | os.PathLike[str], *, verify: bool = True) -> CompiledIndex:
    """Map a saved index. `verify` reads it through once: its checksum, and whether it is sound.

    The header, and the types of arrays, are always checked. Without `verify` the file must be one that
    somebody has verified who can be trusted: kernels would follow wherever it leads them.
    """
    return index_of_arrays(*map_index(path, verify=verify), verify=verify)


def map_index(
    path: str | os.PathLike[str], *, verify: bool
) -> tuple[str, dict[str, Any], dict[str, NDArray[Any]]]:
    """The name, header and arrays of a saved index; `index_of_arrays` makes it of them."""
    header, arrays = open_arrays(path, verify=verify)
    if kind_of(header) == ENGINE:
        name = shown(header.get("engine"))
        raise IndexFileError(
            f"{os.fspath(path)} is for the engine {name}; only an index of atree can be here"
        )
    if kind_of(header) != INDEX:
        raise IndexFileError(f"{os.fspath(path)} is not an index of rules: it holds a {kind_of(header)}")
    return os.fspath(path), header, arrays


def index_of_arrays(
    name: str, header: dict[str, Any], arrays: dict[str, NDArray[Any]], *, verify: bool = True
) -> CompiledIndex:
    """The index that a mapped file holds; whether it is sound is asked if `verify`."""
    parts: dict[str, Any] = {part: typed(name, part, kind, arrays) for part, kind in _PARTS.items()}
    parts |= {array: typed_array(name, array, kind, arrays) for array, kind in _ARRAYS.items()}
    fields = check_paths(name, "fields", header.get("fields"))
    facts = check_facts(name, header.get("facts"))
    texts = CompiledTexts.of_arrays(name, arrays, header.get("texts"))
    organisation = Organisation.of_header(name, header.get("organisation"))
    planner = Planner(organise=organisation.asked)
    index = CompiledIndex(
        **parts, group_path=fields, texts=texts, planner=planner, organisation=organisation, facts=facts
    )
    if verify:
        check_index(name, index)
    return index


def _named_arrays(index: CompiledIndex) -> Iterator[tuple[str, NDArray[Any]]]:
    for part in _PARTS:
        value = getattr(index, part)
        for field in value._fields:
            yield f"{part}.{field}", getattr(value, field)
    yield from index.texts.named_arrays()
    for name in _ARRAYS:
        yield name, getattr(index, name)
