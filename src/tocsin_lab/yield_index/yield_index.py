"""The same rules in tocsin's own index, its accesses read off the index itself.

Table 1 activates for whole relations that are there already (Algorithm 7), so the index is built first and
its accesses are not those of activation. Tuples that arrive are added and activated in one step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from tocsin.datalog.language import Type
from tocsin.datalog.machine import Machine, Symbols, normal_form
from tocsin_lab.yield_index.access_counts import Counted, activate_all
from tocsin_lab.yield_index.joins import different_rows
from tocsin_lab.yield_index.rule_atoms import Atom, ConjunctiveRule
from tocsin_lab.yield_index.structure_costs import Built
from tocsin_lab.yield_index.structures import FI
from tocsin_lab.yield_index.yield_workloads import Rows, Workload

START = 0
"""The body atom that whole relations are activated from."""


def activate_all_with_tocsin(workload: Workload) -> Counted:
    """Activate for all stored tuples, the index being there.

    The index takes the tuple that it starts from as one that arrives, and does not count it. Here it is a
    stored one like the others; it is read once all its partners are found, so one read is added for each
    that has an answer.
    """
    machine, listener = _listening(workload)
    machine.reset_stats()
    heads = machine.fire_all(listener)
    started = activate_all(workload.rule, workload.relations, FI, START).started
    counted = _counted(machine, heads, started)
    return replace(counted, tuple_accesses=counted.tuple_accesses + started)


def activate_arrivals_with_tocsin(workload: Workload) -> Counted:
    """Add the second half of the live relation when all else is there, and activate for each tuple."""
    loaded, arriving = workload.halves()
    atoms = [atom.relation for atom in workload.rule.body]
    machine, listener = _listening(workload, {workload.live: loaded}, atoms.index(workload.live))
    live = machine.relation(workload.live)
    machine.reset_stats()
    found = []
    for row in arriving.tolist():
        machine.change_one(live, row, True)
        found.append(machine.fire(listener, row))
    started = sum(len(heads) > 0 for heads in found)
    return _counted(machine, np.concatenate(found), started)


def build_with_tocsin(workload: Workload) -> Built:
    """Build the index for a rule; its keys are those of the data indexes, its entries the semantic ones."""
    machine, _ = _listening(workload)
    stats = machine.stats()
    return Built(stats["index_accesses"], stats["index_keys"], stats["semantic_entries"])


def join_rule(rule: ConjunctiveRule) -> normal_form.JoinRule:
    """The rule as the index takes it."""
    numbers: dict[str, int] = {}

    def term(each: str | int) -> normal_form.Term:
        if isinstance(each, int):
            return normal_form.Constant(each)
        return normal_form.Variable(numbers.setdefault(each, len(numbers)))

    def atom(each: Atom) -> normal_form.Atom:
        return normal_form.Atom(each.relation, tuple(map(term, each.terms)))

    body = tuple(map(atom, rule.body))
    return normal_form.JoinRule(atom(rule.head), body)


def _listening(
    workload: Workload, instead: Mapping[str, Rows] = MappingProxyType({}), atom: int = START
) -> tuple[Machine, int]:
    """An index with all tuples (or others `instead`), and the number that activates for an atom's tuples."""
    rule = workload.rule
    arities = {**rule.relations, rule.head.relation: len(rule.head.terms)}
    relations = [normal_form.Relation(name, (Type.NUMBER,) * arity) for name, arity in arities.items()]
    machine = Machine(normal_form.NormalProgram(tuple(relations), ()), Symbols())
    (listener,) = machine.listeners([(join_rule(rule), atom)])
    for name, rows in {**workload.relations, **instead}.items():
        machine.change(machine.relation(name), rows, True)
    machine.settle()
    return machine, listener


def _counted(machine: Machine, heads: Rows, started: int) -> Counted:
    stats = machine.stats()
    different = different_rows(heads)
    return Counted(stats["index_accesses"], stats["tuple_accesses"], len(heads), started, different)
