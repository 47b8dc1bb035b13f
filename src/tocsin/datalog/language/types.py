"""The types that a program declares, of columns and casts, and whether those of a rule's variables fit.

    .type A <: number          every A is a number, and no number is an A unless it is computed or written
    .type B = A                another name for A
    .type C = A | D            whatever is an A or a D; both must come down to the same primitive type

A value of type T fits where a supertype of T is wanted. A variable has the types of all columns of positive
atoms it stands in at once, and of the variables it is compared with; that there is only if one is a subtype
of the other (or their unions overlap). It must fit the columns of the heads. A computed or written value fits
any column of its primitive type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tocsin.datalog.language import syntax
from tocsin.datalog.language.functors import CAST, SIGNS, UNARY
from tocsin.datalog.language.outline import Named, TypeDeclaration
from tocsin.datalog.language.printer import print_value
from tocsin.datalog.language.scopes import written
from tocsin.datalog.language.sources import Problems
from tocsin.datalog.language.strata import components_in_order
from tocsin.datalog.language.tree_walk import Node

PRIMITIVES = {type_.value: type_ for type_ in syntax.Type}
"""The types that need no declaration."""


@dataclass(frozen=True, slots=True)
class DeclaredType:
    """A type that is not a mere alias: `parent` of a subset, or the `members` of a union.

    A primitive type has neither.
    """

    name: str
    primitive: syntax.Type
    parent: DeclaredType | None = None
    members: tuple[DeclaredType, ...] = ()

    def fits(self, wanted: DeclaredType) -> bool:
        """Whether every value of this type is one of the wanted type."""
        return all(_fits(each, wanted) for each in self.atoms())

    def atoms(self) -> tuple[DeclaredType, ...]:
        """The types other than unions that this one is made of."""
        return self.members or (self,)

    def chain(self) -> Iterable[DeclaredType]:
        """This type and all that it is a subset of."""
        at: DeclaredType | None = self
        while at is not None:
            yield at
            at = at.parent


def _fits(atom: DeclaredType, wanted: DeclaredType) -> bool:
    accepted = {id(each) for each in (wanted, *wanted.members)}
    return any(id(each) in accepted for each in atom.chain())


def common(left: Sequence[DeclaredType], right: DeclaredType) -> tuple[DeclaredType, ...]:
    """The largest types whose values are of one of the left types and of the right one."""
    found: dict[int, DeclaredType] = {}
    for each in left:
        if each.fits(right):
            found[id(each)] = each
        elif right.fits(each):
            found[id(right)] = right
        else:
            for mine in each.atoms():
                for other in right.atoms():
                    if _fits(mine, other):
                        found[id(mine)] = mine
                    elif _fits(other, mine):
                        found[id(other)] = other
    return tuple(found.values())


class Types:
    """The declared types by name."""

    def __init__(
        self, declarations: Iterable[TypeDeclaration], damaged: set[str], problems: Problems
    ) -> None:
        self._problems = problems
        self._damaged = set(damaged)
        self._by_name = {name: DeclaredType(name, type_) for name, type_ in PRIMITIVES.items()}
        self._declare(declarations)

    def find(self, named: Named) -> DeclaredType | None:
        """The type of this name; None when there is none, which is noted unless it is damaged."""
        found = self._by_name.get(named.name)
        if found is None and named.name not in self._damaged:
            self._problems.add(named.place, f"there is no type '{named.name}'")
        return found

    def _declare(self, declarations: Iterable[TypeDeclaration]) -> None:
        first: dict[str, TypeDeclaration] = {}
        for declaration in declarations:
            name = declaration.name
            if name in PRIMITIVES:
                self._problems.add(declaration.place, f"the type '{name}' cannot be declared again")
            elif name in first:
                line = self._problems.line(first[name].place)
                self._problems.add(declaration.place, f"the type '{name}' is declared in {line} already")
            else:
                first[name] = declaration
        graph = {
            name: [part.name for part in declaration.parts if part.name in first]
            for name, declaration in first.items()
        }
        for members in components_in_order(graph):
            name = min(members, key=lambda member: first[member].place)
            if len(members) > 1 or name in graph[name]:
                self._problems.add(first[name].place, f"the type '{name}' is defined by itself")
                self._damaged |= members
            else:
                self._define(first[name])

    def _define(self, declaration: TypeDeclaration) -> None:
        parts = [self.find(part) for part in declaration.parts]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            self._damaged.add(declaration.name)
            return
        name, first = declaration.name, known[0]
        primitives = {part.primitive.value: None for part in known}
        if declaration.subset and first.members:
            reason = f"'{name}' cannot be a subset of '{first.name}', which is a union"
            self._problems.add(declaration.parts[0].place, reason)
            self._damaged.add(name)
        elif declaration.subset:
            self._by_name[name] = DeclaredType(name, first.primitive, first)
        elif len(known) == 1:
            self._by_name[name] = first
        elif len(primitives) > 1:
            self._problems.add(declaration.place, f"the union '{name}' mixes {' and '.join(primitives)}")
            self._damaged.add(name)
        else:
            members = {id(atom): atom for part in known for atom in part.atoms()}
            self._by_name[name] = DeclaredType(name, first.primitive, members=tuple(members.values()))


Columns = Sequence[tuple[str, DeclaredType | None]]
"""Names and types of a relation's columns; a type is None when its declaration is in error."""


class Declared:
    """The relations and types of a program, as far as they are right."""

    def __init__(self, columns: Mapping[str, Columns], types: Types) -> None:
        self._columns = columns
        self._types = types

    def columns_of(self, atom: syntax.Atom) -> Iterator[tuple[syntax.Argument, str, DeclaredType]]:
        """The arguments of an atom with the columns they stand in, as far as those are known."""
        columns = self._columns.get(atom.relation, ())
        if len(columns) == len(atom.arguments):
            for argument, (name, declared) in zip(atom.arguments, columns, strict=True):
                if declared is not None:
                    yield argument, name, declared

    def cast_type(self, argument: syntax.Argument) -> DeclaredType | None:
        """The type that an argument is declared to be where it stands, or None."""
        if not isinstance(argument, syntax.Operation) or argument.functor != CAST:
            return None
        named = argument.operands[1]
        if not isinstance(named, syntax.Constant):
            raise AssertionError("a cast names its type")
        return self._types.find(Named(str(named.value), named.place))


def described(argument: syntax.Argument) -> str:
    """An argument as messages name it."""
    if isinstance(argument, syntax.Variable):
        return f"'{written(argument.name)}'"
    if isinstance(argument, syntax.Constant):
        return print_value(argument.value, argument.type)
    if isinstance(argument, syntax.Operation):
        return f"the result of '{written_functor(argument.functor)}'"
    return f"the result of '{argument.function}'" if isinstance(argument, syntax.Aggregate) else "'_'"


def written_functor(name: str) -> str:
    """A functor as it is written."""
    return next((word for word, functor in UNARY.items() if functor == name), name)


def check_fit(
    nodes: Sequence[Node], heads: Iterable[syntax.Atom], declared: Declared, problems: Problems
) -> None:
    """Note every variable that cannot have all of its types, or does not fit a head."""
    groups = _Groups()
    for node in nodes:
        match node:
            case syntax.Comparison(operator, syntax.Variable(left), syntax.Variable(right)):
                if operator in SIGNS:
                    groups.join(left, right)
    found: dict[str, tuple[DeclaredType, ...]] = {}
    for name, type_, place in _sources(nodes, declared):
        group = groups.of(name)
        before = found.get(group, (type_,))
        both = common(before, type_)
        if both:
            found[group] = both
        elif before[0].primitive is type_.primitive:
            shown = "' or '".join(each.name for each in before)
            problems.add(
                place,
                f"'{written(name)}' is of type '{shown}', and of type '{type_.name}' here: no value is both",
            )
    for head in heads:
        for argument, column, wanted in declared.columns_of(head):
            cast = declared.cast_type(argument)
            types: Sequence[DeclaredType] = () if cast is None else (cast,)
            if isinstance(argument, syntax.Variable):
                types = found.get(groups.of(argument.name), ())
            for each in types:
                if each.primitive is wanted.primitive and not each.fits(wanted):
                    problems.add(
                        argument.place,
                        f"{described(argument)} is of type '{each.name}', which is not a subtype of"
                        f" '{wanted.name}', the type of column '{column}' of '{head.relation}'",
                    )


def _sources(nodes: Iterable[Node], declared: Declared) -> Iterator[tuple[str, DeclaredType, syntax.Place]]:
    """Where variables get their types: columns of positive atoms, and casts they are compared with."""
    for node in nodes:
        if isinstance(node, syntax.Positive):
            for argument, _, type_ in declared.columns_of(node.atom):
                if isinstance(argument, syntax.Variable):
                    yield argument.name, type_, argument.place
        elif isinstance(node, syntax.Comparison):
            for side, other in ((node.left, node.right), (node.right, node.left)):
                cast = declared.cast_type(other)
                if isinstance(side, syntax.Variable) and cast is not None:
                    yield side.name, cast, side.place


class _Groups:
    """Variables that are compared with one another, each group by one of its names."""

    def __init__(self) -> None:
        self._towards: dict[str, str] = {}

    def of(self, name: str) -> str:
        towards = self._towards
        while (further := towards.get(name, name)) != name:
            towards[name] = towards.get(further, further)
            name = further
        return name

    def join(self, left: str, right: str) -> None:
        self._towards[self.of(left)] = self.of(right)
