"""A program's components, in the order in which they can be worked out, and what was decided of each.

A *component* is a relation, or several that depend on one another, with all steps that give tuples of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from tocsin.datalog.language.strata import components_in_order
from tocsin.datalog.language.syntax import Type
from tocsin.datalog.machine.normal_form import (
    MADE,
    AggregateRule,
    Failing,
    JoinRule,
    MapRule,
    NormalProgram,
    Step,
    head_of,
    reads,
)
from tocsin.datalog.machine.partial_expressions import may_fail
from tocsin.printable import number_of


class Component(NamedTuple):
    """Relations and the steps that give them. `inputs` are relations of other components that they need."""

    members: tuple[str, ...]
    steps: tuple[Step, ...]
    inputs: frozenset[str]
    is_recursive: bool

    @property
    def can_fail(self) -> bool:
        """Whether there may be tuples for which a step has no result."""
        return any(map(can_fail, self.steps))


def components_of(program: NormalProgram) -> list[Component]:
    """All components, each behind those that it needs. A relation without steps is one as well."""
    steps_of: dict[str, list[Step]] = {relation.name: [] for relation in program.relations}
    for step in program.steps:
        steps_of[head_of(step)].append(step)
    edges = {name: sorted(set().union(*map(reads, steps))) for name, steps in steps_of.items()}
    places = {name: place for place, name in enumerate(steps_of)}
    found = []
    for names in components_in_order(edges):
        members = tuple(sorted(names, key=places.__getitem__))
        steps = tuple(step for name in members for step in steps_of[name])
        needed = frozenset(name for step in steps for name in reads(step))
        found.append(Component(members, steps, needed - names, bool(needed & names)))
    return found


def reading_counts(program: NormalProgram) -> Counter[str]:
    """How often each relation stands in a body."""
    counts: Counter[str] = Counter()
    for step in program.steps:
        if isinstance(step, JoinRule):
            counts.update(atom.relation for atom in (*step.body, *step.negated))
        else:
            counts.update(reads(step))
    return counts


def can_fail(step: Step) -> bool:
    """Whether there may be tuples for which a step has no result."""
    if isinstance(step, JoinRule):
        return step.failing is Failing.AN_ERROR and is_partial(step)
    if isinstance(step, AggregateRule):
        return step.type is Type.FLOAT and step.function in ("sum", "mean")
    return isinstance(step, MapRule)


def is_partial(rule: JoinRule) -> bool:
    """Whether there may be tuples for which something in a rule has no value."""
    expressions = [let.expression for let in rule.lets]
    expressions += [side for test in rule.tests for side in (test.left, test.right)]
    return any(map(may_fail, expressions))


def part_of(program: NormalProgram, components: Iterable[Component]) -> NormalProgram:
    """The program of some components alone: their steps, and all relations that these name."""
    chosen = list(components)
    names = {name for component in chosen for name in (*component.members, *component.inputs)}
    relations = tuple(relation for relation in program.relations if relation.name in names)
    return NormalProgram(relations, tuple(step for component in chosen for step in component.steps))


class Decision(NamedTuple):
    """How some relations were worked out; `rows` is None when they were never written out by themselves."""

    relations: tuple[str, ...]
    strategy: str
    rows: int | None

    def __str__(self) -> str:
        names = [name for name in self.relations if not name.startswith(MADE)]
        made = len(self.relations) - len(names)
        if made:
            names.append(f"{made} made on the way")
        size = "" if self.rows is None else f", {number_of(self.rows, 'tuple')}"
        return f"{', '.join(names)}: {self.strategy}{size}"
