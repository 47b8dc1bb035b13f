"""The saved index of an engine beside the A-Tree: what conditions/graph/index_file.py saves, and more.

    header            "kind": "engine", "engine": NAME
    conjunctions.*    what the two engines of the first paper have made of the rules: labelled_trees.py
    places.*
    labels.*

These two are mapped as they were saved. The others have no arrays in it: they are built of the rules' graph,
which is in every such file, when it is opened.
"""

from __future__ import annotations

import os
from typing import Any

from tocsin.arrays.array_checks import Array
from tocsin.arrays.array_file import ENGINE, shown
from tocsin.conditions.graph import CompiledIndex, index_of_arrays, save_index
from tocsin.engines.engine import Engine, RefusedRules
from tocsin.engines.kernels.expressions import expressions_of
from tocsin.engines.labelled_trees import AnnotatedTrees
from tocsin.engines.registry import BUILDERS, engine_class
from tocsin.errors import IndexFileError


def save_engine(name: str, engine: Engine, compiled: CompiledIndex, path: str | os.PathLike[str]) -> None:
    """Write rules and what an engine has made of them to one file, whole or not at all."""
    parts = engine.saved() if isinstance(engine, AnnotatedTrees) else {}
    arrays = [
        (f"{part}.{field}", getattr(value, field)) for part, value in parts.items() for field in value._fields
    ]
    save_index(compiled, path, header={"kind": ENGINE, "engine": name}, beside=arrays)


def read_engine(
    file: str, header: dict[str, Any], arrays: dict[str, Array], *, verify: bool
) -> tuple[str, Engine, CompiledIndex]:
    """The name of the engine that a mapped file is for, the engine, and the rules."""
    name = header.get("engine")
    if not isinstance(name, str) or name not in BUILDERS:
        raise IndexFileError(f"{file} is for the engine {shown(name)}, which this release does not know")
    compiled = index_of_arrays(file, header, arrays, verify=verify)._replace(planner=None)
    expressions = expressions_of(compiled.graph, compiled.leaf_count)
    kind = engine_class(name)
    if issubclass(kind, AnnotatedTrees):
        rules = compiled.rule_count
        return name, kind.of_file(file, arrays, expressions.literals, rules, verify=verify), compiled
    try:
        return name, kind.of(expressions), compiled
    except RefusedRules as refusal:
        number, reason = min(refusal.reasons.items())
        raise IndexFileError(
            f"{file} is damaged: the engine {name} cannot take its rule {number}: {reason}"
        ) from refusal
