"""Every engine beside the A-Tree, by its name. Each is loaded when it is first asked for."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from tocsin.engines.engine import Engine, EngineBuilder
from tocsin.engines.kernels.expressions import Expressions

_CLASSES = {
    "interval": "IntervalEngine",
    "dewey": "DeweyEngine",
    "bop": "BopEngine",
    "bdd": "BddEngine",
    "dnf": "DnfEngine",
    "scan": "ScanEngine",
    "scan-conj": "ScanConjunctionsEngine",
}
"""Of each engine its class, which is in the file of the engine's name."""

REFUSE_ONLY_LARGE_TREES = frozenset({"interval", "dewey", "bop", "scan", "scan-conj"})
"""Engines that take every rule whose tree is not too large, or nested too deep."""


def engine_class(name: str) -> Any:
    """The class of an engine."""
    return getattr(import_module(f"tocsin.engines.{name.replace('-', '_')}"), _CLASSES[name])


def _build(name: str, expressions: Expressions) -> Engine:
    built: Engine = engine_class(name).of(expressions)
    return built


BUILDERS: dict[str, EngineBuilder] = {name: partial(_build, name) for name in _CLASSES}
