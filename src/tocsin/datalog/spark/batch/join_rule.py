"""A JoinRule as a DataFrame: joins, then tests and arithmetic, then what must not be there.

    p(x, z) :- q(x, y), r(y, _), !s(x), z = y / x, !t(z).

    q  inner join r  (semi, if r brings no variable that is needed)
       where        tests of plain variables, by Spark
       anti join s  what negates plain variables
       compute      lets and the other tests, over Arrow batches in a worker (worker_batches.py)
       anti join t  what negates computed ones; a value that there is none of joins with nothing, so it holds
       select       the head, and the failure of a row that has no result though all else holds

The variable of number n is the column vn. An atom that has nothing in common with what is joined already
waits until an equation computes one of its variables, if there is such an equation that cannot fail.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StringType, StructType

from tocsin.datalog.language.functors import COMPARISONS
from tocsin.datalog.language.syntax import NOWHERE, Type
from tocsin.datalog.machine.normal_form import (
    Atom,
    Call,
    Constant,
    Expression,
    Failing,
    JoinRule,
    Let,
    Source,
    Term,
    Test,
    Variable,
    variables_of,
)
from tocsin.datalog.machine.partial_expressions import may_fail
from tocsin.datalog.machine.passes.clause import atom_variables, test_variables
from tocsin.datalog.spark.batch.component_plan import is_partial
from tocsin.datalog.spark.batch.stored_frames import Frame
from tocsin.datalog.spark.batch.value_columns import FAILURE, Columns, constant, ordered
from tocsin.datalog.spark.batch.worker_batches import Work, compute, name_of

BROADCAST_ROWS = 100_000
"""A relation of so many tuples is sent to all executors whole, rather than shuffled."""

Types = Mapping[str, Columns]
"""The columns of relations, by name."""


def joined(
    rule: JoinRule, body: Sequence[Frame], negated: Sequence[Frame], types: Types, first: int | None = None
) -> DataFrame:
    """The heads that a rule gives, as columns inside, some of them more than once; a failure if it can fail.

    `body` and `negated` are the tuples of its atoms, in their order. Joining starts with the atom `first`,
    the smallest one if it is None.
    """
    return _Join(rule, types).plan(body, negated, first)


class _Scan(NamedTuple):
    """An atom: its tuples as columns of variables, and how many there are at most."""

    data: DataFrame
    variables: frozenset[Variable]
    rows: float


class _Join:
    """A rule while its plan grows: `data` has a column for each variable in `bound`."""

    def __init__(self, rule: JoinRule, types: Types) -> None:
        self._rule = rule
        self._relations = types
        self._types = dict(_variable_types(rule, types))
        self._lets = list(rule.lets)
        self._tests = list(rule.tests)
        self._data: DataFrame
        self._rows = math.inf
        self._bound: set[Variable] = set()

    def plan(self, body: Sequence[Frame], negated: Sequence[Frame], first: int | None) -> DataFrame:
        scans = [self._scan(atom, frame) for atom, frame in zip(self._rule.body, body, strict=True)]
        start = min(range(len(scans)), key=lambda place: scans[place].rows) if first is None else first
        scan = scans.pop(start)
        self._data, self._bound, self._rows = scan.data, set(scan.variables), scan.rows
        while scans:
            self._join_next(scans)
        self._filter()
        waiting = [self._scan(atom, frame) for atom, frame in zip(self._rule.negated, negated, strict=True)]
        plain = [scan for scan in waiting if scan.variables <= self._bound]
        for scan in plain:
            self._exclude(scan)
        if self._lets or self._tests:
            self._compute(self._lets, self._tests, is_partial(self._rule))
        for scan in waiting:
            if scan not in plain:
                self._exclude(scan)
        if FAILURE in self._data.columns and self._rule.failing is not Failing.AN_ERROR:
            failure = F.col(FAILURE)
            told = self._rule.failing is Failing.THE_HEAD
            self._data = self._data.where(failure.isNotNull() if told else failure.isNull()).drop(FAILURE)
        return self._head()

    def _scan(self, atom: Atom, frame: Frame) -> _Scan:
        """An atom's tuples with its constants and repeated variables seen to."""
        kinds = self._relations[atom.relation].types
        terms = atom.terms or (Constant(0),)
        columns: dict[Variable, Column] = {}
        conditions: list[Column] = []
        for place, (term, kind) in enumerate(zip(terms, kinds, strict=True)):
            column = F.col(f"c{place}")
            if isinstance(term, Constant):
                conditions.append(column == constant(term.value, kind))
            elif isinstance(term, Variable) and term in columns:
                conditions.append(column == columns[term])
            elif isinstance(term, Variable):
                columns[term] = column
        data = frame.data.where(reduce(operator.and_, conditions)) if conditions else frame.data
        used = [variable for variable in columns if self._is_used(variable, atom)]
        kept = data.select(*[columns[variable].alias(name_of(variable)) for variable in used])
        return _Scan(kept if used else data.select("c0"), frozenset(used), frame.most)

    def _is_used(self, variable: Variable, by: Atom) -> bool:
        """Whether anything but an atom looks at a variable."""
        rule = self._rule
        atoms = [atom for atom in (rule.head, *rule.body, *rule.negated) if atom is not by]
        if variable in atom_variables(atoms):
            return True
        return any(variable in variables_of(let.variable, let.expression) for let in rule.lets) or any(
            variable in test_variables(test) for test in rule.tests
        )

    def _join_next(self, scans: list[_Scan]) -> None:
        """Join the atom that has most in common with what there is, the smaller one of two."""
        scan = max(scans, key=lambda each: (len(each.variables & self._bound), -each.rows))
        if scan.variables and not scan.variables & self._bound:
            keys = self._computable(scans)
            if keys:
                self._compute(keys, [], False)
                return
        scans.remove(scan)
        shared = [name_of(variable) for variable in self._in_order(scan.variables & self._bound)]
        if scan.variables <= self._bound:
            if shared:
                self._data = self._data.join(_hinted(scan), shared, "left_semi")
            else:
                self._data = self._if_any(scan, "left_semi")
            return
        is_smaller = self._rows <= BROADCAST_ROWS < scan.rows
        left = F.broadcast(self._data) if is_smaller else self._data
        self._data = left.join(_hinted(scan), shared, "inner") if shared else left.crossJoin(_hinted(scan))
        self._rows = math.inf
        self._bound |= scan.variables

    def _computable(self, scans: Sequence[_Scan]) -> list[Let]:
        """Equations that give a variable of a waiting atom its value, from what there is, and never fail."""
        wanted = frozenset().union(*(scan.variables for scan in scans)) - self._bound
        return [
            let
            for let in self._lets
            if let.variable in wanted
            and not may_fail(let.expression)
            and set(variables_of(let.expression)) <= self._bound
        ][:1]

    def _filter(self) -> None:
        """Have Spark do the tests that need no arithmetic."""
        for test in list(self._tests):
            if Call in (type(test.left), type(test.right)) or not test_variables(test) <= self._bound:
                continue
            left, right = (self._operand(side, test.type) for side in (test.left, test.right))
            self._data = self._data.where(COMPARISONS[test.operator].holds(left, right))
            self._tests.remove(test)

    def _operand(self, side: Expression, kind: Type) -> Column:
        column = constant(side.value, kind) if isinstance(side, Constant) else F.col(name_of(side))  # type: ignore[arg-type]
        return ordered(column, kind)

    def _exclude(self, scan: _Scan) -> None:
        """Leave out rows for which there is such a tuple."""
        names = [name_of(variable) for variable in self._in_order(scan.variables)]
        if names:
            self._data = self._data.join(_hinted(scan), names, "left_anti")
        else:
            self._data = self._if_any(scan, "left_anti")

    def _if_any(self, scan: _Scan, how: str) -> DataFrame:
        """All rows, or none, as an atom without variables has a tuple or has none."""
        there = scan.data.limit(1).select(F.lit(1).alias("there"))
        return self._data.join(F.broadcast(there), F.lit(True), how)

    def _compute(self, lets: Sequence[Let], tests: Sequence[Test], can_fail: bool) -> None:
        """Work out some of the equations, and tests, in a worker; with a failure if they can fail."""
        names = self._data.columns
        columns = [variable for variable in self._in_order(self._bound) if name_of(variable) in names]
        binding: list[Let] = []
        testing = list(tests)
        bound = set(self._bound)
        for let in lets:
            if let.variable in bound:
                testing.append(Test("=", let.variable, let.expression, let.type))
            else:
                binding.append(let)
                bound.add(let.variable)
        work = Work(
            tuple((variable, self._types[variable]) for variable in columns),
            tuple(binding),
            tuple(testing),
            self._rule.source or Source("", NOWHERE),
        )
        self._lets = [let for let in self._lets if let not in lets]
        self._tests = [test for test in self._tests if test not in tests]
        fields = [*columns, *(let.variable for let in binding)]
        kinds = Columns(tuple(self._types[variable] for variable in fields))
        schema = StructType()
        for variable, kind in zip(fields, kinds.schema, strict=True):
            schema.add(name_of(variable), kind.dataType)
        schema.add(FAILURE, StringType())
        some = map(F.col, map(name_of, columns)) if columns else [F.lit(0).alias("row")]
        computed = self._data.select(*some).mapInArrow(partial(compute, work), schema)
        self._data = computed if can_fail else computed.drop(FAILURE)
        self._bound = bound

    def _head(self) -> DataFrame:
        kinds = self._relations[self._rule.head.relation].types
        failure = F.col(FAILURE)
        is_failing = FAILURE in self._data.columns
        terms = self._rule.head.terms or (Constant(0),)
        columns: list[Column] = []
        for place, (term, kind) in enumerate(zip(terms, kinds, strict=True)):
            value = self._term(term, kind)
            columns.append((F.when(failure.isNull(), value) if is_failing else value).alias(f"c{place}"))
        return self._data.select(*columns, failure) if is_failing else self._data.select(*columns)

    def _term(self, term: Term, kind: Type) -> Column:
        if isinstance(term, Variable):
            return F.col(name_of(term))
        if isinstance(term, Constant):
            return constant(term.value, kind)
        raise TypeError("a head holds no anonymous variable")

    def _in_order(self, variables: Iterable[Variable]) -> list[Variable]:
        return sorted(variables, key=lambda variable: variable.number)


def _variable_types(rule: JoinRule, types: Types) -> Iterator[tuple[Variable, Type]]:
    for atom in rule.body:
        for term, kind in zip(atom.terms, types[atom.relation].types, strict=False):
            if isinstance(term, Variable):
                yield term, kind
    for let in rule.lets:
        yield let.variable, let.type


def _hinted(scan: _Scan) -> DataFrame:
    return F.broadcast(scan.data) if scan.rows <= BROADCAST_ROWS else scan.data
