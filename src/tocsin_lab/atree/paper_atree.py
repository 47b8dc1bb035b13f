"""The A-Tree as the paper has it, with a switch for each of its ideas, and its structure in the open.

For the paper's experiments (experiments/atree_designs.py) and worked examples (tests/papers); the product's
own index is tocsin.build. Switches of section 4: `sharing` (one node for one expression), `nary`,
`reorganise`, `self_adjust`; of section 5: `zero_suppression`, `on_demand`, `lazy_stamps`, `access`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Doubles, Ints, Longs
from tocsin.conditions.graph import Predicates, guess, read_conditions, sort_into_families
from tocsin.conditions.kernels import TRUE_REF
from tocsin.conditions.language import Condition, parse_condition, print_predicate
from tocsin.conditions.meaning import Truth, predicate_truth
from tocsin.errors import UsageError, raise_all
from tocsin_lab.atree.atree import ALWAYS, GrowingAtree
from tocsin_lab.atree.atree_groups import Grouping, GroupMaker, groups_of
from tocsin_lab.atree.frozen_atree import (
    Access,
    AtreeMatcher,
    access_at_random,
    access_by_selectivity,
)
from tocsin_lab.atree.numbered_predicates import NumberedPredicates
from tocsin_lab.kernels.atree_match import Switches
from tocsin_lab.kernels.atree_nodes import AND, LEAF, NOT, OR, XNOR, XOR
from tocsin_lab.kernels.atree_updates import Groups, Policy

_WORDS = {AND: " and ", OR: " or ", XOR: " xor ", XNOR: " xnor "}


class Design(NamedTuple):
    """Which of the paper's ideas are in use."""

    sharing: bool = True
    nary: bool = True
    reorganise: bool = True
    self_adjust: bool = True
    zero_suppression: bool = True
    on_demand: bool = True
    lazy_stamps: bool = True
    access: Literal["selectivity", "random"] = "selectivity"

    def check(self) -> None:
        """UsageError when one idea needs another that is off."""
        if not self.sharing and (self.reorganise or self.self_adjust):
            raise UsageError("reorganise and self_adjust share nodes: they need sharing")
        if self.on_demand and not self.zero_suppression:
            raise UsageError("on_demand keeps false results from parents: it needs zero_suppression")
        if self.access not in ("selectivity", "random"):
            raise UsageError(
                f"the access child is chosen by 'selectivity' or at 'random', not by {self.access!r}"
            )

    @property
    def grouping(self) -> Grouping:
        """How conditions are cut into groups."""
        return Grouping(self.zero_suppression, self.nary, self.sharing)


class Structure(NamedTuple):
    """The node of an expression; other nodes as texts."""

    level: int
    uses: int
    children: frozenset[str]
    parents: frozenset[str]
    access: str | None


class PaperAtree:
    """Rules in an A-Tree of some design."""

    def __init__(
        self, rules: Iterable[tuple[str, str | Condition]] = (), design: Design | None = None, seed: int = 0
    ) -> None:
        self.design = design or Design()
        self.design.check()
        self.atree = GrowingAtree(
            Policy(self.design.sharing, self.design.nary, self.design.reorganise, self.design.self_adjust)
        )
        self.predicates = NumberedPredicates()
        self._seed = seed
        self._root: dict[str, int] = {}
        self._matcher: AtreeMatcher | None = None
        self._likelihood: Doubles | None = None
        for rule, condition in rules:
            self.insert(rule, condition)

    # ---- Rules

    def insert(self, rule: str, condition: str | Condition) -> None:
        """Add a rule; UsageError when there is one of this id."""
        if rule in self._root:
            raise UsageError(f"there is a rule '{rule}' already")
        self.insert_groups([rule], self._groups(condition))

    def insert_groups(self, rules: Sequence[str], groups: Groups) -> None:
        """Add many rules whose groups are made already; see read_groups."""
        self._matcher = None
        self._root.update(zip(rules, self.atree.add(groups).tolist(), strict=True))

    def delete(self, rule: str) -> None:
        """Take a rule away; UsageError when there is none of this id."""
        if rule not in self._root:
            raise UsageError(f"there is no rule '{rule}'")
        self._matcher = None
        self.atree.remove(self._root.pop(rule))

    def __len__(self) -> int:
        return len(self._root)

    @property
    def roots(self) -> Ints:
        """The node of each rule, in the order of insertion."""
        return np.array(list(self._root.values()), np.int32)

    # ---- Matching

    def match(self, event: Mapping[str, object]) -> list[str]:
        """The rules that an event satisfies, in the order of insertion."""
        found = set(self.matcher().match(self.true_refs(event)).tolist())
        return [
            rule for place, (rule, root) in enumerate(self._root.items()) if place in found or root == ALWAYS
        ]

    def true_refs(self, event: Mapping[str, object]) -> Ints:
        """The references to predicates, and to negations of predicates, that are true of an event."""
        truths = [predicate_truth(each, event) for each in self.predicates.distinct]
        return np.array(
            [
                2 * (leaf + 1) + (truth is Truth.FALSE)
                for leaf, truth in enumerate(truths)
                if truth is not Truth.UNKNOWN
            ],
            np.int32,
        )

    def trace(self, event: Mapping[str, object]) -> list[list[str]]:
        """The expressions that were queued at each level while an event was matched, in their order."""
        matcher = self.matcher()
        matcher.match(self.true_refs(event))
        return [[self.text(node) for node in nodes] for nodes in matcher.queued()]

    def observe(self, true_refs: Sequence[Ints]) -> None:
        """Learn from events how often each reference is true, for the choice of access children."""
        seen = np.zeros(self._refs)
        for refs in true_refs:
            seen[refs] += 1
        self._likelihood = seen / max(1, len(true_refs))
        self._matcher = None

    def matcher(self) -> AtreeMatcher:
        """The tree as it is now, ready for matching."""
        if self._matcher is None or self._matcher.refs != self._refs:
            design = self.design
            access: Access | None = None
            if design.on_demand and design.access == "random":
                access = access_at_random(self._seed)
            elif design.on_demand:
                access = access_by_selectivity(self._estimate())
            switches = Switches(design.zero_suppression, design.on_demand, design.lazy_stamps)
            self._matcher = AtreeMatcher(self.atree, self.roots, self._refs, switches, access)
        return self._matcher

    @property
    def _refs(self) -> int:
        return 2 * (len(self.predicates.distinct) + 1)

    def _estimate(self) -> Doubles:
        """How likely each reference is: as observed, or guessed from the predicates."""
        estimate = np.full(self._refs, 0.5)
        if self.predicates.distinct:
            rows = Predicates()
            refs = rows.add(self.predicates.distinct)
            table, leaf = rows.table()
            likelihood = guess(sort_into_families(table))
            estimate[2::2] = likelihood.true[leaf[refs >> 1]]
            estimate[3::2] = likelihood.false[leaf[refs >> 1]]
        if self._likelihood is not None:
            estimate[: len(self._likelihood)] = self._likelihood
        return estimate

    # ---- Structure

    def structure(self, expression: str) -> Structure:
        """The node of an expression; KeyError when it has none."""
        node = self.node(expression)
        view = self.atree.view(node)
        matcher = self.matcher()
        place = int(np.flatnonzero(matcher.node == node)[0])
        access = int(matcher.access_child[place])
        return Structure(
            view.level,
            view.uses,
            frozenset(map(self.text, view.children)),
            frozenset(map(self.text, view.parents)),
            None if access < 0 else self.text(int(matcher.node[access])),
        )

    def node(self, expression: str) -> int:
        """The number of an expression's node; KeyError when it has none."""
        groups = self._groups(expression)
        node_of: list[int] = []
        for group, operator in enumerate(groups.operator.tolist()):
            codes = groups.operand[groups.operand_start[group] : groups.operand_start[group + 1]].tolist()
            node_of.append(self.atree.find(operator, [self._find(code, node_of) for code in codes]))
        found = self._find(int(groups.root[0]), node_of)
        if found < 0:
            raise KeyError(expression)
        return found

    def _find(self, code: int, node_of: list[int]) -> int:
        return self.atree.find(LEAF, [code]) if code >= 0 else node_of[-1 - code]

    def text(self, node: int) -> str:
        """A node's expression, operands in alphabetical order."""
        view = self.atree.view(node)
        if view.operator == LEAF:
            predicate = print_predicate(self.predicates.distinct[(view.operands[0] >> 1) - 1])
            return f"not {predicate}" if view.operands[0] & 1 else predicate
        texts = sorted(map(self._text_within, view.operands))
        return f"not {texts[0]}" if view.operator == NOT else _WORDS[view.operator].join(texts)

    def _text_within(self, node: int) -> str:
        text = self.text(node)
        return text if self.atree.view(node).operator in (LEAF, NOT) else f"({text})"

    def _groups(self, condition: str | Condition) -> Groups:
        parsed = parse_condition(condition) if isinstance(condition, str) else condition
        maker = GroupMaker(self.design.grouping)
        maker.add(*self.predicates.steps_of(parsed))
        return maker.groups()


def read_groups(
    texts: pa.LargeStringArray, predicates: NumberedPredicates, grouping: Grouping
) -> list[tuple[Longs, Groups]]:
    """The groups of many conditions, with the numbers of those they are of, for insert_groups.

    Their predicates are added to those known already.
    """
    reading = read_conditions(texts, {})
    raise_all([error for _, error in reading.errors])
    new_ref = np.array([TRUE_REF, *(predicates.ref(each) for each in reading.predicates)], np.int32)
    return [
        (part.number, groups_of(part.start, part.step, new_ref[part.ref >> 1] ^ (part.ref & 1), grouping))
        for part in reading.parts
    ]
