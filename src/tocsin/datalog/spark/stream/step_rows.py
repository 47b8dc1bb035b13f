"""The rows that travel from step to step.

    kind        given       a fact that the user gives or takes back, as it came
                net         a tuple that came or went, whoever derived it
                support     a unit derives a tuple for one more key, or for one less
                refused     a row that is no change, as it came
    op          + or -
    relation    the program's relation
    tuple       its values as texts
    seq         which change it belongs to; None for what expires in a batch, before all that comes in it
    time        the event time of what came, in milliseconds
    reason      why it is refused

What belongs to one seq is made at once. The seqs of a batch are made in their order.

Tuples come as texts, are stored as texts, and go out so:

    number, unsigned    in decimal; read also in hex and binary, as in files of facts
    float               the shortest text that is read back as the same float
    symbol              as it is

Every value has one such text, so that equal values are equal texts: keys and state rely on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from tocsin.datalog.language.syntax import Type, Value
from tocsin.datalog.spark.stream.bucket_journal import Fact

Texts = tuple[str, ...]
Kind = Literal["given", "net", "support", "refused"]


class Moved(NamedTuple):
    """A row. At a bucket its `relation` is the name that the relation has there, that of a port."""

    kind: Kind
    op: str
    relation: str
    tuple: Texts
    seq: int | None
    time: int | None = None
    reason: str | None = None


def in_turn(changes: Iterable[Moved]) -> Iterator[tuple[int | None, list[Moved]]]:
    """The changes of each seq, in order; those that take away stand before those that give.

    So a tuple that is taken back and given in one seq is there in the end, in whatever order the rows came.
    """
    ordered = sorted(changes, key=lambda each: (each.seq is not None, each.seq or 0, each.op == "+"))
    for seq, group in groupby(ordered, key=lambda change: change.seq):
        yield seq, list(group)


def by_fact(changes: Iterable[Moved]) -> dict[Fact, list[Moved]]:
    """The changes of each tuple."""
    found: dict[Fact, list[Moved]] = {}
    for change in changes:
        found.setdefault((change.relation, *change.tuple), []).append(change)
    return found


_READERS: dict[Type, Callable[[str], Value]] = {
    Type.NUMBER: int,
    Type.UNSIGNED: int,
    Type.FLOAT: float,
    Type.SYMBOL: str,
}


def values_of(texts: Sequence[str], types: Sequence[Type]) -> tuple[Value, ...]:
    """The tuple that texts stand for, which are what `texts_of` gives."""
    return tuple([_READERS[kind](text) for text, kind in zip(texts, types, strict=True)])


def texts_of(values: Sequence[Value]) -> Texts:
    """The texts of a tuple."""
    return tuple([repr(value) if isinstance(value, float) else str(value) for value in values])
