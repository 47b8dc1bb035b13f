"""A program as a tree: what parsing gives, and, with every `type` filled in, what checking gives.

    program     declarations of types and relations, rules, directives; no components any more
    rule        one or more head atoms and a body (that of a fact is `true`)
    body        Conjunction | Disjunction | Positive | Negation | Comparison | Truth
    argument    Variable | Anonymous | Constant | Operation | Aggregate

Every part knows its place in the file, for messages. Parts are compared by what they say: places do
not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

Value = int | float | str
"""What a tuple holds: number and unsigned are int, float is float, symbol is str."""

TEXT_LIMIT = 1 << 30
"""So many bytes of texts the rules of a program may make, if nothing else is said."""


class Type(Enum):
    """The four kinds of value; every declared type comes down to one of them."""

    NUMBER = "number"
    UNSIGNED = "unsigned"
    FLOAT = "float"
    SYMBOL = "symbol"


class Place(NamedTuple):
    """Line and column of a part's first character, from 1."""

    line: int
    column: int


NOWHERE = Place(1, 1)
"""The place of a part that was made, not written."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A name that stands for one value throughout a rule; `located` when it is written `@name`."""

    name: str
    place: Place = field(default=NOWHERE, compare=False, repr=False)
    type: Type | None = None
    located: bool = False


@dataclass(frozen=True, slots=True)
class Anonymous:
    """`_`: any value, a different one each time it is written."""

    place: Place = field(default=NOWHERE, compare=False, repr=False)
    type: Type | None = None


@dataclass(frozen=True, slots=True)
class Constant:
    """A value. `type` is what its spelling says (`1.0`, `1u`, `"a"`); a bare `1` gets one when checked."""

    value: Value
    place: Place = field(default=NOWHERE, compare=False, repr=False)
    type: Type | None = None
    located: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator or functor applied to arguments, by its written name; unary minus is `neg`."""

    functor: str
    operands: tuple[Argument, ...]
    place: Place = field(default=NOWHERE, compare=False, repr=False)
    type: Type | None = None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`sum z : { body }`; `value` is None for count. `type` is that of the result."""

    function: str
    value: Argument | None
    body: Body
    place: Place = field(default=NOWHERE, compare=False, repr=False)
    type: Type | None = None


Argument = Variable | Anonymous | Constant | Operation | Aggregate


def type_of(argument: Argument) -> Type:
    """The type that checking gave an argument."""
    if argument.type is None:
        raise TypeError(f"the program is not checked: no type is known at {argument.place}")
    return argument.type


@dataclass(frozen=True, slots=True)
class Atom:
    """A relation's name and its arguments, in a head or a body."""

    relation: str
    arguments: tuple[Argument, ...]
    place: Place = field(default=NOWHERE, compare=False, repr=False)


def arguments_of(atoms: Iterable[Atom]) -> list[Argument]:
    """The arguments of all of them."""
    return [argument for atom in atoms for argument in atom.arguments]


@dataclass(frozen=True, slots=True)
class Positive:
    """An atom of which a tuple is needed."""

    atom: Atom


@dataclass(frozen=True, slots=True)
class Negation:
    """An atom of which no tuple may be there."""

    atom: Atom
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left operator right`, with one of `= != < <= > >=`, or `match` and `contains` of two symbols."""

    operator: str
    left: Argument
    right: Argument
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Truth:
    """`true` or `false`."""

    holds: bool
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Conjunction:
    """All of the parts."""

    parts: tuple[Body, ...]


@dataclass(frozen=True, slots=True)
class Disjunction:
    """Any of the parts."""

    parts: tuple[Body, ...]


Body = Conjunction | Disjunction | Positive | Negation | Comparison | Truth


@dataclass(frozen=True, slots=True)
class Rule:
    """Heads that hold whenever the body does. `text` is the rule as it was written, on one line.

    A fact is written without a body: its head holds from the start, until it is deleted. With the body `true`
    it is a rule, as in Soufflé, and what it gives is derived.
    """

    heads: tuple[Atom, ...]
    body: Body
    place: Place = field(default=NOWHERE, compare=False, repr=False)
    text: str = field(default="", compare=False)
    is_fact: bool = False

    @property
    def parts(self) -> list[Argument | Body]:
        """The body, and the arguments of the heads."""
        return [self.body, *arguments_of(self.heads)]


@dataclass(frozen=True, slots=True)
class Relation:
    """A declared relation: names and types of its columns, and whether it is an equivalence (`eqrel`)."""

    name: str
    columns: tuple[str, ...]
    types: tuple[Type, ...]
    eqrel: bool = False
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Directive:
    """`.input`, `.output` or `.printsize` of one relation, with its parameters as they are written."""

    kind: str
    relation: str
    parameters: Mapping[str, str]
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CheckedProgram:
    """A program without errors: relations declared, types filled in, every rule safe, all of it stratified.

    Relations, rules and directives stand in the order of the file, components instantiated. `strata`
    are the relations in the order in which they can be worked out: those of one stratum depend on one
    another (recursion), or the stratum is a single relation. `text` has what its `files` hold, together.
    """

    relations: Mapping[str, Relation]
    rules: tuple[Rule, ...]
    directives: tuple[Directive, ...]
    strata: tuple[frozenset[str], ...]
    file: str | None = None
    files: tuple[str, ...] = ()
    text: str = field(default="", repr=False)
