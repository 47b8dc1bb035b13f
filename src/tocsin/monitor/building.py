"""From rules to an index, by the name of an engine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tocsin.errors import RuleError, UsageError, raise_all
from tocsin.grammar.rules import Rules
from tocsin.index.compiled import compile_rules
from tocsin.monitor.index import Index
from tocsin.monitor.scan import ScanIndex, scan_rules

Engine = Index | ScanIndex


def _build_atree(rules: Rules) -> tuple[Index | None, list[RuleError]]:
    compiled, errors = compile_rules(rules)
    return (None if compiled is None else Index(compiled)), errors


ENGINES: dict[str, Callable[[Rules], tuple[Engine | None, list[RuleError]]]] = {
    "atree": _build_atree,
    "scan": scan_rules,
}
"""Every engine by its name: rules in, an index or the errors out."""


def build(rules: object, engine: str = "atree") -> Engine:
    """Build an index of rules: what read_rules gave, (id, condition) pairs, or an Arrow table.

    Raises RuleError for a rule that cannot be taken, RuleErrors for several: all or nothing. Use
    build_good to go on with the others.
    """
    index, errors = _builder(engine)(Rules.of(rules))
    raise_all(errors)
    assert index is not None
    return index


def build_good(rules: object, engine: str = "atree") -> tuple[Engine, list[RuleError]]:
    """Build an index of the rules that can be taken, and the errors of those that cannot."""
    builder = _builder(engine)
    whole = Rules.of(rules, skip_bad=True)
    rejected = list(whole.rejected)
    index, errors = builder(whole)
    if index is None:
        bad = {error.rule for error in errors}
        kept = [number for number, rule in enumerate(whole.ids.to_pylist()) if rule not in bad]
        rejected += errors
        index, errors = builder(whole.take(np.array(kept, np.int64)))
        raise_all(errors)
    assert index is not None
    return index, rejected


def _builder(engine: str) -> Callable[[Rules], tuple[Engine | None, list[RuleError]]]:
    if engine not in ENGINES:
        raise UsageError(f"there is no engine '{engine}': choose one of {', '.join(ENGINES)}")
    return ENGINES[engine]
