"""From a rule to its plans: which atom is asked when, and how its partners are reached."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from tocsin.grammar.datalog.syntax import Type, Value
from tocsin.index.activation.constraints import Cardinalities, join_tree
from tocsin.index.activation.linking import ColumnTest, Link, Links, Side
from tocsin.index.activation.normal_form import (
    Atom,
    Constant,
    Expression,
    JoinRule,
    Let,
    Test,
    Variable,
)
from tocsin.index.activation.plans import (
    Check,
    Compute,
    Emit,
    Follow,
    Load,
    NoneFollowed,
    NoneSearched,
    Other,
    Plan,
    Range,
    Search,
    Some,
    Step,
)
from tocsin.index.activation.uncertain import OF_A_TEST, marks_of, may_fail, variables_in
from tocsin.kernels.activation import layout

_TURNED_ROUND = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

WordOf = Callable[[Value, Type], int]


class RulePlanner:
    """Makes the plans of one rule. Making it ties its sides, so make all planners before any plan."""

    def __init__(
        self,
        rule: JoinRule,
        types: Callable[[str], Sequence[Type] | None],
        word_of: WordOf,
        links: Links,
        cardinalities: Cardinalities,
        ranked: Collection[str] = (),
    ) -> None:
        self.rule = rule
        self.atoms = (*rule.body, *rule.negated)
        self.links = links
        self.cardinalities = cardinalities
        self.ranked = ranked
        self.columns = [_columns(atom) for atom in self.atoms]
        self.tests = [_tests(atom, types(atom.relation) or (), word_of) for atom in self.atoms]
        self.head_types = types(rule.head.relation) or (Type.NUMBER,) * len(rule.head.terms)
        self.marks = marks_of(rule)
        self.wanted = {term.number for term in rule.head.terms if isinstance(term, Variable)}
        for part in _expressions(rule):
            self.wanted |= variables_in(part)
        self._order: dict[tuple[int, int], tuple[int, ...]] = {}
        for left in range(len(self.atoms)):
            for right in range(left):
                self._note_order(left, right)
        for left, right in join_tree(rule.body, cardinalities):
            self._tie(left, right)
        for number in range(len(rule.body), len(self.atoms)):
            variables = self.columns[number].keys()
            cover = next(
                (atom for atom in range(len(rule.body)) if variables <= self.columns[atom].keys()), None
            )
            if cover is not None:
                self._tie(cover, number)

    def plan(self, start: int) -> Plan:
        """The plan for a tuple of atom `start`."""
        return _Planning(self, start).plan()

    def shared(self, left: int, right: int, variables: Collection[int]) -> tuple[int, ...] | None:
        """The key order in which two atoms hang in one index by exactly these variables, if they do."""
        order = self._order.get((left, right))
        if order is None or set(order) != set(variables):
            return None
        return order if self.links.are_tied(self.side(left, order), self.side(right, order)) else None

    def side(self, atom: int, variables: Iterable[int]) -> Side:
        """An atom's columns of some variables."""
        columns = self.columns[atom]
        return Side(self.atoms[atom].relation, tuple(columns[variable] for variable in variables))

    def link(self, atom: int, variables: Iterable[int]) -> int:
        """The number of the link by which an atom's tuples hang in the index of some variables."""
        return self.links.link(
            Link(self.side(atom, variables), self.tests[atom], negated=atom >= len(self.rule.body))
        )

    def search_order(self, atom: int, variables: Iterable[int]) -> tuple[int, ...]:
        """The order of a key that only this atom hangs by."""
        return tuple(sorted(variables, key=lambda variable: self.columns[atom][variable]))

    def negated_order(self, atom: int) -> tuple[int, ...]:
        """The order of the key by which a negated atom hangs."""
        variables = set(self.columns[atom])
        shared = (self.shared(other, atom, variables) for other in range(len(self.rule.body)))
        return next((order for order in shared if order), self.search_order(atom, variables))

    def negated_link(self, atom: int) -> int:
        """The link of a negated atom."""
        return self.link(atom, self.negated_order(atom))

    def partners(self, atom: int) -> list[tuple[int, tuple[int, ...]]]:
        """The positive atoms that hang in one index with an atom, and by which variables."""
        return [
            (other, order)
            for (here, other), order in self._order.items()
            if here == atom and other < len(self.rule.body) and self.shared(atom, other, order)
        ]

    def _note_order(self, left: int, right: int) -> None:
        """Fix the order of the variables that two atoms share: that of the columns of the first by name.

        A negated atom hangs by all of its variables or not at all: that is when it is known whether it holds.
        """
        named = min(left, right, key=lambda atom: (self.atoms[atom].relation, atom))
        variables = self.columns[left].keys() & self.columns[right].keys()
        negated = [atom for atom in (left, right) if atom >= len(self.rule.body)]
        if variables and all(self.columns[atom].keys() == variables for atom in negated):
            order = tuple(sorted(variables, key=lambda variable: self.columns[named][variable]))
            self._order[left, right] = self._order[right, left] = order

    def _tie(self, left: int, right: int) -> None:
        order = self._order.get((left, right))
        if order is not None:
            self.links.tie(self.side(left, order), self.side(right, order))


class _Planning:
    """One plan in the making: what is bound, what is loaded, what is still to be asked."""

    def __init__(self, planner: RulePlanner, start: int) -> None:
        self.planner = planner
        self.rule = planner.rule
        self.start = start
        self.steps: list[Step] = []
        self.bound_atoms: list[int] = []
        self.bound: set[int] = set()
        self.loaded: set[int] = set()
        self.marks = planner.marks
        self.registers = _registers(self.rule)
        self.lets: list[Let] = list(self.rule.lets)
        self.checks: list[Test] = list(self.rule.tests)
        self.negated = [atom for atom in range(len(self.rule.body), len(planner.atoms)) if atom != start]

    def plan(self) -> Plan:
        self._bind(self.start)
        while (atom := self._best_atom()) is not None:
            self._find(atom)
            if self._had_its_turn(atom):
                self.steps.append(Other(atom))
            self._bind(atom)
        self._ask_what_can_be_asked(self.lets, self.checks, self.negated)
        self._emit()
        return Plan(
            self.rule,
            self.planner.atoms[self.start].relation,
            self.start,
            self.planner.tests[self.start],
            tuple(self.steps),
            self.registers,
        )

    def _had_its_turn(self, atom: int) -> bool:
        """Whether a plan that starts at this atom has seen the coming tuple here already."""
        same = self.planner.atoms[atom].relation == self.planner.atoms[self.start].relation
        return same and atom < self.start < len(self.rule.body)

    def _bind(self, atom: int) -> None:
        self.bound_atoms.append(atom)
        self.bound.update(self.planner.columns[atom])
        for other, order in self.planner.partners(atom):
            if other not in self.bound_atoms:
                self.steps.append(Some(self.planner.link(other, order), atom, self.planner.link(atom, order)))
        certain = [let for let in self.lets if not self._may_fail(let.expression, let.variable)]
        checks = [check for check in self.checks if not self._may_fail(check.left, check.right)]
        negated = [atom for atom in self.negated if self.marks.keys().isdisjoint(self.planner.columns[atom])]
        self._ask_what_can_be_asked(certain, checks, negated)

    def _may_fail(self, *parts: Expression) -> bool:
        """Whether there may be no value: then all that is certain is asked first, whatever is bound."""
        return any(may_fail(part) or self.marks.keys() & variables_in(part) for part in parts)

    def _ask_what_can_be_asked(
        self, lets: Collection[Let], checks: Collection[Test], negated: Collection[int]
    ) -> None:
        """Computed variables, tests and negated atoms, as soon as their variables are bound."""
        waiting = list(lets)
        while ready := [let for let in waiting if self.bound >= variables_in(let.expression)]:
            for let in ready:
                waiting.remove(let)
                self.lets.remove(let)
                self._compute(let)
        for check in list(checks):
            variables = variables_in(check.left) | variables_in(check.right)
            if self.bound >= variables:
                self.checks.remove(check)
                self._check(check)
        for atom in list(negated):
            if self.bound.issuperset(self.planner.columns[atom]):
                self.negated.remove(atom)
                self._ask_for_none(atom)

    def _compute(self, let: Let) -> None:
        number = let.variable.number
        if number in self.bound:
            self._check(Test("=", let.variable, let.expression, let.type))
            return
        variables = variables_in(let.expression)
        self._load(variables)
        mark = self.marks.get(number, 0)
        self.steps.append(Compute(number, let.expression, let.type, mark, self._needed(variables)))
        self.bound.add(number)
        self.loaded.add(number)

    def _check(self, check: Test) -> None:
        variables = variables_in(check.left) | variables_in(check.right)
        self._load(variables)
        mark = OF_A_TEST if self._may_fail(check.left, check.right) else 0
        self.steps.append(Check(check, mark, self._needed(variables)))

    def _needed(self, variables: Iterable[int]) -> int:
        needed = 0
        for variable in variables:
            needed |= self.marks.get(variable, 0)
        return needed

    def _ask_for_none(self, atom: int) -> None:
        order = self.planner.negated_order(atom)
        link = self.planner.link(atom, order)
        turned = self._turned(atom)
        source = self._source(atom, order)
        if source is not None:
            self.steps.append(NoneFollowed(link, source, self.planner.link(source, order), turned))
        else:
            self._load(order)
            self.steps.append(NoneSearched(link, order, turned, self._needed(order)))

    def _turned(self, atom: int) -> int:
        """How the entry that turned for the starting atom counts for another one that hangs by the same link.

        What is gained or lost when it turns is found once, by the first atom that stands at it. So for those
        before the starting one it counts as taken, and for those behind it as empty.
        """
        started_here = self.start >= len(self.rule.body)
        if not started_here or self.planner.negated_link(atom) != self.planner.negated_link(self.start):
            return layout.AS_IT_IS
        return layout.AS_EMPTY if atom > self.start else layout.AS_TAKEN

    def _best_atom(self) -> int | None:
        waiting = [atom for atom in range(len(self.rule.body)) if atom not in self.bound_atoms]
        if not waiting:
            return None

        def merit(atom: int) -> tuple[bool, bool, int, bool, int, int]:
            variables = self.bound & set(self.planner.columns[atom])
            all_bound = self.bound.issuperset(self.planner.columns[atom])
            tuples = self.planner.cardinalities.get(self.planner.atoms[atom].relation, 0)
            is_followed = self._source(atom, variables) is not None
            return all_bound, is_followed, len(variables), self._range(atom) is not None, -tuples, -atom

        return max(waiting, key=merit)

    def _source(self, atom: int, variables: Collection[int]) -> int | None:
        """A bound atom from which this one can be followed by all of its variables that are bound."""
        return next(
            (
                source
                for source in self.bound_atoms
                if variables and self.planner.shared(source, atom, variables)
            ),
            None,
        )

    def _find(self, atom: int) -> None:
        variables = self.bound & set(self.planner.columns[atom])
        source = self._source(atom, variables)
        if source is not None:
            order = self.planner.shared(source, atom, variables)
            if order is None:
                raise AssertionError
            link, source_link = self.planner.link(atom, order), self.planner.link(source, order)
            self._drop_check(Some(link, source, source_link))
            self.steps.append(Follow(atom, link, source, source_link))
            return
        ranged = None if variables else self._range(atom)
        if ranged is not None:
            self._find_in_range(atom, *ranged)
            return
        order = self.planner.search_order(atom, variables)
        self._load(variables)
        self.steps.append(Search(atom, self.planner.link(atom, order), order))

    def _range(self, atom: int) -> tuple[Test, Variable, str, Expression] | None:
        """A test that bounds a variable of an atom by what is bound already, as `variable operator bound`."""
        for check in self.checks:
            for mine, operator, bound in (
                (check.left, check.operator, check.right),
                (check.right, _TURNED_ROUND.get(check.operator, ""), check.left),
            ):
                is_here = isinstance(mine, Variable) and mine.number in self.planner.columns[atom]
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
        self.steps.append(Compute(register, bound, check.type))
        column = self.planner.columns[atom][variable.number]
        side = Side(self.planner.atoms[atom].relation, (column,), check.type)
        link = self.planner.links.link(Link(side, self.planner.tests[atom], negated=False))
        self.steps.append(Range(atom, link, operator, register))

    def _drop_check(self, check: Some) -> None:
        """Leave out a check that the next step repeats with nothing in between that goes through tuples."""
        for place in range(len(self.steps) - 1, -1, -1):
            if isinstance(self.steps[place], Follow | Search | Range):
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
            columns = self.planner.columns[atom]
            if missing & columns.keys():
                here = sorted((missing | self.planner.wanted - self.loaded) & columns.keys())
                pairs = tuple((columns[variable], variable) for variable in here)
                self.steps.append(Load(atom, self.planner.atoms[atom].relation, pairs))
                missing -= set(here)
                self.loaded |= set(here)

    def _emit(self) -> None:
        head = self.rule.head
        self._load({term.number for term in head.terms if isinstance(term, Variable)})
        columns: list[int] = []
        for term, kind in zip(head.terms, self.planner.head_types, strict=True):
            if isinstance(term, Variable):
                columns.append(term.number)
            elif isinstance(term, Constant):
                self.steps.append(Compute(self.registers, term, kind))
                columns.append(self.registers)
                self.registers += 1
        ranked = tuple(
            (number, atom.relation)
            for number, atom in enumerate(self.rule.body)
            if atom.relation in self.planner.ranked
        )
        self.steps.append(Emit(head.relation, tuple(columns), ranked))


def _columns(atom: Atom) -> dict[int, int]:
    """For each variable of an atom the first column that has it."""
    found: dict[int, int] = {}
    for column, term in enumerate(atom.terms):
        if isinstance(term, Variable):
            found.setdefault(term.number, column)
    return found


def _tests(atom: Atom, types: Sequence[Type], word_of: WordOf) -> tuple[ColumnTest, ...]:
    """What a tuple must have of itself to stand for an atom: its constants, and equal columns."""
    first = _columns(atom)
    tests: list[ColumnTest] = []
    for column, (term, kind) in enumerate(zip(atom.terms, types, strict=True)):
        if isinstance(term, Constant):
            tests.append(ColumnTest(column, word_of(term.value, kind), None))
        elif isinstance(term, Variable) and first[term.number] != column:
            tests.append(ColumnTest(column, None, first[term.number]))
    return tuple(tests)


def _expressions(rule: JoinRule) -> Iterable[Expression]:
    for let in rule.lets:
        yield let.variable
        yield let.expression
    for test in rule.tests:
        yield test.left
        yield test.right


def _registers(rule: JoinRule) -> int:
    """How many registers the variables of a rule take."""
    found = {
        term.number
        for atom in (rule.head, *rule.body, *rule.negated)
        for term in atom.terms
        if isinstance(term, Variable)
    }
    for part in _expressions(rule):
        found |= variables_in(part)
    return 1 + max(found, default=-1)
