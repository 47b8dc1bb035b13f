"""What becomes of a clause where something in it has no value.

All else must hold for that to be an error, so it goes on as a clause of its own: with the reason in place of
the value, and without whatever needs the value. What that clause gives are reasons to fail.

    p(n) :- q(x), n = max y : { r(x, y), 1 / y > 0 }, n > 2, s(x).

    +2(x, n)    := max of +1 by x                   the results
    +3(x, why)                                      the groups for which there is none, and why
    p(n)    :- q(x), +2(x, n), n > 2, s(x).
    +4(why) :- q(x), +3(x, why), s(x).
    p       for each +4(why): an error

Such a clause asks for less than the one it comes from. So it does not matter what results there are for a
group that fails: wherever they would be seen, there is an error.
"""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.datalog.language.syntax import Type
from tocsin.datalog.machine.normal_form import Atom, Test, Variable
from tocsin.datalog.machine.passes.clause import Clause, atom_variables, bound_by, test_variables
from tocsin.datalog.machine.passes.program_builder import Made


def telling(clause: Clause, made: Made) -> tuple[Clause, Variable]:
    """A copy of a clause that gives reasons to fail, and the variable that is to be the reason."""
    copy = clause.copy()
    reason = clause.fresh(Type.SYMBOL)
    told = clause.failing or Atom(made.refused(clause.head.relation, clause.source), ())
    copy.head = told._replace(terms=(*told.terms, reason))
    return copy, reason


def failed(clause: Clause, made: Made) -> Clause | None:
    """What is left of a clause with atoms of failures in place of results; None if none of them is left."""
    rest, reason = telling(clause, made)
    leave_out_unknown(rest, made)
    for place, atom in enumerate(rest.atoms):
        if atom.relation in made.failures:
            rest.atoms[place] = atom._replace(terms=(*atom.terms[:-1], reason))
            return rest
    return None


def leave_out_unknown(clause: Clause, made: Made) -> None:
    """Leave out of a clause what needs a variable that nothing gives a value."""
    clause.atoms, bound = known(clause, clause.tests, made)
    clause.negated = [atom for atom in clause.negated if atom_variables([atom]) <= bound]
    clause.tests = [test for test in clause.tests if test_variables(test) <= bound]


def known(clause: Clause, tests: Sequence[Test], made: Made) -> tuple[list[Atom], set[Variable]]:
    """The atoms of a clause that can be asked with the help of these tests, and the variables then bound.

    The result of an aggregate is not known for a group that is not, nor is whether it fails.
    """
    atoms = [atom for atom in clause.atoms if atom.relation not in made.tables]
    tables = [atom for atom in clause.atoms if atom.relation in made.tables]
    bound, _ = bound_by(atoms, tests)
    while ready := [table for table in tables if group_of(table) <= bound]:
        atoms += ready
        tables = [table for table in tables if table not in ready]
        bound, _ = bound_by(atoms, tests)
    return atoms, bound


def group_of(table: Atom) -> set[Variable]:
    """The variables of the group in an atom of results, or of failures."""
    return atom_variables([table._replace(terms=table.terms[:-1])])
