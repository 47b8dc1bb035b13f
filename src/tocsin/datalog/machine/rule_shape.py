"""The shape of a rule: where variables stand, what tuples must have of themselves, who hangs with whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property

from tocsin.datalog.language.syntax import Type
from tocsin.datalog.machine.constraints import Cardinalities, join_tree
from tocsin.datalog.machine.index_links import ColumnTest, Link, Links, Side
from tocsin.datalog.machine.normal_form import Anything, Atom, Constant, JoinRule, Variable
from tocsin.datalog.machine.partial_expressions import marks_of, variables_in
from tocsin.datalog.machine.plans import WordOf
from tocsin.errors import RuleError

MOST_ATOMS = 128
"""A rule has a plan for each of its atoms, and each plan a step for each atom."""


class RuleShape:
    """A rule's atoms, and who hangs with whom. Making it ties their sides: make all shapes, then plan.

    Atoms are numbered anew: first those whose tuples are gone through, `listed` of them; then those of which
    only some tuple is wanted, whichever; from `first_negated` on those of which none is.
    """

    def __init__(
        self,
        rule: JoinRule,
        types: Callable[[str], Sequence[Type] | None],
        word_of: WordOf,
        links: Links,
        cardinalities: Cardinalities,
        ranked: Collection[str] = (),
        *,
        may_count: bool = True,
    ) -> None:
        atoms = len(rule.body) + len(rule.negated)
        if atoms > MOST_ATOMS:
            place = rule.source.place if rule.source else (None, None)
            reason = f"the rule has {atoms:,} atoms, and {MOST_ATOMS} are taken at most: cut it in several"
            raise RuleError(reason, line=place[0], column=place[1])
        self.rule = rule
        some = _only_asked(rule, ranked) if may_count else []
        listed = [number for number in range(len(rule.body)) if number not in some]
        self.atoms = (*(rule.body[number] for number in (*listed, *some)), *rule.negated)
        self.listed = len(listed)
        self.first_negated = len(rule.body)
        self.links = links
        self.cardinalities = cardinalities
        self.ranked = ranked
        self.columns = [_columns(atom) for atom in self.atoms]
        known = {variable for columns in self.columns[: self.listed] for variable in columns}
        for number in range(self.listed, self.first_negated):
            columns = self.columns[number]
            self.columns[number] = {each: columns[each] for each in columns if each in known}
        self.tests = [_tests(atom, types(atom.relation) or (), word_of) for atom in self.atoms]
        self.head_types = types(rule.head.relation) or (Type.NUMBER,) * len(rule.head.terms)
        self.atoms_of: dict[int, list[int]] = {}
        for number in range(self.listed):
            for variable in self.columns[number]:
                self.atoms_of.setdefault(variable, []).append(number)
        self.marks = marks_of(rule)
        self.wanted = _wanted(rule)
        in_atoms = {variable for atom in (*rule.body, *rule.negated) for variable in _columns(atom)}
        self.registers = 1 + max(in_atoms | self.wanted, default=-1)
        self._order: dict[tuple[int, int], tuple[int, ...]] = {}
        for left in range(len(self.atoms)):
            for right in range(left):
                self._note_order(left, right)
        for left, right in join_tree(self.atoms[: self.listed], cardinalities):
            self._tie(left, right)
        for number in range(self.listed, len(self.atoms)):
            variables = self.columns[number].keys()
            covers = (atom for atom in range(self.listed) if variables <= self.columns[atom].keys())
            cover = next(covers, None)
            if cover is not None:
                self._tie(cover, number)

    @cached_property
    def neighbours(self) -> list[dict[int, tuple[int, ...]]]:
        """For each atom the others that it hangs in one index with, and the variables of the key in order."""
        found: list[dict[int, tuple[int, ...]]] = [{} for _ in self.atoms]
        for (left, right), order in self._order.items():
            if self.links.are_tied(self.side(left, order), self.side(right, order)):
                found[left][right] = order
        return found

    def side(self, atom: int, variables: Iterable[int]) -> Side:
        """An atom's columns of some variables."""
        columns = self.columns[atom]
        return Side(self.atoms[atom].relation, tuple(columns[variable] for variable in variables))

    def link(self, atom: int, variables: Iterable[int]) -> int:
        """The number of the link by which an atom's tuples hang in the index of some variables."""
        side = self.side(atom, variables)
        return self.links.link(Link(side, self.tests[atom], counted=atom >= self.listed))

    def search_order(self, atom: int, variables: Iterable[int]) -> tuple[int, ...]:
        """The order of a key that only this atom hangs by."""
        return tuple(sorted(variables, key=lambda variable: self.columns[atom][variable]))

    def counted_order(self, atom: int) -> tuple[int, ...]:
        """The order of the key by which a counted atom hangs."""
        shared = (order for other, order in self.neighbours[atom].items() if other < self.listed)
        return next(shared, self.search_order(atom, self.columns[atom]))

    def counted_link(self, atom: int) -> int:
        """The link of a counted atom."""
        return self.link(atom, self.counted_order(atom))

    def _note_order(self, left: int, right: int) -> None:
        """Fix the order of the variables that two atoms share: that of the columns of the first by name.

        A counted atom hangs by all of its variables or not at all: that is when it is known whether it holds.
        """
        named = min(left, right, key=lambda atom: (self.atoms[atom].relation, atom))
        variables = self.columns[left].keys() & self.columns[right].keys()
        counted = [atom for atom in (left, right) if atom >= self.listed]
        if variables and all(self.columns[atom].keys() == variables for atom in counted):
            order = tuple(sorted(variables, key=lambda variable: self.columns[named][variable]))
            self._order[left, right] = self._order[right, left] = order

    def _tie(self, left: int, right: int) -> None:
        order = self._order.get((left, right))
        if order is not None:
            self.links.tie(self.side(left, order), self.side(right, order))


def _only_asked(rule: JoinRule, ranked: Collection[str]) -> list[int]:
    """The body atoms of which only some tuple is wanted: a column of theirs matters to nobody else.

    `p(x) :- a(x, k), b(k, _)` need not go through every tuple of b. What such an atom shares with others is
    bound by atoms that are gone through. In a recursion it matters which tuple it is: it has a rank.
    """
    uses = Counter(variable for atom in (*rule.body, *rule.negated) for variable in _columns(atom))
    elsewhere = _wanted(rule)
    listed = Counter(variable for atom in rule.body for variable in _columns(atom))
    found: list[int] = []
    for number, atom in enumerate(rule.body):
        columns = _columns(atom)
        private = {variable for variable in columns if uses[variable] == 1 and variable not in elsewhere}
        has_more = bool(private) or any(isinstance(term, Anything) for term in atom.terms)
        is_bound = all(listed[variable] > 1 for variable in columns if variable not in private)
        if has_more and is_bound and atom.relation not in ranked:
            found.append(number)
            listed.subtract(columns.keys())
    return found


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


def _wanted(rule: JoinRule) -> set[int]:
    """The variables of a rule's head, lets and tests."""
    found = {term.number for term in rule.head.terms if isinstance(term, Variable)}
    return found.union(
        *(variables_in(let.variable, let.expression) for let in rule.lets),
        *(variables_in(test.left, test.right) for test in rule.tests),
    )
