"""The saved index: the arrays of a compiled index in one file (array_file.py), memory-mapped.

Its header also names the fields, the facts and the settings of free text.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from tocsin.errors import IndexFileError
from tocsin.index.array_file import INDEX, kind_of, open_arrays, save_arrays
from tocsin.index.compiled import CompiledIndex
from tocsin.index.leaf_texts import Texts
from tocsin.index.planning.planner import Planner
from tocsin.index.text.base import TextBase
from tocsin.index.text.compiled import CompiledTexts
from tocsin.kernels.leaves import Leaves, Ranges
from tocsin.kernels.links import Links
from tocsin.kernels.lookup import Bounds, Literals
from tocsin.kernels.pattern_search import Patterns
from tocsin.kernels.planes import PlaneGraph
from tocsin.kernels.text.dictionary import DictionaryWords
from tocsin.kernels.text.query_code import QueryCode, Terms
from tocsin.kernels.text.rules import TextRules
from tocsin.kernels.text.trie_filter import Trie

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
_TEXT_PARTS: dict[str, Any] = {"rules": TextRules, "queries": QueryCode, "terms": Terms, "trie": Trie}
_TEXT_WORDS = "texts.words"
_TEXT_LEAF = "texts.leaf"
_ARRAYS = ("group_kind", "pattern_leaf", "metadata")


def save_index(index: CompiledIndex, path: str | os.PathLike[str]) -> None:
    """Write the index to a file, whole or not at all."""
    base = index.texts.base
    said = {
        "fields": [list(path) for path in index.group_path],
        "facts": index.facts,
        "texts": {
            "threshold": base.threshold,
            "stop_words": sorted(base.stop_words),
            "fields": [list(path) for path in base.fields],
        },
    }
    save_arrays(path, said, list(_named_arrays(index)))


def open_index(path: str | os.PathLike[str], *, verify: bool = True) -> CompiledIndex:
    """Map a saved index. `verify` reads it through once; the header is always checked."""
    header, arrays = open_arrays(path, verify=verify)
    if kind_of(header) != INDEX:
        raise IndexFileError(f"{os.fspath(path)} is no index of rules: it holds a {kind_of(header)}")
    return index_of_arrays(os.fspath(path), header, arrays)


def index_of_arrays(name: str, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> CompiledIndex:
    """The index that a mapped file holds."""
    try:
        parts: dict[str, Any] = {part: _part(part, kind, arrays) for part, kind in _PARTS.items()}
        parts |= {array: arrays[array] for array in _ARRAYS}
        parts["texts"] = _opened_texts(arrays, header["texts"])
    except KeyError as error:
        raise IndexFileError(f"{name} lacks the array {error}") from error
    fields = [tuple(path) for path in header["fields"]]
    return CompiledIndex(**parts, group_path=fields, planner=Planner(), facts=header["facts"])


def _part(name: str, kind: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    return kind(*(arrays[f"{name}.{field}"] for field in kind._fields))


def _opened_texts(arrays: dict[str, NDArray[Any]], said: dict[str, Any]) -> CompiledTexts:
    base = TextBase(
        said["threshold"],
        frozenset(said["stop_words"]),
        tuple(tuple(path) for path in said["fields"]),
        _part(_TEXT_WORDS, DictionaryWords, arrays),
    )
    parts = {part: _part(f"texts.{part}", kind, arrays) for part, kind in _TEXT_PARTS.items()}
    return CompiledTexts(leaf=arrays[_TEXT_LEAF], base=base, **parts)


def _named_arrays(index: CompiledIndex) -> Iterator[tuple[str, NDArray[Any]]]:
    texts = index.texts
    values: dict[str, Any] = {part: getattr(index, part) for part in _PARTS}
    values |= {f"texts.{part}": getattr(texts, part) for part in _TEXT_PARTS}
    values[_TEXT_WORDS] = texts.base.words
    for part, value in values.items():
        for field in value._fields:
            yield f"{part}.{field}", getattr(value, field)
    yield _TEXT_LEAF, texts.leaf
    for name in _ARRAYS:
        yield name, getattr(index, name)
