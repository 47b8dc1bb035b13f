"""From rules to an index, by the name of an engine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tocsin.conditions.graph import compile_rules
from tocsin.conditions.live import Index, Preparation
from tocsin.conditions.matching import learned
from tocsin.engines.engine_layer import build_with_engine
from tocsin.engines.registry import BUILDERS
from tocsin.errors import RuleError, UsageError, each_error, telling
from tocsin.rules import Rules, RuleSource
from tocsin.tables import Frame
from tocsin.text import Dictionary

if TYPE_CHECKING:
    from tocsin.history.statistics import History

PathLike = str | os.PathLike[str]


def _atree(rules: Rules, preparation: Preparation) -> Index:
    return Index(compile_rules(rules, base=preparation.base, planner=preparation.planner))


ENGINES: dict[str, Callable[[Rules, Preparation], Index]] = {
    "atree": _atree,
    **{name: partial(build_with_engine, name) for name in BUILDERS},
}
"""Every engine by its name: rules in, an index out; RuleError or RuleErrors when some cannot be taken."""


@telling("building an index")
def build(
    rules: RuleSource,
    engine: str = "atree",
    *,
    sample: Frame | Iterable[Mapping[str, Any]] | None = None,
    history: History | PathLike | None = None,
    dictionaries: Mapping[str, Dictionary | PathLike] | None = None,
    stop_words: Iterable[str] = (),
    text_threshold: float = 0.0,
    access: str = "auto",
    organise: str = "auto",
) -> Index:
    """Build an index of rules: what read_rules gave, (id, condition) pairs, dictionaries with id and when, or
    a table of any kind (Arrow, pandas, polars, DuckDB) with these columns.

    Raises RuleError for a rule that cannot be taken, RuleErrors for several: all or nothing. Use
    build_good to go on with the others.

    `sample`, some typical events as a table or dictionaries, makes matching events one by one quicker:
    it tells which part of each condition seldom holds. It changes no match. Rules that are compiled
    later, after changes, go by a guess again.

    For free text: `history`, what tocsin.spark.statistics wrote, gives each field its dictionary, and the
    optimiser its estimates; `dictionaries` gives fields theirs by name. `stop_words` weigh nothing.
    `text_threshold` is what a `contains` without threshold and without `boolean` asks for. `access` says
    through which conjunct a rule with free text is found: "auto" by estimated cost, "structured" or "text".
    It changes no match.

    `organise` says how the engine atree puts its graph together: "unique" keeps each part of a condition
    once; "full" also lets conditions that contain each other share what they have in common, as the A-Tree
    paper's reorganisation and self-adjustment do, and takes longer to build; "auto" estimates on a sample
    whether that pays. `index.stats()` tells what was chosen and why. It changes no match, and stays with the
    index when rules are changed, compacted and saved.
    """
    preparation = Preparation.of(history, dictionaries, stop_words, text_threshold, access, organise)
    if sample is None:
        return build_prepared(rules, engine, preparation)
    if engine != "atree":
        raise UsageError(f"the engine {engine} has no use for a sample")
    compiled = compile_rules(Rules.of(rules), base=preparation.base, planner=preparation.planner)
    return Index(learned(compiled, sample))


@telling("building an index")
def build_prepared(rules: object, engine: str, preparation: Preparation) -> Index:
    """Build an index of rules with what `build` was given besides."""
    return _builder(engine, preparation)(Rules.of(rules), preparation)


@telling("building an index")
def build_good(
    rules: RuleSource, engine: str = "atree", preparation: Preparation | None = None
) -> tuple[Index, list[RuleError]]:
    """Build an index of the rules that can be taken, and the errors of those that cannot."""
    preparation = preparation or Preparation.of()
    builder = _builder(engine, preparation)
    whole = Rules.of(rules, skip_bad=True)
    rejected = list(whole.rejected)
    try:
        return builder(whole, preparation), rejected
    except RuleError as error:
        errors = each_error(error)
    bad = {error.rule for error in errors}
    good = [number for number, rule in enumerate(whole.ids.to_pylist()) if rule not in bad]
    return builder(whole.take(np.array(good, np.int64)), preparation), [*rejected, *errors]


def _builder(engine: str, preparation: Preparation) -> Callable[[Rules, Preparation], Index]:
    if not isinstance(engine, str) or engine not in ENGINES:
        raise UsageError(f"there is no engine '{engine}': choose one of {', '.join(ENGINES)}")
    if engine != "atree" and preparation.planner.organise != "auto":
        raise UsageError(f"the engine {engine} has no graph to organise: organise goes with the engine atree")
    return ENGINES[engine]
