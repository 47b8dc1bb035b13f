"""Components: each `.init` puts a copy of its component's block into the program.

A copy's relations and types are named `instance.name`. Within it a name means the copy's own relation if
there is one (its own, inherited, or of an instance within it), else one of the block that the instance
stands in, and so on outwards. A component inherits all that its bases have; the rules of an `overridable`
relation that it overrides it does not. Type parameters stand for types, and for components too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tocsin.datalog.language.functors import CAST
from tocsin.datalog.language.outline import Block, Component, ComponentType, Instance, Named
from tocsin.datalog.language.sources import Problems
from tocsin.datalog.language.syntax import Argument, Constant, Operation
from tocsin.datalog.language.tree_walk import Rewriter

DEPTH = 100
"""How deep instances may stand within one another; deeper, a component contains itself."""

MOST_INSTANCES = 10_000
"""How many instances a program may have, those within others included."""


def instantiated(block: Block, problems: Problems) -> Block:
    """The program as one block without components."""
    instantiation = _Instantiation(problems)
    program = _Scope("", None, [_Part(block)])
    instantiation.build(program, 0)
    instantiation.copy(program)
    return instantiation.flat


@dataclass
class _Part:
    """The block of a component, or of one it inherits from.

    `parameters` say what type parameters stand for, `overridden` which relations lose their rules.
    """

    block: Block
    parameters: Mapping[str, str] = field(default_factory=dict)
    overridden: frozenset[str] = frozenset()


@dataclass
class _Scope:
    """One instance: its blocks (inherited ones first), what names mean in it, and the instances within it."""

    prefix: str
    outer: _Scope | None
    parts: Sequence[_Part]
    relations: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    inner: list[_Scope] = field(default_factory=list)

    def chain(self) -> Iterator[_Scope]:
        """This scope and those around it."""
        scope: _Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def relation(self, name: str) -> str:
        """The relation that a name means here."""
        return next((scope.relations[name] for scope in self.chain() if name in scope.relations), name)

    def type(self, name: str) -> str:
        """The type that a name means here."""
        return next((scope.types[name] for scope in self.chain() if name in scope.types), name)

    def component(self, name: str) -> Component | None:
        """The component that a name means here: own ones come before inherited ones."""
        for scope in self.chain():
            for part in reversed(scope.parts):
                for component in part.block.components:
                    if component.name == name:
                        return component
        return None

    def damaged(self, name: str) -> bool:
        """Whether the declaration of this name could not be read."""
        return any(name in part.block.damaged for scope in self.chain() for part in scope.parts)


class _Instantiation:
    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._instances = 0
        self.flat = Block()

    def build(self, scope: _Scope, depth: int) -> None:
        """Name all that an instance has, and the instances within it."""
        for part in scope.parts:
            self._check_components(part.block)
            for relation in part.block.relations:
                scope.relations[relation.name] = scope.prefix + relation.name
            for declared in part.block.types:
                scope.types[declared.name] = scope.prefix + declared.name
        taken: dict[str, Instance] = {}
        for part in scope.parts:
            for instance in part.block.instances:
                if instance.name in taken:
                    line = self._problems.line(taken[instance.name].place)
                    reason = f"the instance '{instance.name}' is declared in {line} already"
                    self._problems.add(instance.place, reason)
                else:
                    taken[instance.name] = instance
                    self._instantiate(scope, part, instance, depth)

    def copy(self, scope: _Scope) -> None:
        """Add what an instance has to the program, and then the instances within it."""
        for part in scope.parts:
            self._copy_part(scope, part)
        for inner in scope.inner:
            self.copy(inner)

    def _check_components(self, block: Block) -> None:
        taken: dict[str, Component] = {}
        for component in block.components:
            first = taken.setdefault(component.name, component)
            if first is not component:
                line = self._problems.line(first.place)
                reason = f"the component '{component.name}' is declared in {line} already"
                self._problems.add(component.place, reason)

    def _instantiate(self, scope: _Scope, part: _Part, instance: Instance, depth: int) -> None:
        component = self._find(scope, part.parameters, instance.component)
        if component is None:
            part.block.damaged.add(instance.name)
            return
        self._instances += 1
        if depth == DEPTH:
            self._problems.add(instance.place, f"the component '{component.name}' contains itself")
            return
        if self._instances > MOST_INSTANCES:
            self._problems.add(instance.place, f"there are more than {MOST_INSTANCES} instances")
            return
        parameters = _bound(component, instance.component, scope, part.parameters)
        parts = self._inherited(component, parameters, scope, frozenset(), ())
        inner = _Scope(f"{scope.prefix}{instance.name}.", scope, parts)
        scope.inner.append(inner)
        self.build(inner, depth + 1)
        for short, full in inner.relations.items():
            scope.relations[f"{instance.name}.{short}"] = full
        for short, full in inner.types.items():
            scope.types[f"{instance.name}.{short}"] = full

    def _find(self, scope: _Scope, parameters: Mapping[str, str], wanted: ComponentType) -> Component | None:
        name = parameters.get(wanted.name, wanted.name)
        component = scope.component(name)
        if component is None:
            if not scope.damaged(name):
                self._problems.add(wanted.place, f"there is no component '{name}'")
            return None
        if len(wanted.arguments) != len(component.parameters):
            self._problems.add(
                wanted.place,
                f"the component '{name}' has {len(component.parameters)} type parameters,"
                f" and {len(wanted.arguments)} here",
            )
            return None
        return component

    def _inherited(
        self,
        component: Component,
        parameters: Mapping[str, str],
        scope: _Scope,
        overridden: frozenset[str],
        path: tuple[Component, ...],
    ) -> list[_Part]:
        """The blocks of a component's bases, and of theirs, and then its own."""
        parts: list[_Part] = []
        further = overridden | {named.name for named in component.block.overrides}
        for wanted in component.bases:
            base = self._find(scope, parameters, wanted)
            if base is None:
                continue
            if base is component or any(base is each for each in path) or len(path) == DEPTH:
                self._problems.add(wanted.place, f"the component '{component.name}' inherits from itself")
                continue
            bound = _bound(base, wanted, scope, parameters)
            parts += self._inherited(base, bound, scope, further, (*path, component))
        self._check_overrides(component, parts)
        return [*parts, _Part(component.block, parameters, overridden)]

    def _check_overrides(self, component: Component, inherited: Sequence[_Part]) -> None:
        relations = {each.name: each for part in inherited for each in part.block.relations}
        for named in component.block.overrides:
            relation = relations.get(named.name)
            if relation is None:
                self._problems.add(named.place, f"'{named.name}' cannot be overridden: it is not inherited")
            elif "overridable" not in relation.qualifiers:
                reason = f"'{named.name}' cannot be overridden: it is not declared overridable"
                self._problems.add(named.place, reason)

    def _copy_part(self, scope: _Scope, part: _Part) -> None:
        block, flat = part.block, self.flat
        flat.damaged.update(block.damaged, (scope.prefix + name for name in block.damaged))
        if not scope.prefix:
            flat.types += block.types
            flat.relations += block.relations
            flat.rules += block.rules
            flat.directives += block.directives
            return
        naming = _Naming(scope, part.parameters)
        flat.types += [
            each._replace(name=scope.prefix + each.name, parts=tuple(map(naming.named_type, each.parts)))
            for each in block.types
        ]
        for relation in block.relations:
            columns = (each._replace(type=naming.named_type(each.type)) for each in relation.columns)
            name = scope.prefix + relation.name
            flat.relations.append(relation._replace(name=name, columns=tuple(columns)))
        for each in block.directives:
            flat.directives.append(replace(each, relation=scope.relation(each.relation)))
        for rule in block.rules:
            kept = [head for head in rule.heads if head.relation.split(".")[0] not in part.overridden]
            if kept:
                heads = tuple(map(naming.atom, kept))
                flat.rules.append(replace(rule, heads=heads, body=naming.body(rule.body)))


class _Naming(Rewriter):
    """Puts what names mean in an instance in their place."""

    def __init__(self, scope: _Scope, parameters: Mapping[str, str]) -> None:
        self._scope = scope
        self._parameters = parameters

    def relation(self, name: str) -> str:
        return self._scope.relation(name)

    def operation(self, operation: Operation, operands: tuple[Argument, ...]) -> Argument:
        if operation.functor == CAST and isinstance(operands[1], Constant):
            named = replace(operands[1], value=self._type(str(operands[1].value)))
            operands = (operands[0], named)
        return super().operation(operation, operands)

    def named_type(self, named: Named) -> Named:
        """A reference to a type."""
        return Named(self._type(named.name), named.place)

    def _type(self, name: str) -> str:
        return self._parameters.get(name) or self._scope.type(name)


def _bound(
    component: Component, given: ComponentType, scope: _Scope, parameters: Mapping[str, str]
) -> Mapping[str, str]:
    """What a component's type parameters stand for, those of the block it is used in included."""
    actual = [parameters.get(name) or scope.type(name) for name in given.arguments]
    return {**parameters, **dict(zip(component.parameters, actual, strict=True))}
