"""From a rule to its plans: which atom is asked when, and how its partners are reached."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import reduce
from operator import or_

from tocsin.datalog.kernels import layout
from tocsin.datalog.machine import plans
from tocsin.datalog.machine.index_links import Link, Side
from tocsin.datalog.machine.normal_form import Constant, Expression, Let, Test, Variable
from tocsin.datalog.machine.partial_expressions import OF_A_TEST, may_fail, variables_in
from tocsin.datalog.machine.plans import Plan, Step
from tocsin.datalog.machine.rule_shape import RuleShape

_TURNED_ROUND = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Planning:
    """One plan in the making: what is bound, what is loaded, what is still to be asked.

    It is for a tuple of the atom `start`; negated atoms are numbered behind the others.
    """

    def __init__(self, shape: RuleShape, start: int) -> None:
        self.shape = shape
        self.rule = shape.rule
        self.start = start
        self.steps: list[Step] = []
        self.bound_atoms: dict[int, None] = {}
        self.bound: set[int] = set()
        self.asked: set[tuple[int, tuple[int, ...]]] = set()
        self.reached: dict[int, None] = {}
        self.closed = [atom for atom in range(shape.listed) if not shape.columns[atom]]
        self.loaded: set[int] = set()
        self.marks = shape.marks
        self.registers = shape.registers
        self.lets: list[Let] = list(self.rule.lets)
        self.checks: list[Test] = list(self.rule.tests)
        self.counted = [atom for atom in range(shape.listed, len(shape.atoms)) if atom != start]

    def plan(self) -> Plan:
        """All of its steps."""
        self._bind(self.start)
        while (atom := self._best_atom()) is not None:
            self._find(atom)
            same = self.shape.atoms[atom].relation == self.shape.atoms[self.start].relation
            if (
                same and atom < self.start < self.shape.listed
            ):  # the plan of this atom has seen what comes here
                self.steps.append(plans.Other(atom))
            self._bind(atom)
        self._ask_what_can_be_asked(self.lets, self.checks, self.counted)
        self._emit()
        shape, start = self.shape, self.start
        relation, tests, steps = shape.atoms[start].relation, shape.tests[start], tuple(self.steps)
        turning = shape.counted_link(start) if start >= shape.listed else None
        is_negated = start >= shape.first_negated
        return Plan(self.rule, relation, start, tests, steps, self.registers, turning, is_negated)

    def _bind(self, atom: int) -> None:
        self.bound_atoms[atom] = None
        self._know(self.shape.columns[atom])
        for other, order in self.shape.neighbours[atom].items():
            is_open = other < self.shape.listed and other not in self.bound_atoms
            if is_open and (other, order) not in self.asked:
                self.asked.add((other, order))
                link, own_link = self.shape.link(other, order), self.shape.link(atom, order)
                self.steps.append(plans.Some(link, atom, own_link))
        certain = [let for let in self.lets if not self._may_fail(let.expression, let.variable)]
        checks = [check for check in self.checks if not self._may_fail(check.left, check.right)]
        counted = [atom for atom in self.counted if self.marks.keys().isdisjoint(self.shape.columns[atom])]
        self._ask_what_can_be_asked(certain, checks, counted)

    def _know(self, variables: Iterable[int]) -> None:
        for variable in variables:
            if variable not in self.bound:
                self.bound.add(variable)
                self.reached.update(dict.fromkeys(self.shape.atoms_of.get(variable, ())))

    def _may_fail(self, *parts: Expression) -> bool:
        """Whether there may be no value: then all that is certain is asked first, whatever is bound."""
        return any(may_fail(part) or self.marks.keys() & variables_in(part) for part in parts)

    def _ask_what_can_be_asked(
        self, lets: Collection[Let], checks: Collection[Test], counted: Collection[int]
    ) -> None:
        """Computed variables, tests and counted atoms, as soon as their variables are bound."""
        waiting = list(lets)
        while ready := [let for let in waiting if self.bound >= variables_in(let.expression)]:
            for let in ready:
                waiting.remove(let)
                self.lets.remove(let)
                self._compute(let)
        for check in list(checks):
            variables = variables_in(check.left, check.right)
            if self.bound >= variables:
                self.checks.remove(check)
                self._check(check)
        for atom in list(counted):
            if self.bound.issuperset(self.shape.columns[atom]):
                self.counted.remove(atom)
                self._ask(atom)

    def _compute(self, let: Let) -> None:
        number = let.variable.number
        if number in self.bound:
            # A negated atom never stood for a value that there is none of: nothing turns with it then. What
            # an atom of the body binds has a value, whether or not the expression has one.
            is_negated = self.start >= self.shape.first_negated
            is_asked_for = is_negated and number in self.shape.columns[self.start] and number in self.marks
            self._check(Test("=", let.variable, let.expression, let.type), leaves_mark=not is_asked_for)
            return
        variables = variables_in(let.expression)
        self._load(variables)
        mark = self.marks.get(number, 0)
        self.steps.append(plans.Compute(number, let.expression, let.type, mark, self._needed(variables)))
        self._know([number])
        self.loaded.add(number)

    def _check(self, check: Test, *, leaves_mark: bool = True) -> None:
        variables = variables_in(check.left, check.right)
        self._load(variables)
        mark = OF_A_TEST if leaves_mark and self._may_fail(check.left, check.right) else 0
        self.steps.append(plans.Check(check, mark, self._needed(variables)))

    def _needed(self, variables: Iterable[int]) -> int:
        return reduce(or_, (self.marks.get(variable, 0) for variable in variables), 0)

    def _ask(self, atom: int) -> None:
        """Ask whether a counted atom has some tuple, or none."""
        order = self.shape.counted_order(atom)
        link = self.shape.link(atom, order)
        turned, some = self._turned(atom), atom < self.shape.first_negated
        hangs_with = self.shape.neighbours[atom]
        source = next((other for other in self.bound_atoms if hangs_with.get(other) == order), None)
        if source is not None:
            self.steps.append(plans.AskFollowed(link, source, self.shape.link(source, order), turned, some))
        else:
            self._load(order)
            self.steps.append(plans.AskSearched(link, order, turned, some, self._needed(order)))

    def _turned(self, atom: int) -> int:
        """What another atom that hangs by the starting one's link is taken to say of the entry that turned.

        What is gained or lost when it turns is found once, by the first atom that stands at it: those before
        it are taken to fail there, those behind it to hold. Where one asks for some tuple and the other for
        none, both never held together at that entry.
        """
        is_here = self.start >= self.shape.listed
        if not is_here or self.shape.counted_link(atom) != self.shape.counted_link(self.start):
            return layout.AS_IT_IS
        is_alike = (atom < self.shape.first_negated) == (self.start < self.shape.first_negated)
        return layout.AS_HOLDING if is_alike and atom > self.start else layout.AS_FAILING

    def _best_atom(self) -> int | None:
        """The atom to ask next: one without variables, or one that what is bound leads to, if there are."""
        while self.closed:
            atom = self.closed.pop()
            if atom not in self.bound_atoms:
                return atom
        waiting: Collection[int] = [atom for atom in self.reached if atom not in self.bound_atoms]
        if not waiting:
            waiting = [atom for atom in range(self.shape.listed) if atom not in self.bound_atoms]
        if not waiting:
            return None

        def merit(atom: int) -> tuple[bool, bool, int, bool, int, int]:
            variables = self.bound & set(self.shape.columns[atom])
            all_bound = self.bound.issuperset(self.shape.columns[atom])
            tuples = self.shape.cardinalities.get(self.shape.atoms[atom].relation, 0)
            is_followed = self._source(atom, variables) is not None
            return all_bound, is_followed, len(variables), self._range(atom) is not None, -tuples, -atom

        return max(waiting, key=merit)

    def _source(self, atom: int, variables: Collection[int]) -> int | None:
        """A bound atom from which this one can be followed by all of its variables that are bound."""
        for other, order in self.shape.neighbours[atom].items():
            if other in self.bound_atoms and len(order) == len(variables):
                return other
        return None

    def _find(self, atom: int) -> None:
        variables = self.bound & set(self.shape.columns[atom])
        source = self._source(atom, variables)
        if source is not None:
            order = self.shape.neighbours[atom][source]
            link, source_link = self.shape.link(atom, order), self.shape.link(source, order)
            self._drop_check(plans.Some(link, source, source_link))
            self.steps.append(plans.Follow(atom, link, source, source_link))
            return
        ranged = None if variables else self._range(atom)
        if ranged is not None:
            self._find_in_range(atom, *ranged)
            return
        order = self.shape.search_order(atom, variables)
        self._load(variables)
        self.steps.append(plans.Search(atom, self.shape.link(atom, order), order))

    def _range(self, atom: int) -> tuple[Test, Variable, str, Expression] | None:
        """A test that bounds a variable of an atom by what is bound already, as `variable operator bound`."""
        for check in self.checks:
            for mine, operator, bound in (
                (check.left, check.operator, check.right),
                (check.right, _TURNED_ROUND.get(check.operator, ""), check.left),
            ):
                is_here = isinstance(mine, Variable) and mine.number in self.shape.columns[atom]
                is_known = self.bound >= variables_in(bound) and not self._may_fail(bound)
                if is_here and is_known and operator in _TURNED_ROUND and isinstance(mine, Variable):
                    return check, mine, operator, bound
        return None

    def _find_in_range(
        self, atom: int, check: Test, variable: Variable, operator: str, bound: Expression
    ) -> None:
        self.checks.remove(check)
        self._load(variables_in(bound))
        register = self.registers
        self.registers += 1
        self.steps.append(plans.Compute(register, bound, check.type))
        column = self.shape.columns[atom][variable.number]
        side = Side(self.shape.atoms[atom].relation, (column,), check.type)
        link = self.shape.links.link(Link(side, self.shape.tests[atom], counted=False))
        self.steps.append(plans.Range(atom, link, operator, register))

    def _drop_check(self, check: plans.Some) -> None:
        """Leave out a check that the next step repeats with nothing in between that goes through tuples."""
        for place in range(len(self.steps) - 1, -1, -1):
            if isinstance(self.steps[place], plans.Follow | plans.Search | plans.Range):
                return
            if self.steps[place] == check:
                del self.steps[place]
                return

    def _load(self, variables: Collection[int]) -> None:
        """Have variables in registers: from the coming tuple if it has them, else from the last one found.

        Where a tuple is read, all is read of it that will be wanted.
        """
        missing = {variable for variable in variables if variable not in self.loaded}
        for atom in (self.start, *reversed(self.bound_atoms)):
            columns = self.shape.columns[atom]
            if missing & columns.keys():
                here = sorted((missing | self.shape.wanted - self.loaded) & columns.keys())
                pairs = tuple((columns[variable], variable) for variable in here)
                self.steps.append(plans.Load(atom, self.shape.atoms[atom].relation, pairs))
                missing -= set(here)
                self.loaded |= set(here)

    def _emit(self) -> None:
        head = self.rule.head
        self._load({term.number for term in head.terms if isinstance(term, Variable)})
        columns: list[int] = []
        for term, kind in zip(head.terms, self.shape.head_types, strict=True):
            if isinstance(term, Variable):
                columns.append(term.number)
            elif isinstance(term, Constant):
                self.steps.append(plans.Compute(self.registers, term, kind))
                columns.append(self.registers)
                self.registers += 1
        ranked = tuple(
            (number, atom.relation)
            for number, atom in enumerate(self.shape.atoms[: self.shape.listed])
            if atom.relation in self.shape.ranked
        )
        self.steps.append(plans.Emit(head.relation, tuple(columns), ranked, self.rule.failing))
