"""Every engine beside the A-Tree, by its name. Each is loaded when it is first asked for."""

from __future__ import annotations

from tocsin.engines.engine import Engine, EngineBuilder
from tocsin.engines.kernels.expressions import Expressions


def _interval(expressions: Expressions) -> Engine:
    from tocsin.engines.interval import IntervalEngine

    return IntervalEngine.of(expressions)


def _dewey(expressions: Expressions) -> Engine:
    from tocsin.engines.dewey import DeweyEngine

    return DeweyEngine.of(expressions)


def _bop(expressions: Expressions) -> Engine:
    from tocsin.engines.bop import BopEngine

    return BopEngine.of(expressions)


def _bdd(expressions: Expressions) -> Engine:
    from tocsin.engines.bdd import BddEngine

    return BddEngine.of(expressions)


def _dnf(expressions: Expressions) -> Engine:
    from tocsin.engines.dnf import DnfEngine

    return DnfEngine.of(expressions)


def _scan(expressions: Expressions) -> Engine:
    from tocsin.engines.scan import ScanEngine

    return ScanEngine.of(expressions)


def _scan_conjunctions(expressions: Expressions) -> Engine:
    from tocsin.engines.scan_conj import ScanConjunctionsEngine

    return ScanConjunctionsEngine.of(expressions)


BUILDERS: dict[str, EngineBuilder] = {
    "interval": _interval,
    "dewey": _dewey,
    "bop": _bop,
    "bdd": _bdd,
    "dnf": _dnf,
    "scan": _scan,
    "scan-conj": _scan_conjunctions,
}
