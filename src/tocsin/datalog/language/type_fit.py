"""Whether the declared types of a rule's variables go together, and fit the columns of its heads.

A variable has the types of all columns of positive atoms it stands in at once, and of the variables it is
compared with, and must fit the columns of the heads. A computed or written value fits any column of its
primitive type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tocsin.datalog.language.aggregate_variables import written
from tocsin.datalog.language.declared_types import Declared, described
from tocsin.datalog.language.problems import Problems
from tocsin.datalog.language.syntax import Atom, Comparison, Place, Positive, Variable
from tocsin.datalog.language.tree_walk import Node
from tocsin.datalog.language.types import DeclaredType, common
from tocsin.datalog.language.vocabulary import COMPARISONS


def check_fit(nodes: Sequence[Node], heads: Iterable[Atom], declared: Declared, problems: Problems) -> None:
    """Note every variable that cannot have all of its types, or does not fit a head."""
    groups = _Groups()
    for node in nodes:
        if not isinstance(node, Comparison) or node.operator not in COMPARISONS:
            continue
        if isinstance(node.left, Variable) and isinstance(node.right, Variable):
            groups.join(node.left.name, node.right.name)
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
            if isinstance(argument, Variable):
                types = found.get(groups.of(argument.name), ())
            for each in types:
                if each.primitive is wanted.primitive and not each.fits(wanted):
                    problems.add(
                        argument.place,
                        f"{described(argument)} is of type '{each.name}', which is not a subtype of"
                        f" '{wanted.name}', the type of column '{column}' of '{head.relation}'",
                    )


def _sources(nodes: Iterable[Node], declared: Declared) -> Iterator[tuple[str, DeclaredType, Place]]:
    """Where variables get their types: columns of positive atoms, and casts they are compared with."""
    for node in nodes:
        if isinstance(node, Positive):
            for argument, _, type_ in declared.columns_of(node.atom):
                if isinstance(argument, Variable):
                    yield argument.name, type_, argument.place
        elif isinstance(node, Comparison):
            for side, other in ((node.left, node.right), (node.right, node.left)):
                cast = declared.cast_type(other)
                if isinstance(side, Variable) and cast is not None:
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
        first, second = self.of(left), self.of(right)
        if first != second:
            self._towards[first] = second
