"""A program as it is written: blocks of declarations and rules, components still apart.

    block       what a file or a component holds, each kind in the order of the text
    component   .comp Name<T> : Base<T> { block }
    instance    .init name = Name<number>

Names are as written, types by name. `components.py` makes one flat block of all this.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tocsin.datalog.language.syntax import Directive, Place, Rule


class Named(NamedTuple):
    """A name that refers to something declared elsewhere, and where it is written."""

    name: str
    place: Place


class TypeDeclaration(NamedTuple):
    """`.type A <: B` (a subset), `.type A = B` (an alias), or `.type A = B | C` (a union)."""

    name: str
    place: Place
    subset: bool
    parts: tuple[Named, ...]


class Column(NamedTuple):
    """A column of a declared relation."""

    name: str
    type: Named
    place: Place


class RelationDeclaration(NamedTuple):
    """`.decl r(x: number, y: symbol) qualifiers`."""

    name: str
    place: Place
    columns: tuple[Column, ...]
    qualifiers: frozenset[str] = frozenset()


class ComponentType(NamedTuple):
    """A component's name with the types it is given: `Graph<number>`."""

    name: str
    arguments: tuple[str, ...]
    place: Place


class Instance(NamedTuple):
    """`.init name = Component<...>`."""

    name: str
    component: ComponentType
    place: Place


@dataclass
class Block:
    """What a file or a component says.

    `damaged` are names whose declaration could not be read: whoever uses one is not to blame.
    """

    types: list[TypeDeclaration] = field(default_factory=list)
    relations: list[RelationDeclaration] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    directives: list[Directive] = field(default_factory=list)
    components: list[Component] = field(default_factory=list)
    instances: list[Instance] = field(default_factory=list)
    overrides: list[Named] = field(default_factory=list)
    damaged: set[str] = field(default_factory=set)


@dataclass
class Component:
    """A component with its formal type parameters and the components it inherits from."""

    name: str
    parameters: tuple[str, ...]
    bases: tuple[ComponentType, ...]
    block: Block
    place: Place
