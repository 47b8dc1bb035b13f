"""What is declared of the parts of rules: the columns that arguments stand in, and the types of casts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tocsin.datalog.language.aggregate_variables import written
from tocsin.datalog.language.outline import Named
from tocsin.datalog.language.printer import print_value
from tocsin.datalog.language.syntax import Aggregate, Argument, Atom, Constant, Operation, Variable
from tocsin.datalog.language.types import DeclaredType, Types
from tocsin.datalog.language.vocabulary import CAST, UNARY

Columns = Sequence[tuple[str, DeclaredType | None]]
"""Names and types of a relation's columns; a type is None when its declaration is in error."""


class Declared:
    """The relations and types of a program, as far as they are right."""

    def __init__(self, columns: Mapping[str, Columns], types: Types) -> None:
        self._columns = columns
        self._types = types

    def columns_of(self, atom: Atom) -> Iterator[tuple[Argument, str, DeclaredType]]:
        """The arguments of an atom with the columns they stand in, as far as those are known."""
        columns = self._columns.get(atom.relation, ())
        if len(columns) == len(atom.arguments):
            for argument, (name, declared) in zip(atom.arguments, columns, strict=True):
                if declared is not None:
                    yield argument, name, declared

    def cast_type(self, argument: Argument) -> DeclaredType | None:
        """The type that an argument is declared to be where it stands, or None."""
        if not isinstance(argument, Operation) or argument.functor != CAST:
            return None
        named = argument.operands[1]
        if not isinstance(named, Constant):
            raise AssertionError("a cast names its type")
        return self._types.find(Named(str(named.value), named.place))


def described(argument: Argument) -> str:
    """An argument as messages name it."""
    if isinstance(argument, Variable):
        return f"'{written(argument.name)}'"
    if isinstance(argument, Constant):
        return print_value(argument.value, argument.type)
    if isinstance(argument, Operation):
        return f"the result of '{written_functor(argument.functor)}'"
    return f"the result of '{argument.function}'" if isinstance(argument, Aggregate) else "'_'"


def written_functor(name: str) -> str:
    """A functor as it is written."""
    return _WRITTEN.get(name, name)


_WRITTEN = {functor: word for word, functor in UNARY.items()}
