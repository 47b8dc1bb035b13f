"""An aggregate becomes relations of its own, and its result an atom.

    p(x, n) :- q(x), n = sum z : { r(x, y, z) }.

    +1(x, z, y) :- r(x, y, z).              the origin: group, value, whatever else tells assignments apart
    +2(x, n)    := sum of +1 by x           an AggregateRule
    p(x, n) :- q(x), +2(x, n).
    p(x, 0) :- q(x), !+1(x, _, _).          count and sum of nothing are 0

Where a body is a single atom whose columns have the right order already, that relation is the origin. A
variable of the group that the aggregate's body does not bind gets atoms of the outer body that do. A body
that may fail tells for which groups it does (failures.py); what is done with that is the outer clause's.
"""

from __future__ import annotations

from dataclasses import replace

from tocsin.datalog.language import functors, syntax
from tocsin.datalog.language.conjunctions import MOST, alternatives_of
from tocsin.datalog.language.functors import EACH
from tocsin.datalog.language.syntax import Type, Value, type_of
from tocsin.datalog.language.tree_walk import Putting, walk
from tocsin.datalog.machine import normal_form as nf
from tocsin.datalog.machine.passes import clause as clauses
from tocsin.datalog.machine.passes.clause_reader import Reader
from tocsin.datalog.machine.passes.failures import failed
from tocsin.datalog.machine.passes.program_builder import Made
from tocsin.datalog.machine.passes.unification import unified

Binder = nf.Atom | nf.Test | clauses.Result
"""What gives a variable its value."""


def lifted(clause: clauses.Clause, made: Made) -> list[clauses.Clause]:
    """Give every aggregate of a clause its relations; what fills them are the clauses returned."""
    origins: list[clauses.Clause] = []
    while clause.pending:
        bound = _binders(clause).keys()
        ready = [pending for pending in clause.pending if bound >= set(pending.group())]
        if not ready:
            raise TypeError("the program is not checked: an aggregate needs what has no value")
        clause.pending = [pending for pending in clause.pending if pending not in ready]
        for pending in ready:
            result, origin = _lifted(pending, clause, made)
            clause.results.append(result)
            origins += origin
    return origins


def expanded(clause: clauses.Clause, made: Made) -> list[clauses.Clause]:
    """The clause with atoms for its results: one for each choice of which groups have tuples, and fail."""
    variants = [clause.copy()]
    for result in clause.results:
        chosen: list[clauses.Clause] = []
        for variant in variants:
            variant.results = []
            table, origin, _, others, failures = result.relations
            if failures is not None and clause.failing != clauses.NOWHERE:
                chosen.append(variant.copy())
                chosen[-1].atoms.append(nf.Atom(failures, (*result.group, nf.Anything())))
            if result.of_nothing is not None:
                nothing = nf.Atom(origin, (*result.group, *(nf.Anything(),) * others))
                chosen.append(variant.copy())
                chosen[-1].negated.append(nothing)
                value = nf.Constant(result.of_nothing)
                chosen[-1].tests.append(nf.Test("=", result.value, value, result.type))
            variant.atoms.append(nf.Atom(table, (*result.group, result.value)))
            chosen.append(variant)
        if len(chosen) > MOST:
            raise clause.source.error("this rule has too many aggregates: give some of them a relation")
        variants = chosen
    ends = (
        failed(variant, made) if any(atom.relation in made.failures for atom in variant.atoms) else variant
        for variant in variants
    )
    return [variant for variant in ends if variant is not None]


def _lifted(
    pending: clauses.Pending, outer: clauses.Clause, made: Made
) -> tuple[clauses.Result, list[clauses.Clause]]:
    """The result of an aggregate, and the clause that fills its origin, where that is a new one."""
    group = pending.group()
    key = _meaning(pending, group)
    origins: list[clauses.Clause] = []
    aggregation = made.aggregations.get(key)
    if aggregation is None:
        aggregation, filling = _aggregation(pending, outer, made)
        if filling is not None:
            is_open, binding = _bind_group(filling, group, outer, made)
            origins = [*binding, filling]
        if filling is None or not is_open:
            made.aggregations[key] = aggregation
    type_, columns = type_of(pending.aggregate), tuple(group[place] for place in aggregation.order)
    of_nothing: Value | None = None
    if pending.aggregate.function in ("count", "sum"):
        of_nothing = 0.0 if type_ is Type.FLOAT else 0
    return clauses.Result(pending.value, type_, aggregation, columns, of_nothing), origins


def _meaning(pending: clauses.Pending, group: list[nf.Variable]) -> tuple[syntax.Argument, int]:
    """The aggregate with names by the order in which they occur: equal for those that say the same."""
    names: dict[str, syntax.Variable | syntax.Constant] = {}
    for name, term in pending.shared.items():
        if isinstance(term, nf.Variable):
            names[name] = syntax.Variable(f"group {group.index(term)}")
        elif isinstance(term, nf.Constant):
            names[name] = syntax.Constant(term.value)

    def renamed(variable: syntax.Variable) -> syntax.Argument:
        new = names.setdefault(variable.name, syntax.Variable(f"own {len(names)}"))
        return replace(new, type=variable.type, located=variable.located)

    return Putting(renamed).argument(pending.aggregate), len(group)


def _aggregation(
    pending: clauses.Pending, outer: clauses.Clause, made: Made
) -> tuple[clauses.Aggregation, clauses.Clause | None]:
    """The relations of an aggregate, and the clause that fills the origin, where one must."""
    inner = _Inner(pending, outer, made)
    whole = inner.whole_relation()
    group, origin, others, failures = inner.group, None, 0, None
    if whole is not None:
        origin, columns, others = whole
    else:
        columns, behind = group, inner.columns()
        others = len(behind)
        origin = made.relation([*(outer.types[column] for column in group), *(type_ for _, type_ in behind)])
        if inner.clause is not None:
            terms = (*inner.clause.head.terms[: len(group)], *(column for column, _ in behind))
            inner.clause.head = nf.Atom(origin, terms)
            if _clause_can_fail(inner.clause):
                failures = made.relation([*(outer.types[column] for column in group), Type.SYMBOL])
                made.failures.add(failures)
                made.tables.add(failures)
                inner.clause.failing = nf.Atom(failures, terms[: len(group)])
    table = made.relation([*(outer.types[column] for column in columns), type_of(pending.aggregate)])
    made.tables.add(table)
    function = pending.aggregate.function
    made.steps.append(
        nf.AggregateRule(table, origin, len(group), function, inner.value_type, source=outer.source)
    )
    order = tuple(group.index(column) for column in columns)
    return clauses.Aggregation(
        table, origin, order, others, failures
    ), None if whole is not None else inner.clause


class _Inner:
    """The body of an aggregate: a clause with the head (group..., value), or None when it cannot hold."""

    def __init__(self, pending: clauses.Pending, outer: clauses.Clause, made: Made) -> None:
        aggregate = pending.aggregate
        own = () if aggregate.value is None else (aggregate.value,)
        self.group = pending.group()
        self.value_type = type_of(own[0] if own else aggregate)
        self._has_value = bool(own)
        self._tells_apart = aggregate.function not in ("min", "max")
        (literals,) = alternatives_of(aggregate.body)
        clause = clauses.Clause(nf.Atom("", ()), outer.source, outer.recursive, outer.types)
        reader = Reader(clause, made, [*literals, *own], pending.shared, keep_anonymous=self._tells_apart)
        can_hold = all(reader.literal(literal) for literal in literals)
        clause.head = nf.Atom("", (*self.group, *map(reader.term, own)))
        self.clause = unified(clause) if can_hold else None

    def whole_relation(self) -> tuple[str, list[nf.Variable], int] | None:
        """A relation that is the origin as it stands, the group in its order, how many columns are behind."""
        clause = self.clause
        if clause is None or len(clause.atoms) != 1 or clause.negated or clause.tests or clause.pending:
            return None
        relation, terms = clause.atoms[0]
        width = len(self.group)
        leading = [term for term in terms[:width] if isinstance(term, nf.Variable)]
        seen = [term for term in terms if isinstance(term, nf.Variable)]
        is_plain = len(set(seen)) == len(seen) and not any(isinstance(term, nf.Constant) for term in terms)
        is_in_order = set(leading) == set(self.group) and clause.head.terms[:width] == tuple(self.group)
        has_value = not self._has_value or terms[width : width + 1] == clause.head.terms[width:]
        return (relation, leading, len(terms) - width) if is_plain and is_in_order and has_value else None

    def columns(self) -> list[tuple[nf.Term, Type]]:
        """The columns of the origin behind the group: the value, and what else tells assignments apart."""
        clause = self.clause
        if clause is None:
            return [(nf.Constant(0), self.value_type)] if self._has_value else []
        value = clause.head.terms[len(self.group) :]
        columns = [(term, self.value_type) for term in value]
        if self._tells_apart:
            several: list[object] = [term for atom in clause.atoms for term in atom.terms]
            several += [test.left for test in clause.tests if test.operator == EACH]
            columns += [
                (term, clause.types[term])
                for term in dict.fromkeys(several)
                if isinstance(term, nf.Variable) and term not in clause.head.terms
            ]
        return columns


def _clause_can_fail(clause: clauses.Clause) -> bool:
    """Whether there may be values for which a clause is an error, also within its aggregates."""
    return any(map(clauses.can_fail, clause.tests)) or any(
        not functors.is_total(part.functor, type_of(part.operands[0]))
        if isinstance(part, syntax.Operation)
        else isinstance(part, syntax.Comparison) and part.operator in ("match", "!match")
        for pending in clause.pending
        for part in walk(pending.aggregate)
    )


def _bind_group(
    inner: clauses.Clause, group: list[nf.Variable], outer: clauses.Clause, made: Made
) -> tuple[bool, list[clauses.Clause]]:
    """Add to an aggregate's body what binds those of the group that it does not; whether there are any.

    What may itself have no value there gets a clause of its own, which is returned: it is the outer one's to
    tell of that.
    """
    bound = _binders(replace(inner, tests=[test for test in inner.tests if not clauses.can_fail(test)]))
    waiting = []
    for variable, term in zip(group, inner.head.terms, strict=False):
        if isinstance(term, nf.Variable) and term not in bound:
            waiting.append(variable)
            if term != variable:
                inner.tests.append(nf.Test("=", variable, term, inner.types[variable]))
    if not waiting:
        return False, []
    binding = _binding(waiting, outer)
    if any(map(clauses.can_fail, binding.tests)) or any(
        result.relations.failures for result in binding.results
    ):
        columns = [variable for variable in group if variable in _binders(binding)]
        name = made.relation([outer.types[variable] for variable in columns])
        binding.head = nf.Atom(name, tuple(columns))
        inner.atoms.append(binding.head)
        return True, [binding]
    inner.atoms += binding.atoms
    inner.tests += binding.tests
    inner.results += binding.results
    return True, []


def _binding(waiting: list[nf.Variable], outer: clauses.Clause) -> clauses.Clause:
    """What gives variables their values in a clause, as a clause that tells nobody of failures."""
    binding = clauses.Clause(
        clauses.NOWHERE, outer.source, outer.recursive, outer.types, failing=clauses.NOWHERE
    )
    binders = _binders(outer)
    seen: set[nf.Variable] = set()
    while waiting:
        variable = waiting.pop()
        if variable in seen:
            continue
        seen.add(variable)
        binder = binders[variable]
        if isinstance(binder, nf.Atom):
            if binder.relation in outer.recursive:
                raise outer.source.error(
                    f"an aggregate depends on a variable that only {binder.relation!r} gives a value, which"
                    " depends on this rule itself: bind it in the aggregate's body too, or give its values a"
                    " relation"
                )
            binding.atoms.append(binder)
        elif isinstance(binder, nf.Test):
            binding.tests.append(binder)
            waiting += clauses.test_variables(binder) - {variable}
        else:
            binding.results.append(binder)
            waiting += binder.needs()
    return binding


def _binders(clause: clauses.Clause) -> dict[nf.Variable, Binder]:
    """What gives each variable its value, so that nothing needs a variable that it helps to bind.

    An atom of a relation that does not depend on the clause's head comes before one that does.
    """
    binders: dict[nf.Variable, Binder] = {}
    for atom in sorted(clause.atoms, key=lambda atom: atom.relation in clause.recursive):
        for variable in clauses.atom_variables([atom]):
            binders.setdefault(variable, atom)
    before = -1
    while before != len(binders):
        before = len(binders)
        for test in clause.tests:
            solution = clauses.solved_for(test, binders)
            if solution is not None:
                binders[solution[0]] = test
        for result in clause.results:
            if isinstance(result.value, nf.Variable) and result.needs() <= binders.keys():
                binders.setdefault(result.value, result)
    return binders
