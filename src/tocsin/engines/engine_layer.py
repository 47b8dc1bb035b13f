"""Rules that an engine beside the A-Tree matches, as a layer of the index that users hold.

                  conditions/live/layers.py
    main layer    an engine of most rules
    others        the same engine of rules that came later: the first paper's "small delta indexes"

What changes, what readers see meanwhile and when all layers become one is decided for them as for the
A-Tree's. An engine only has to be built of rules, again and again, so it knows nothing of changes.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.arrays.array_checks import Array
from tocsin.arrays.array_file import ENGINE, kind_of, open_arrays
from tocsin.arrays.dtypes import Ints
from tocsin.conditions.graph import CompiledIndex, compile_like, compile_rules, rule_ids
from tocsin.conditions.live import Change, Index, Layer, Preparation, SavedFile, Statistics, statistics_of
from tocsin.engines.engine import RefusedRules
from tocsin.engines.engine_file import read_engine, save_engine
from tocsin.engines.engine_matcher import EngineMatcher
from tocsin.engines.kernels.expressions import expressions_of
from tocsin.engines.registry import BUILDERS, REFUSE_ONLY_LARGE_TREES
from tocsin.errors import IndexFileError, RuleError, raise_all
from tocsin.rules import Rules

SHORT = 2_048
"""Characters of a condition without `xor` and `xnor`: its tree has fewer leaves, and its labels far fewer
numbers than any engine refuses."""

_DOUBLING = re.compile("xn?or", re.IGNORECASE)
"""What may stand for an operator that doubles the trees below it."""


@dataclass(frozen=True, slots=True, eq=False)
class EngineLayer(Layer):
    """Some rules, laid out for an engine. The graph of their conditions is there to be saved."""

    matcher: EngineMatcher

    @property
    def engine(self) -> str:
        """Which engine finds the rules."""
        return self.matcher.name

    def like(self, compiled: CompiledIndex, numbers: Ints | None = None) -> EngineLayer:
        """A layer of other rules for the same engine; RuleError or RuleErrors when it cannot take some."""
        try:
            return engine_layer(self.engine, compiled, numbers)
        except RefusedRules as refusal:
            ids = rule_ids(compiled)
            raise_all(
                [
                    RuleError(error.reason, rule=ids[number].as_py())
                    for number, error in _errors(self.engine, refusal).items()
                ]
            )
            raise

    def check_taken(self, changes: Sequence[Change]) -> None:
        """RuleError or RuleErrors for rules to add that the engine cannot take: it is built of them alone.

        Of what cannot be too large it is not asked: that would take a hundred times as long as the change.
        """
        sure = SHORT if self.engine in REFUSE_ONLY_LARGE_TREES else 0
        added = [
            each for each in changes if each.adds and (len(each.when) > sure or _DOUBLING.search(each.when))
        ]
        if added:
            text = pa.large_string()
            ids, whens = pa.array([each.rule for each in added], text), [each.when for each in added]
            rules = Rules(ids, pa.array(whens, text), lines=np.arange(1, len(added) + 1))
            self.like(compile_like(self.compiled, rules))

    def statistics(self) -> Statistics:
        """Rules, predicates, bytes by part, build seconds by phase."""
        ids = sum(array.nbytes for array in self.compiled.rule_id)
        parts = {**self.matcher.bytes_of_parts(), "rule_id": ids}
        counted = replace(statistics_of(self.compiled), engine=self.engine, bytes_matching=parts)
        return replace(counted, and_nodes=0, or_nodes=0, levels=(), edges=0, uses=0.0, organisations=())

    @property
    def opener(self) -> Callable[[str], Index]:
        """What opens a file that `save` has written, with all checks."""
        return open_engine_file

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write its rules and what the engine has made of them to one file, whole or not at all."""
        save_engine(self.engine, self.matcher.engine, self.compiled, path)


def engine_layer(name: str, compiled: CompiledIndex, numbers: Ints | None = None) -> EngineLayer:
    """Lay compiled rules out for an engine; RefusedRules when it cannot take some."""
    started = time.perf_counter()
    engine = BUILDERS[name](expressions_of(compiled.graph, compiled.leaf_count))
    seconds = {**compiled.facts, name: time.perf_counter() - started}
    return EngineLayer(
        compiled._replace(facts=seconds), numbers=numbers, matcher=EngineMatcher(name, engine, compiled)
    )


def build_with_engine(name: str, rules: Rules, preparation: Preparation) -> Index:
    """An index whose rules are matched by an engine; RuleError or RuleErrors when it cannot take some."""
    compiled = compile_rules(rules, base=preparation.base)
    try:
        return Index(engine_layer(name, compiled))
    except RefusedRules as refusal:
        raise_all([rules.error(number, error) for number, error in _errors(name, refusal).items()])
        raise


def open_engine_file(file: str) -> Index:
    """The index of an engine that a file holds; IndexFileError when it is damaged, or another file."""
    header, arrays = open_arrays(file)
    if kind_of(header) != ENGINE:
        raise IndexFileError(f"{file} is not for an engine: it holds a {kind_of(header)}")
    return open_engine(file, header, arrays)


def open_engine(file: str, header: dict[str, Any], arrays: dict[str, Array], *, verify: bool = True) -> Index:
    """The index that a mapped file of an engine holds; IndexFileError when it is damaged."""
    name, engine, compiled = read_engine(file, header, arrays, verify=verify)
    layer = EngineLayer(compiled, EngineMatcher(name, engine, compiled))
    return Index(layer, SavedFile.of(file, header))


def _errors(name: str, refusal: RefusedRules) -> dict[int, RuleError]:
    """What is said of the rules that an engine cannot take, by their number."""
    return {
        number: RuleError(f"the engine {name} cannot take this rule: {reason}")
        for number, reason in sorted(refusal.reasons.items())
    }
