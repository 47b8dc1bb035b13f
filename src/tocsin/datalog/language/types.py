"""The types that a program declares.

    .type A <: number          every A is a number, and no number is an A unless it is computed or written
    .type B = A                another name for A
    .type C = A | D            whatever is an A or a D; both must come down to the same primitive type

A value of type T fits where a supertype of T is wanted. A variable that is an A here and a B there is
both, which there is only if one of them is a subtype of the other (or their unions overlap).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tocsin.datalog.language.outline import Named, TypeDeclaration
from tocsin.datalog.language.problems import Problems
from tocsin.datalog.language.strata import components_in_order
from tocsin.datalog.language.syntax import Type

PRIMITIVES = {type_.value: type_ for type_ in Type}
"""The types that need no declaration."""


@dataclass(frozen=True, slots=True)
class DeclaredType:
    """A type that is not a mere alias: `parent` of a subset, or the `members` of a union.

    A primitive type has neither.
    """

    name: str
    primitive: Type
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
        if declaration.subset:
            self._define_subset(declaration, known[0])
        elif len(known) == 1:
            self._by_name[declaration.name] = known[0]
        else:
            self._define_union(declaration, known)

    def _define_subset(self, declaration: TypeDeclaration, parent: DeclaredType) -> None:
        if parent.members:
            self._problems.add(
                declaration.parts[0].place,
                f"'{declaration.name}' cannot be a subset of '{parent.name}', which is a union",
            )
            self._damaged.add(declaration.name)
            return
        self._by_name[declaration.name] = DeclaredType(declaration.name, parent.primitive, parent)

    def _define_union(self, declaration: TypeDeclaration, parts: Sequence[DeclaredType]) -> None:
        primitives = {part.primitive.value: None for part in parts}
        if len(primitives) > 1:
            self._problems.add(
                declaration.place,
                f"the union '{declaration.name}' mixes {' and '.join(primitives)}",
            )
            self._damaged.add(declaration.name)
            return
        members = {id(atom): atom for part in parts for atom in part.atoms()}
        self._by_name[declaration.name] = DeclaredType(
            declaration.name, parts[0].primitive, members=tuple(members.values())
        )
