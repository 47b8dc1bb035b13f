"""What kernels cannot work out is done in Python, between two made relations.

    p(x, t) :- q(x, s), r(x), u(t, y), strlen(s) < y, t = cat(s, "!"), contains("a", s).

    +1(x, s) :- q(x, s), r(x).                              the early atoms: what binds, and what filters
    +2(x, t, l) for each +1(x, s): l = strlen(s), ...       a MapRule, of all that can be done by then
    p(x, t) :- +2(x, t, l), u(t, y), l < y.                 the rest, which may need another such stage

Atoms that hold a computed text wait for it, and are found by it. Without a rest, the MapRule gives the head
itself, and raises where something has no value. With a rest that may be no error: all else must hold too. So
the map then gives a tuple that says so, which goes on as the others do, but for what needs a missing value:

    p(n) :- q(s), n = to_number(s), r(n, y), !u(n), v(y).

    +1(n, bits, why) for each q(s): n = to_number(s)        bits -1 where n has a value, else 1
    p(n)    :- +1(n, -1, _), r(n, y), !u(n), v(y).
    +2(why) :- +1(_, 1, why), r(n, y), v(y).
    p       for each +2(why): an error
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tocsin.datalog.language.conjunctions import MOST
from tocsin.datalog.language.functors import EACH
from tocsin.datalog.language.syntax import Type, Value
from tocsin.datalog.machine.normal_form import Anything, Atom, Constant, Let, MapRule, Test, Variable
from tocsin.datalog.machine.partial_expressions import may_fail
from tocsin.datalog.machine.passes.clause import (
    NOWHERE,
    Clause,
    atom_variables,
    bound_by,
    can_fail,
    is_text_test,
    solved_for,
    test_variables,
)
from tocsin.datalog.machine.passes.failures import group_of, known, leave_out_unknown, telling
from tocsin.datalog.machine.passes.join_rules import emit
from tocsin.datalog.machine.passes.program_builder import Made
from tocsin.datalog.machine.passes.text_work import WORKED, TextWork, needed

_TOO_MANY = "too much in this rule may have no value: give some of it a relation"
_ANY_OF: Mapping[Type, Value] = {Type.NUMBER: 0, Type.UNSIGNED: 0, Type.FLOAT: 0.0, Type.SYMBOL: ""}


def emit_in_stages(clause: Clause, made: Made) -> None:
    """Add what the clause comes to, with as many maps as it needs."""
    waiting = [clause]
    while waiting:
        if len(waiting) > MOST:
            raise clause.source.error(_TOO_MANY)
        rest = waiting.pop()
        for_kernels = _for_kernels(rest, made)
        mapped = _mapped(rest, for_kernels)
        if not mapped:
            emit(rest, made)
            continue
        stage = _Stage(rest, made, mapped)
        if not stage.is_whole():
            stage = _Stage(rest, made, mapped, for_kernels)
        waiting += stage.emit()


def _mapped(clause: Clause, for_kernels: Sequence[Test]) -> list[Test]:
    """The tests of a clause that need a map.

    That is work that kernels cannot do, if there is more than constants to do it on or a range, and what may
    fail and is not for kernels.
    """
    fallible = _without(filter(can_fail, clause.tests), for_kernels)
    if clause.failing is None and not any(
        clause.atoms or clause.negated or test.operator == EACH for test in clause.tests
    ):
        return []
    return [test for test in clause.tests if is_text_test(test) or test in fallible]


class _Stage:
    """One map of a clause: the early part, the work, and the rest.

    The tests in `mapped` are what it is for; those in `late` are left to the rest.
    """

    def __init__(self, clause: Clause, made: Made, mapped: Sequence[Test], late: Sequence[Test] = ()) -> None:
        self._clause = clause
        self._made = made
        self._mapped = {id(test) for test in mapped}
        self._late = late
        self._kernel_tests = [test for test in clause.tests if not is_text_test(test) and not can_fail(test)]
        candidates = self._candidates()
        self._early = self._least(self._best_connected(candidates), candidates)
        self._bound, self._early_tests = bound_by(self._early, self._kernel_tests)
        self._work_done = self._work(self._early)

    def is_whole(self) -> bool:
        """Whether there is no rest, nor anybody to be told of failures."""
        rest = self._rest()
        if self._clause.failing is not None and any(map(can_fail, self._work_done.done)):
            return False
        return not (rest.atoms or rest.negated or rest.tests)

    def emit(self) -> list[Clause]:
        """Add the early rule and the map; what is left of the clause, nothing when the map gives its head."""
        clause, made, work = self._clause, self._made, self._work_done
        rest = self._rest()
        later = atom_variables([clause.head, clause.failing or NOWHERE, *rest.atoms, *rest.negated])
        later.update(*map(test_variables, rest.tests))
        taken = set().union(*map(needed, work.parts))
        columns = [variable for variable in self._bound_in_order() if variable in later | taken]
        origin, takes = self._origin(columns)
        if self.is_whole():
            function = TextWork(takes, work.parts, clause.head.terms, clause.source)
            made.steps.append(MapRule(clause.head.relation, origin, function, clause.source))
            return []
        gives = [variable for variable in columns if variable in later]
        gives += [part.variable for part in work.parts if isinstance(part, Let) and part.variable in later]
        types = [clause.types[variable] for variable in gives]
        if not any(map(can_fail, work.done)):
            name = made.relation(types)
            made.steps.append(
                MapRule(name, origin, TextWork(takes, work.parts, gives, clause.source), clause.source)
            )
            rest.atoms.insert(0, Atom(name, tuple(gives)))
            return [rest]
        # These may have no value even though all that they are computed from have one.
        marked = [let.variable for let in work.parts if isinstance(let, Let) and may_fail(let.expression)]
        if 1 << len(marked) > MOST:
            raise clause.source.error(_TOO_MANY)
        name = made.relation([*types, Type.NUMBER, Type.SYMBOL])
        instead = {variable: _ANY_OF[clause.types[variable]] for variable in gives}
        function = TextWork(takes, work.parts, gives, clause.source, marked, instead)
        made.steps.append(MapRule(name, origin, function, clause.source))
        failed: list[Clause] = []
        for bits in range(1 << len(marked)):
            absent = work.absent({variable for place, variable in enumerate(marked) if bits >> place & 1})
            if absent is not None and clause.failing != NOWHERE:
                terms = tuple(Anything() if variable in absent else variable for variable in gives)
                failed.append(self._failed(rest, Atom(name, (*terms, Constant(bits))), absent))
        rest.atoms.insert(0, Atom(name, (*gives, Constant(WORKED), Anything())))
        return [*failed, rest]

    def _failed(self, rest: Clause, found: Atom, absent: set[Variable]) -> Clause:
        """The rest for tuples of which some variables have no value: what it gives are reasons to fail.

        A variable that an atom of the rest has is known there, and so what the map left out for want of it.
        """
        failed, reason = telling(rest, self._made)
        failed.tests += self._work_done.left_out(absent)
        failed.atoms.insert(0, found._replace(terms=(*found.terms, reason)))
        leave_out_unknown(failed, self._made)
        return failed

    def _rest(self) -> Clause:
        """The clause without what comes before the map, and what is done in it."""
        rest = self._clause.copy()
        early = set(self._early)
        rest.atoms = [atom for atom in rest.atoms if atom not in early]
        rest.negated = [atom for atom in rest.negated if atom not in self._early_negated()]
        rest.tests = _without(rest.tests, [*self._early_tests, *self._work_done.done])
        return rest

    def _early_negated(self) -> list[Atom]:
        return [atom for atom in self._clause.negated if atom_variables([atom]) <= self._bound]

    def _origin(self, columns: list[Variable]) -> tuple[str, list[Variable]]:
        """The relation that the map reads, and the terms of its columns: an early atom's, or a new one."""
        negated = self._early_negated()
        if len(self._early) == 1 and not negated and not self._early_tests:
            relation, terms = self._early[0]
            variables = [term for term in terms if isinstance(term, Variable)]
            if len(terms) == len(variables) == len(columns) and set(variables) == set(columns):
                return relation, variables
        name = self._made.relation([self._clause.types[variable] for variable in columns])
        head, whole = Atom(name, tuple(columns)), self._clause
        early = Clause(head, whole.source, whole.recursive, whole.types)
        early.atoms = list(self._early) or [self._made.once()]
        early.negated, early.tests = negated, self._early_tests
        emit(early, self._made)
        return name, columns

    def _bound_in_order(self) -> list[Variable]:
        in_atoms = dict.fromkeys(
            term for atom in self._early for term in atom.terms if isinstance(term, Variable)
        )
        return [*in_atoms, *sorted(self._bound - in_atoms.keys(), key=lambda variable: variable.number)]

    def _candidates(self) -> list[Atom]:
        """The atoms that may come before the work: those without a computed text, and others if need be."""
        computed = self._computed()
        early = [atom for atom in self._clause.atoms if not atom_variables([atom]) & computed]
        late = [atom for atom in self._clause.atoms if atom not in early]
        late.sort(key=lambda atom: atom.relation in self._made.tables)
        while late and not any(map(self._is_mapped, self._work(early).done)):
            early.append(late.pop(0))
        return early

    def _is_mapped(self, test: Test) -> bool:
        return id(test) in self._mapped

    def _computed(self) -> set[Variable]:
        """The variables that equal what is computed by a map, or from such variables."""
        computed: set[Variable] = set()
        before = -1
        while before != len(computed):
            before = len(computed)
            for test in self._clause.tests:
                if self._is_mapped(test) or test_variables(test) & computed:
                    computed |= _sides(test)
        return computed

    def _work(self, atoms: Iterable[Atom]) -> _Work:
        bound, early_tests = bound_by(atoms, self._kernel_tests)
        return _Work(_without(self._clause.tests, [*early_tests, *self._late]), bound)

    def _best_connected(self, candidates: list[Atom]) -> list[Atom]:
        """The atoms among which most can be done: connected ones if that is possible, else all of them.

        Atoms without a variable in common would be combined each with each.
        """

        def count(atoms: list[Atom]) -> int:
            return sum(map(self._is_mapped, self._work(atoms).done))

        best = max(_components(candidates), key=count, default=candidates)
        return best if count(best) else candidates

    def _least(self, atoms: list[Atom], candidates: list[Atom]) -> list[Atom]:
        """As few of the atoms as bind what the work takes, and those that filter them and bind nothing else.

        All of them where the work may fail.
        """
        work = self._work(atoms)
        roots = self._roots(atoms, set().union(*map(needed, work.parts)))
        chosen: list[Atom] = []
        while open_ones := roots - atom_variables(chosen):
            chosen.append(max(atoms, key=lambda atom: len(atom_variables([atom]) & open_ones)))
        if len(chosen) > 1 or any(map(can_fail, work.done)):
            chosen = atoms
        bound, _ = bound_by(chosen, self._kernel_tests)
        return [atom for atom in candidates if atom_variables([atom]) <= bound]

    def _roots(self, atoms: list[Atom], variables: set[Variable]) -> set[Variable]:
        """The variables of atoms that these are computed from by the kernels' equations."""
        in_atoms = atom_variables(atoms)
        definitions: dict[Variable, set[Variable]] = {}
        bound = set(in_atoms)
        for test in bound_by(atoms, self._kernel_tests)[1]:
            solution = solved_for(test, bound)
            if solution is not None:
                definitions[solution[0]] = test_variables(test) - {solution[0]}
                bound.add(solution[0])
        roots: set[Variable] = set()
        waiting = [variable for variable in variables if variable in bound]
        while waiting:
            variable = waiting.pop()
            if variable in in_atoms:
                roots.add(variable)
            else:
                waiting += definitions[variable]
        return roots


class _Work:
    """The tests that can be worked out in Python once some variables are bound, in order."""

    def __init__(self, tests: list[Test], bound: set[Variable]) -> None:
        self.done: list[Test] = []
        parts: list[Let | Test] = []
        known = set(bound)
        waiting = tests
        while True:
            left = []
            for test in waiting:
                solution = solved_for(test, known)
                if solution is not None:
                    parts.append(Let(*solution, test.type))
                    known.add(solution[0])
                elif test_variables(test) <= known:
                    parts.append(test)
                else:
                    left.append(test)
                    continue
                self.done.append(test)
            if len(left) == len(waiting):
                break
            waiting = left
        self.parts = tuple(parts)

    def absent(self, marked: set[Variable]) -> set[Variable] | None:
        """All that have no value when these of the marked have none; None when more of those had none."""
        absent = set(marked)
        for part in self.parts:
            if isinstance(part, Let) and needed(part) & absent and part.variable not in absent:
                if may_fail(part.expression):
                    return None
                absent.add(part.variable)
        return absent

    def left_out(self, absent: set[Variable]) -> list[Test]:
        """What is not worked out for want of these variables."""
        return [test for test, part in zip(self.done, self.parts, strict=True) if needed(part) & absent]


def _for_kernels(clause: Clause, made: Made) -> list[Test]:
    """The tests that may fail, and that kernels work out when all else is known.

    No text is made of them, and no group of an aggregate, which would then be one that nobody knows.
    """
    _, bound = known(clause, [test for test in clause.tests if not can_fail(test)], made)
    wanted = {variable for test in clause.tests if is_text_test(test) for variable in test_variables(test)}
    wanted.update(*(group_of(atom) for atom in clause.atoms if atom.relation in made.tables))
    before = -1
    while before != len(wanted):
        before = len(wanted)
        for test in clause.tests:
            if _sides(test) & wanted - bound:
                wanted |= test_variables(test)
    fallible = [test for test in clause.tests if can_fail(test) and not is_text_test(test)]
    return [test for test in fallible if not _sides(test) & wanted - bound]


def _sides(test: Test) -> set[Variable]:
    """The variables that are a whole side of an equation."""
    sides = (test.left, test.right) if test.operator in ("=", EACH) else ()
    return {side for side in sides if isinstance(side, Variable)}


def _components(atoms: list[Atom]) -> list[list[Atom]]:
    """The atoms in groups that share variables, directly or by way of others of the group."""
    holders: dict[Variable, list[int]] = {}
    for place, atom in enumerate(atoms):
        for variable in atom_variables([atom]):
            holders.setdefault(variable, []).append(place)
    components: list[list[Atom]] = []
    reached: set[int] = set()
    for start in range(len(atoms)):
        component: list[int] = []
        waiting = [start]
        while waiting:
            place = waiting.pop()
            if place not in reached:
                reached.add(place)
                component.append(place)
                for variable in atom_variables([atoms[place]]):
                    waiting += holders.pop(variable, ())
        if component:
            components.append([atoms[place] for place in sorted(component)])
    return components


def _without(tests: Iterable[Test], others: Iterable[Test]) -> list[Test]:
    """The tests but for those that are among the others; two that say the same are two."""
    taken = {id(test) for test in others}
    return [test for test in tests if id(test) not in taken]
