"""From rules to an index, by the name of an engine."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from tocsin.errors import RuleError, UsageError, each_error
from tocsin.grammar.rules import Rules
from tocsin.index.compiled import compile_rules
from tocsin.index.engines import BUILDERS
from tocsin.monitor.engine_index import EngineIndex
from tocsin.monitor.index import Index
from tocsin.monitor.learning import learned

AnyIndex = Index | EngineIndex

ENGINES: dict[str, Callable[[Rules], AnyIndex]] = {
    "atree": lambda rules: Index(compile_rules(rules)),
    **{name: partial(EngineIndex, name, build) for name, build in BUILDERS.items()},
}
"""Every engine by its name: rules in, an index out; RuleError or RuleErrors when some cannot be taken."""


def build(rules: object, engine: str = "atree", *, sample: object = None) -> AnyIndex:
    """Build an index of rules: what read_rules gave, (id, condition) pairs, or an Arrow table.

    Raises RuleError for a rule that cannot be taken, RuleErrors for several: all or nothing. Use
    build_good to go on with the others.

    `sample`, some typical events as a table or dictionaries, makes matching events one by one quicker:
    it tells which part of each condition seldom holds. It changes no match. Rules that are compiled
    later, after changes, go by a guess again.
    """
    if sample is None:
        return _builder(engine)(Rules.of(rules))
    if engine != "atree":
        raise UsageError(f"the engine {engine} has no use for a sample")
    return Index(learned(compile_rules(Rules.of(rules)), sample))


def build_good(rules: object, engine: str = "atree") -> tuple[AnyIndex, list[RuleError]]:
    """Build an index of the rules that can be taken, and the errors of those that cannot."""
    builder = _builder(engine)
    whole = Rules.of(rules, skip_bad=True)
    rejected = list(whole.rejected)
    try:
        return builder(whole), rejected
    except RuleError as error:
        errors = each_error(error)
    bad = {error.rule for error in errors}
    good = [number for number, rule in enumerate(whole.ids.to_pylist()) if rule not in bad]
    return builder(whole.take(np.array(good, np.int64))), [*rejected, *errors]


def _builder(engine: str) -> Callable[[Rules], AnyIndex]:
    if not isinstance(engine, str) or engine not in ENGINES:
        raise UsageError(f"there is no engine '{engine}': choose one of {', '.join(ENGINES)}")
    return ENGINES[engine]
