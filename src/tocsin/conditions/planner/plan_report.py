"""The plan of rules as people read it: for each rule the way in, what else is asked, and the estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tocsin.arrays.byte_copy import gather_spans
from tocsin.arrays.packed import Texts
from tocsin.conditions.graph.condition_reader import read_conditions
from tocsin.conditions.graph.leaf_families import put_in_order, sort_into_families
from tocsin.conditions.graph.text_stage import estimate_leaves, read_free_text
from tocsin.conditions.kernels.access_choice import DEFERRED, WAY_IN, conjuncts_of
from tocsin.conditions.language.parser import parse_condition
from tocsin.conditions.language.printer import print_condition
from tocsin.conditions.language.tree import Condition, conjuncts
from tocsin.conditions.planner.planner import ACCESS, Planner, in_order_read
from tocsin.errors import raise_all
from tocsin.rules import Rules
from tocsin.text import TextBase

_ROLE = {WAY_IN: "way in", DEFERRED: "asked last"}


@dataclass(frozen=True, slots=True)
class ConjunctPlan:
    """One conjunct of a rule.

    role          "way in": the rule is found through it; "asked": in the shared graph, once the way in
                  holds; "asked last": free text that is in no index, asked of what all else lets through
    selectivity   the share of events for which it is estimated to hold
    found, asked  nanoseconds for an event: to find it by its index, to ask it alone
    actual        the share of events for which it held, where that was counted
    """

    text: str
    role: str
    selectivity: float
    found: float
    asked: float
    actual: float | None = None


@dataclass(frozen=True, slots=True)
class RulePlan:
    """How a rule is found."""

    rule: str
    conjuncts: tuple[ConjunctPlan, ...]

    def with_truth(self, actual: Sequence[float]) -> RulePlan:
        """The same with what was counted for each conjunct."""
        pairs = zip(self.conjuncts, actual, strict=True)
        return replace(self, conjuncts=tuple(replace(each, actual=share) for each, share in pairs))


def plan_rules(rules: Rules, base: TextBase, planner: Planner) -> list[RulePlan]:
    """The plans of all rules, as an index of them has it; RuleErrors when some cannot be taken."""
    reading = read_conditions(rules.whens, rules.aliases)
    raise_all(rules.index_errors(reading.errors))
    table = reading.table
    families, order = put_in_order(sort_into_families(table))
    leaf_text = Texts(*gather_spans(table.leaf_text, table.leaf_start[order], table.leaf_start[order + 1]))
    stage = read_free_text(reading, families, order, leaf_text, base, None)
    query = stage.query_as_read[order]
    every = np.arange(len(order), dtype=np.int32)
    estimates = in_order_read(estimate_leaves(stage, query, leaf_text, planner, every), order)
    ids = rules.ids.to_pylist()
    plans: dict[int, RulePlan] = {}
    for part in reading.parts:
        found = conjuncts_of(part.start, part.step, part.ref, estimates, ACCESS[planner.access])
        for place, number in enumerate(part.number.tolist()):
            texts = conjunct_texts(parse_condition(rules.whens[number].as_py(), rules.aliases.get(number)))
            here = range(int(found.start[place]), int(found.start[place + 1]))
            plans[number] = RulePlan(
                ids[number],
                tuple(
                    ConjunctPlan(
                        text,
                        _ROLE.get(int(found.role[at]), "asked"),
                        float(found.selectivity[at]),
                        float(found.found[at]),
                        float(found.asked[at]),
                    )
                    for text, at in zip(texts, here, strict=True)
                ),
            )
    return [plans[number] for number in sorted(plans)]


def conjunct_texts(condition: Condition) -> list[str]:
    """The operands of the `and`s at the top of a condition, each as text."""
    parts = conjuncts(condition.steps, condition.operands())
    return [print_condition(Condition(part)) for part in parts]
