"""Rules in the form that the activation index takes: four kinds of step, each as simple as it can be.

    JoinRule        head(x, z) :- p(x, y), q(y, z), !r(x, _), z = y + 1, x < z.     worked out by kernels
    MapRule         each tuple of one relation gives tuples of another, by a pure Python function:
                    what needs strings (cat, substr, <, match ...), which kernels never see
    AggregateRule   the tuples of one relation, grouped by their first columns, give one value a group
    ClosureRule     head is the transitive closure of another relation, kept as a graph

Whatever else the language has is written in terms of these: disjunction and several heads become several
rules, aggregates and text functors get relations of their own between two steps. Such a relation has a
name that no program can write (it starts with `+`).

Set semantics: a relation holds the union of what its rules give and of the facts it was given. What a
JoinRule gives is one *derivation* of its head, or more, for each assignment of the variables that more than
one part of it has; an Anything, and a variable that stands in one atom only, ask for some tuple, or for none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from tocsin.datalog.kernels import layout
from tocsin.datalog.language.syntax import Place, Type, Value
from tocsin.errors import RuleError

MADE = "+"
"""What the name of a relation that was made here, and that no user sees, starts with."""


class Relation(NamedTuple):
    """A relation and the types of its columns."""

    name: str
    types: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable by its number within a rule."""

    number: int


@dataclass(frozen=True, slots=True)
class Anything:
    """A column that is not looked at."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A value; its type is that of the column or of the operation it stands in."""

    value: Value


Term = Variable | Anything | Constant


class Call(NamedTuple):
    """An operation on numbers: `functor` by its written name, `type` that of its operands and its result."""

    functor: str
    type: Type
    operands: tuple[Expression, ...]


Expression = Variable | Constant | Call


def parts_of(*expressions: Expression | Anything) -> Iterator[Expression | Anything]:
    """Expressions and all that they are made of."""
    waiting = list(expressions)
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, Call):
            waiting += part.operands


def variables_of(*expressions: Expression | Anything) -> Iterator[Variable]:
    """The variables in expressions, each time they occur."""
    return (part for part in parts_of(*expressions) if isinstance(part, Variable))


class Atom(NamedTuple):
    """A relation with a term for each column."""

    relation: str
    terms: tuple[Term, ...]


class Let(NamedTuple):
    """`variable = expression`. Where the variable is bound otherwise too, it is a test."""

    variable: Variable
    expression: Expression
    type: Type


class Test(NamedTuple):
    """A comparison with one of `= != < <= > >=`; only `=` and `!=` when the type is symbol."""

    operator: str
    left: Expression
    right: Expression
    type: Type


class Source(NamedTuple):
    """The rule of the program that a step comes from, for messages."""

    text: str
    place: Place

    def error(self, reason: str) -> RuleError:
        """The error of a rule that is not taken."""
        return RuleError(reason, rule=self.text, line=self.place.line, column=self.place.column)


class Failing(Enum):
    """What comes of a derivation in which something has no value, all else holding."""

    AN_ERROR = layout.AN_ERROR
    NOTHING = layout.NOTHING
    THE_HEAD = layout.THE_HEAD
    """The head, which does not need it; and nothing comes of any other derivation."""


@dataclass(frozen=True, slots=True)
class JoinRule:
    """A conjunction. `body` or `lets` bind each variable of the head, of negated atoms and of tests."""

    head: Atom
    body: tuple[Atom, ...]
    negated: tuple[Atom, ...] = ()
    lets: tuple[Let, ...] = ()
    tests: tuple[Test, ...] = ()
    source: Source | None = None
    failing: Failing = Failing.AN_ERROR


@dataclass(frozen=True, slots=True)
class MapRule:
    """Each tuple of `origin` gives the tuples of `function(tuple)`; the same ones every time it is asked.

    The function raises DerivationError for a tuple that has no meaning (`to_number("x")`).
    """

    head: str
    origin: str
    function: Callable[[tuple[Value, ...]], Iterable[tuple[Value, ...]]] = field(compare=False)
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class AggregateRule:
    """For each group of tuples of `origin` that agree in their first `group` columns: (group..., result).

    `function` is count, sum, min, max or mean of the column behind the group (count has none to look at).
    Tuples of `origin` differ, so that each is one assignment. A group without tuples has no result; where the
    language wants 0, other rules say so.
    """

    head: str
    origin: str
    group: int
    function: str
    type: Type
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class ClosureRule:
    """`head` is the transitive closure of the binary relation `arc`: all pairs with a path of some arcs.

    Only made where nothing but the user looks at `head`, so that it need never be written out. Facts given to
    `head` are facts of the relation `facts`; where there is none, `head` cannot be given any.
    """

    head: str
    arc: str
    facts: str | None = None
    source: Source | None = None


Step = JoinRule | MapRule | AggregateRule | ClosureRule


def head_of(step: Step) -> str:
    """The relation that a step gives tuples of."""
    return step.head.relation if isinstance(step, JoinRule) else step.head


def reads(step: Step) -> set[str]:
    """The relations that a step looks at."""
    if isinstance(step, JoinRule):
        return {atom.relation for atom in (*step.body, *step.negated)}
    return {step.arc if isinstance(step, ClosureRule) else step.origin}


@dataclass(frozen=True, slots=True)
class NormalProgram:
    """All that the index is built from. `facts` are those that stand in the program itself."""

    relations: tuple[Relation, ...]
    steps: tuple[Step, ...]
    facts: tuple[tuple[str, tuple[Value, ...]], ...] = ()
