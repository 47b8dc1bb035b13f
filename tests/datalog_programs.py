"""Random programs over several relations, as text, with facts and changes for their input relations.

They use everything: recursion, negation, aggregates (nested ones too, and ones grouped by permuted columns of
what the rule negates), arithmetic, texts, disjunction, several heads, constants, `_`, repeated variables,
equivalences, closures. They are well-formed and finite: whatever is computed stays small. They are free of
errors too, divisions being guarded, unless `partial` asks for functions without a value for some operands,
within aggregates and beside them too.

    inputs      a(number) b, c(number, number) w(symbol) l(number, symbol) v(number, float) h(unsigned)
    derived     d0, d1, ... of drawn columns; a rule negates and aggregates only what comes before its head
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from hypothesis import assume
from hypothesis import strategies as st

from tocsin.datalog.language.checker import check_program
from tocsin.datalog.language.conjunctions import Tuple
from tocsin.datalog.language.syntax import CheckedProgram
from tocsin.datalog.machine.normaliser import normal_program
from tocsin.errors import RuleError

REFUSED = "depends on this rule itself"
"""Why an aggregate is refused, of which only the recursion that it stands in binds a variable."""

T = TypeVar("T")


class Signature(NamedTuple):
    """A relation's name and the types of its columns."""

    name: str
    types: tuple[str, ...]

    def declaration(self, qualifier: str = "") -> str:
        columns = ", ".join(f"c{place}: {type_}" for place, type_ in enumerate(self.types))
        return f".decl {self.name}({columns}){qualifier}"


class Change(NamedTuple):
    """A fact that comes or goes."""

    relation: str
    values: Tuple
    insert: bool


@dataclass(frozen=True)
class Case:
    """A program and the facts it starts with."""

    text: str
    facts: Mapping[str, Sequence[Tuple]]

    def program(self) -> CheckedProgram:
        return check_program(self.text)


INPUTS = (
    Signature("a", ("number",)),
    Signature("b", ("number", "number")),
    Signature("c", ("number", "number")),
    Signature("w", ("symbol",)),
    Signature("l", ("number", "symbol")),
    Signature("v", ("number", "float")),
    Signature("h", ("unsigned",)),
)

NUMBERS = (0, 1, 2, 3, -1)
VALUES: Mapping[str, Sequence[int | float | str]] = {
    "number": (*NUMBERS, 2**63 - 1, -(2**63)),
    "unsigned": (0, 1, 2, 2**64 - 1),
    "float": (0.0, 0.5, -1.5, 0.1, 1e300),
    "symbol": ("", "a", "b", "ab", "12", "é"),
}
_NAMES = {"number": "xyz", "unsigned": "uvw", "float": "fgh", "symbol": "pqr"}
_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")


@st.composite
def cases(draw: st.DrawFn, derived: int = 4, rules: int = 6, *, partial: bool = False, most: int = 6) -> Case:
    """A program of up to so many derived relations and rules, with facts; one that the index takes."""
    text = draw(programs(derived, rules, partial=partial))
    try:
        normal_program(check_program(text))
    except RuleError as error:
        assume(REFUSED not in error.reason)
        raise
    return Case(text, draw(facts(most)))


@st.composite
def facts(draw: st.DrawFn, most: int = 6) -> dict[str, list[Tuple]]:
    """Up to so many facts for each input relation."""
    return {each.name: draw(st.lists(rows(each), max_size=most, unique=True)) for each in INPUTS}


@st.composite
def changes(draw: st.DrawFn, most: int = 12, relations: Sequence[Signature] = INPUTS) -> list[Change]:
    """Facts that come and go, some of which are there already or are not there at all."""
    changed = []
    for _ in range(draw(st.integers(0, most))):
        relation = draw(st.sampled_from(relations))
        changed.append(Change(relation.name, draw(rows(relation)), draw(st.booleans())))
    return changed


@st.composite
def rows(draw: st.DrawFn, relation: Signature) -> Tuple:
    """A tuple of a relation."""
    return tuple(draw(st.sampled_from(VALUES[type_])) for type_ in relation.types)


def signatures(text: str) -> list[Signature]:
    """The relations of a program."""
    relations = check_program(text).relations.values()
    return [Signature(each.name, tuple(type_.value for type_ in each.types)) for each in relations]


@st.composite
def programs(draw: st.DrawFn, derived: int = 4, rules: int = 6, *, partial: bool = False) -> str:
    """The text of a program."""
    columns = st.one_of(
        st.lists(st.sampled_from(_COLUMNS), max_size=3).map(tuple), st.just(("number", "number"))
    )
    made = [Signature(f"d{number}", draw(columns)) for number in range(draw(st.integers(1, derived)))]
    lines = [relation.declaration() for relation in INPUTS]
    for relation in made:
        is_pair = len(relation.types) == 2 and len(set(relation.types)) == 1
        is_eqrel = is_pair and draw(st.integers(0, 3)) == 0
        lines.append(relation.declaration(" eqrel" if is_eqrel else ""))
    for _ in range(draw(st.integers(1, rules))):
        place = draw(st.integers(0, len(made) - 1))
        level = place - place % 2
        lower = [*INPUTS, *made[:level]]
        if made[place].types == ("number", "number") and draw(st.integers(0, 2)) == 0:
            lines += _closure(draw, made[place], [each for each in lower if each.types == made[place].types])
            continue
        lines.append(_Rule(draw, lower, made[level : level + 2], partial).text(made[place]))
    return "\n".join(lines) + "\n"


def _closure(draw: st.DrawFn, head: Signature, arcs: Sequence[Signature]) -> list[str]:
    """The rules of a transitive closure, which is kept as a graph if nobody else looks at it."""
    closed, arc = head.name, draw(st.sampled_from(arcs)).name
    bodies = (
        f"{closed}(x, z), {arc}(z, y)",
        f"{arc}(x, z), {closed}(z, y)",
        f"{closed}(x, z), {closed}(z, y)",
    )
    return [f"{closed}(x, y) :- {arc}(x, y).", f"{closed}(x, y) :- {draw(st.sampled_from(bodies))}."]


_COLUMNS = ("number", "number", "number", "symbol", "float", "unsigned")


def literal(value: int | float | str) -> str:
    """A value as a program writes it."""
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:f}" if isinstance(value, float) else str(value)


class _Rule:
    """A rule while it is drawn: its literals so far, and the variables that have values, by type.

    `lower` are the relations that are complete before the head, `level` those that may depend on it.
    """

    def __init__(
        self, draw: st.DrawFn, lower: Sequence[Signature], level: Sequence[Signature], partial: bool
    ) -> None:
        self._partial = partial
        self._draw = draw
        self._lower = lower
        self._level = level
        self._bound: dict[str, set[str]] = {type_: set() for type_ in VALUES}
        self._literals: list[str] = []
        self._fresh = 0

    def text(self, head: Signature) -> str:
        """The rule's text."""
        if self._one_in(8):
            return f"{head.name}({', '.join(map(self._constant, head.types))})."
        for _ in range(self._number(1, 3)):
            self._literals.append(self._positive())
        kinds = (
            self._comparison,
            self._equation,
            self._negation,
            self._aggregate,
            self._permuted,
            self._text,
            self._division,
            self._either,
        )
        for _ in range(self._number(0, 3)):
            self._choice(kinds)()
        if self._partial:
            for _ in range(self._number(0, 2)):
                self._without_a_value()
                self._choice((self._comparison, self._negation, self._text, self._aggregate))()
        heads = [self._head(head) for _ in range(2 if self._one_in(8) else 1)]
        return f"{', '.join(heads)} :- {', '.join(self._draw(st.permutations(self._literals)))}."

    def _number(self, least: int, most: int) -> int:
        return self._draw(st.integers(least, most))

    def _one_in(self, count: int) -> bool:
        return self._number(1, count) == count

    def _choice(self, options: Sequence[T]) -> T:
        return self._draw(st.sampled_from(options))

    def _constant(self, type_: str) -> str:
        small = NUMBERS if type_ == "number" else VALUES[type_]
        return literal(self._choice(small)) + ("u" if type_ == "unsigned" else "")

    def _known(self, type_: str) -> str:
        """A variable that has a value, or a constant."""
        known = sorted(self._bound[type_])
        return self._choice(known) if known and not self._one_in(4) else self._constant(type_)

    def _new(self, type_: str) -> str:
        self._fresh += 1
        return f"{type_[0]}{self._fresh}"

    def _positive(self) -> str:
        relation = self._choice([*self._lower, *self._level])
        return f"{relation.name}({', '.join(map(self._pattern, relation.types))})"

    def _pattern(self, type_: str) -> str:
        """An argument of a positive atom: mostly a variable, which then has a value."""
        kind = self._number(0, 9)
        if kind == 0:
            return self._constant(type_)
        if kind == 1:
            return "_"
        if kind == 2 and type_ == "number" and self._bound["number"]:
            return f"{self._known('number')} + 1"
        name = self._choice(_NAMES[type_])
        self._bound[type_].add(name)
        return name

    def _comparison(self) -> None:
        type_ = self._choice(tuple(VALUES))
        sides = [self._known(type_), self._known(type_)]
        if type_ == "float" and self._one_in(2):
            sides[0] = f"({sides[0]} * 0.5 + 1.0)"
        if not all(side[0].isalpha() for side in sides[:1]):
            sides[0] = next(iter(sorted(self._bound[type_])), sides[0])
        self._literals.append(f"{sides[0]} {self._choice(_COMPARISONS)} {sides[1]}")

    def _equation(self) -> None:
        type_ = self._choice(("number", "unsigned", "symbol"))
        value = self._computed(type_)
        name = self._new(type_)
        self._literals.append(self._choice((f"{name} = {value}", f"{value} = {name}")))
        self._bound[type_].add(name)

    def _computed(self, type_: str) -> str:
        """Something computed, of few possible values."""
        left, right = self._known(type_), self._known(type_)
        if type_ == "number":
            operator = self._choice(("+", "-", "*", "^", "band", "bxor", "bshl", "land", "lxor"))
            right = self._choice(("0", "2", "3")) if operator == "^" else right
            inner = self._choice((f"({left} {operator} {right})", f"max({left}, {right}, 1)", f"-({left})"))
            return f"({inner} % 5)"
        if type_ == "unsigned":
            return f"(({left} {self._choice(('+', '*', 'bor'))} {right}) % 4)"
        number = self._known("number")
        whole = self._choice((f'cat({left}, {right}, "b")', f"to_string({number})", f"min({left}, {right})"))
        return f"substr({whole}, {self._choice((0, 0, 1))}, 2)"

    def _negation(self) -> None:
        relation = self._choice(self._lower)
        arguments = ["_" if self._one_in(4) else self._known(type_) for type_ in relation.types]
        self._literals.append(f"!{relation.name}({', '.join(arguments)})")

    def _text(self) -> None:
        left, right = self._known("symbol"), self._known("symbol")
        if self._one_in(4):
            name = self._new("number")
            self._literals += [f'match("[0-9]+", {left})', f"{name} = to_number({left})"]
            self._bound["number"].add(name)
        else:
            negated = self._choice(("", "!"))
            tests = (
                f"{negated}contains({left}, {right})",
                f'{negated}match("a.*|b", {right})',
                f"strlen({left}) < {self._known('number')}",
                f"{left} <= {right}",
            )
            self._literals.append(self._choice(tests))

    def _division(self) -> None:
        dividend, divisor, name = self._known("number"), self._known("number"), self._new("number")
        self._literals += [f"{divisor} != 0", f"{name} = ({dividend} {self._choice('/%')} {divisor}) % 5"]
        self._bound["number"].add(name)

    def _without_a_value(self) -> None:
        """Something that has no value for some operands, with nothing to guard it."""
        value = self._uncertain()
        kind = self._number(0, 3)
        if kind == 0:
            self._literals.append(f"{value} {self._choice(_COMPARISONS)} {self._known('number')}")
        elif kind == 1:
            self._literals.append(f"b({self._pattern('number')}, {value})")
        else:
            name = self._new("number")
            self._literals.append(f"{name} = {value}")
            self._bound["number"].add(name)

    def _uncertain(self) -> str:
        """A number that there is none of for some operands."""
        dividend, divisor, text = self._known("number"), self._known("number"), self._known("symbol")
        return self._choice((f"({dividend} {self._choice('/%')} {divisor}) % 5", f"to_number({text}) % 5"))

    def _permuted(self) -> None:
        """An aggregate over a relation, grouped by its columns in another order, and mostly its negation."""
        known = sorted(self._bound["number"])
        relations = [each for each in self._lower if each.types[:2] == ("number", "number")]
        if not known:
            return
        relation, own = self._choice(relations), f"o{self._fresh}"
        columns = [self._choice([*known, own]) for _ in relation.types[:2]]
        others = ["_"] * len(relation.types[2:])
        atom = f"{relation.name}({', '.join([*columns, *others])})"
        function = self._choice(("sum", "min", "max")) if own in columns else "count"
        name = self._new("number")
        self._literals.append(f"{name} = {function} {own if own in columns else ''} : {{ {atom} }}")
        if not self._one_in(4):
            turned = [self._choice(known) for _ in columns]
            self._literals.append(f"!{relation.name}({', '.join([*turned, *others])})")
        self._bound["number"].add(name)

    def _either(self) -> None:
        name = self._new("number")
        one, other = self._known("number"), self._known("number")
        self._literals.append(f"(b({one}, {name}) ; {name} = {other}, !a({one}) ; c({name}, _))")
        self._bound["number"].add(name)

    def _aggregate(self) -> None:
        type_, aggregate = self._aggregated(depth=0)
        if self._one_in(4) and type_ == "number":
            self._literals.append(f"{self._known('number')} {self._choice(_COMPARISONS)} {aggregate}")
        else:
            name = self._new(type_)
            self._literals.append(f"{name} = {aggregate}")
            self._bound[type_].add(name)

    def _aggregated(self, depth: int) -> tuple[str, str]:
        """The type and the text of an aggregate, over complete relations."""
        own: dict[str, set[str]] = {each: set() for each in VALUES}
        literals = [self._counted_atom(own) for _ in range(self._number(1, 2))]
        local = sorted(own["number"])
        if local and self._one_in(3):
            literals.append(f"{self._choice(local)} {self._choice(_COMPARISONS)} {self._known('number')}")
        outer = self._bound
        self._bound = {each: outer[each] | own[each] for each in VALUES}
        if self._partial and self._one_in(2):
            literals.append(f"{self._known('number')} {self._choice(_COMPARISONS)} {self._uncertain()}")
        is_nested = local and depth == 0 and self._one_in(4)
        type_, inner = self._aggregated(depth + 1) if is_nested else ("", "")
        self._bound = outer
        if type_ == "number":
            literals.append(f"{self._choice(local)} {self._choice(_COMPARISONS)} {inner}")
        body = f"{{ {', '.join(self._draw(st.permutations(literals)))} }}"
        values = [(each, name) for each in ("number", "unsigned", "float") for name in sorted(own[each])]
        if not values or self._one_in(3):
            return "number", f"count : {body}"
        type_, value = self._choice(values)
        function = self._choice(("sum", "min", "max", "mean"))
        if type_ == "number" and self._one_in(4):
            value = f"({value} + 1)"
        return "float" if function == "mean" else type_, f"{function} {value} : {body}"

    def _counted_atom(self, own: dict[str, set[str]]) -> str:
        relation = self._choice(self._lower)
        arguments = []
        for type_ in relation.types:
            kind = self._number(0, 5)
            if kind == 0:
                arguments.append("_")
            elif kind <= 2:
                arguments.append(self._known(type_))
            else:
                self._fresh += 1
                name = self._choice([*sorted(own[type_]), f"o{self._fresh}"])
                own[type_].add(name)
                arguments.append(name)
        return f"{relation.name}({', '.join(arguments)})"

    def _head(self, head: Signature) -> str:
        arguments = []
        for type_ in head.types:
            if type_ != "float" and self._one_in(4):
                arguments.append(self._computed(type_))
            else:
                arguments.append(self._known(type_))
        return f"{head.name}({', '.join(arguments)})"
