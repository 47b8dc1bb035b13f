"""How a program is laid out: relations in the order of dependency, plans for all rules, and schedules.

A schedule is what a tuple of a relation goes through when it comes, and when it goes:

    coming   joins its lists, finds its entries in counted links; plans; is counted in each of these, and if
             its entry was empty the plans of what asks for some tuple there, or for none; is sent outside
    going    the same backwards: leaves each counted link, and if its entry is empty now its plans; plans; is
             sent outside; leaves its lists; gives up entries that nothing hangs in

So while a plan runs, an atom may stand at the tuple, and where it is counted it does not count yet, or no
more. All its entries are known by then: a plan may go on from any of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from tocsin.datalog.kernels import layout
from tocsin.datalog.language.strata import components_in_order
from tocsin.datalog.machine import normal_form as nf
from tocsin.datalog.machine.constraints import Cardinalities, all_elements, least_elements
from tocsin.datalog.machine.deletion_cost import DeletionCost
from tocsin.datalog.machine.planner import Planning
from tocsin.datalog.machine.plans import Assembler, Plan
from tocsin.datalog.machine.rule_shape import RuleShape
from tocsin.datalog.machine.store import Store
from tocsin.datalog.machine.symbols import Symbols


class Listener:
    """A rule that is asked for the tuples of one of its atoms, and whose results nobody stores."""

    def __init__(self, rule: nf.JoinRule, atom: int) -> None:
        self.rule = rule
        self.atom = atom
        self.plan: Plan | None = None
        self.number = -1


class ProgramLayout:
    """A program's relations and rules in a store."""

    def __init__(
        self,
        program: nf.NormalProgram,
        symbols: Symbols,
        store: Store,
        senders: Sequence[str],
        reported: Collection[str] | None,
    ) -> None:
        self.program = program
        self.types = {relation.name: relation.types for relation in program.relations}
        self.rules = [step for step in program.steps if isinstance(step, nf.JoinRule)]
        self._symbols = symbols
        self._store = store
        self._senders = senders
        self._cardinalities: Cardinalities = {}
        self._plans: list[tuple[int, Plan]] = []
        self._arrange_relations(reported)

    def constraint_elements(self) -> tuple[int, int]:
        """How many constraint elements the bodies of all rules have, and how many say the same."""
        bodies = [rule.body for rule in self.rules]
        least = sum(len(least_elements(body, self._cardinalities)) for body in bodies)
        return sum(len(all_elements(body)) for body in bodies), least

    def plan_rules(self, cardinalities: Cardinalities) -> None:
        """Make the plans of all rules, for relations of about these sizes."""
        self._cardinalities = cardinalities
        shapes = [self._shape(rule, may_count=True) for rule in self.rules]
        self._plans = [
            (number, Planning(shape, atom).plan())
            for number, shape in enumerate(shapes)
            for atom in range(len(shape.atoms))
        ]

    def plan_listeners(self, listeners: Sequence[Listener]) -> None:
        """Make the plans of listeners that have none."""
        new = [listener for listener in listeners if listener.plan is None]
        shapes = [self._shape(listener.rule, may_count=False) for listener in new]
        for listener, shape in zip(new, shapes, strict=True):
            listener.plan = Planning(shape, listener.atom).plan()

    def arrange(self, listeners: Sequence[Listener]) -> None:
        """Hang tuples by links that are new, and put plans and schedules where kernels find them."""
        self._store.add_links()
        assembler = Assembler(self._store, self._symbols.word)
        activated: dict[str, list[int]] = {name: [] for name in self.types}
        turned: dict[int, list[tuple[int, int]]] = {}
        for rule, plan in self._plans:
            place = assembler.add(plan, rule)
            if plan.turning is None:
                activated[plan.relation].append(place)
            else:
                action = layout.ACTIVATE_NONE if plan.is_negated else layout.ACTIVATE_SOME
                turned.setdefault(plan.turning, []).append((action, place))
        for number, listener in enumerate(listeners):
            if listener.plan is not None:
                listener.number = assembler.add(listener.plan, len(self.rules) + number)
        assembler.write()
        self._write_schedules(activated, turned)

    def _arrange_relations(self, reported: Collection[str] | None) -> None:
        needs: dict[str, set[str]] = {name: set() for name in self.types}
        for step in self.program.steps:
            needs[nf.head_of(step)].update(nf.reads(step))
        self._components = components_in_order(needs)
        together = (component for component in self._components if len(component) > 1)
        self._recursive = frozenset(name for name in needs if name in needs[name]).union(*together)
        self.deletion_cost = DeletionCost(needs, self._components, self._recursive)
        for name, types in self.program.relations:
            self._store.add_relation(name, len(types), recursive=name in self._recursive)
        derived = {nf.head_of(step) for step in self.program.steps}
        heard = set(reported) if reported is not None else {name for name in derived if name[0] != nf.MADE}
        heard |= {
            step.arc for step in self.program.steps if isinstance(step, nf.ClosureRule) and step.head in heard
        }
        records: list[int] = []
        membership: list[int] = []
        for number, component in enumerate(self._components):
            start = len(membership)
            membership += [self._store.number_of[name] for name in sorted(component)]
            records += [start, len(membership), int(not self._recursive.isdisjoint(component))]
            for name in component:
                record = self._store.relation_record(self._store.number_of[name])
                record[layout.R_COMPONENT] = number
                record[layout.R_DERIVED] = name in derived
                record[layout.R_REPORTED] = name in heard
        self._store.memory.put(layout.COMPONENTS, np.array(records, np.int64))
        self._store.memory.put(layout.MEMBERSHIP, np.array(membership, np.int64))

    def _shape(self, rule: nf.JoinRule, *, may_count: bool) -> RuleShape:
        together = (component for component in self._components if rule.head.relation in component)
        ranked = next(together, frozenset[str]()) & self._recursive
        where = (self.types.get, self._symbols.word, self._store.links, self._cardinalities)
        return RuleShape(rule, *where, ranked, may_count=may_count)

    def _write_schedules(
        self, activated: dict[str, list[int]], turned: dict[int, list[tuple[int, int]]]
    ) -> None:
        schedules: list[tuple[int, int]] = []
        for name, number in self._store.number_of.items():
            links = self._store.links_of[number]
            counted = [link for link in links if self._store.links.links[link].counted]
            listed = [link for link in links if not self._store.links.links[link].counted]
            plans = [(layout.ACTIVATE, plan) for plan in activated[name]]
            sending = [(layout.SEND, place) for place, origin in enumerate(self._senders) if origin == name]
            record = self._store.relation_record(number)
            record[layout.R_COMING] = len(schedules)
            schedules += [(layout.JOIN, link) for link in listed]
            schedules += [(layout.HANG, link) for link in counted]
            schedules += plans
            for link in counted:
                schedules.append((layout.JOIN_COUNTED, link))
                schedules += turned.get(link, [])
            schedules += sending
            record[layout.R_COMING_END] = record[layout.R_GOING] = len(schedules)
            for link in counted:
                schedules.append((layout.LEAVE_COUNTED, link))
                schedules += turned.get(link, [])
            schedules += plans
            schedules += sending
            schedules += [(layout.LEAVE, link) for link in listed]
            schedules += [(layout.RELEASE, link) for link in (*listed, *counted)]
            record[layout.R_GOING_END] = len(schedules)
        self._store.memory.put(layout.SCHEDULES, np.array(schedules, np.int64).reshape(-1))
