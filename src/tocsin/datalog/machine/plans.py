"""Plans: how a rule is activated by a tuple of one of its atoms, step by step.

The steps are those of datalog/kernels/layout.py, with names in place of slots. Atoms are numbered as they
stand in the rule, negated ones behind the others; registers are the rule's variables, and behind them what a
head's constants need.
"""

from __future__ import annotations

from typing import NamedTuple

from tocsin.datalog.language.syntax import Type
from tocsin.datalog.machine.index_links import ColumnTest
from tocsin.datalog.machine.normal_form import Expression, Failing, JoinRule, Test


class Follow(NamedTuple):
    """Go through the tuples of `link` that hang in the entry where the tuple of another atom hangs."""

    atom: int
    link: int
    source: int
    source_link: int


class Search(NamedTuple):
    """Go through the tuples of `link` that hang in the entry of a key, found by search."""

    atom: int
    link: int
    registers: tuple[int, ...]


class Range(NamedTuple):
    """Go through the tuples of an ordered link whose key compares with a register as the operator says."""

    atom: int
    link: int
    operator: str
    register: int


class Some(NamedTuple):
    """Go on only if there is a tuple of `link` where the tuple of another atom hangs."""

    link: int
    source: int
    source_link: int


class AskFollowed(NamedTuple):
    """Go on only if a counted link has some tuples, or none, where the tuple of another atom hangs.

    `turned` is what is taken to hold if that is the entry which has just turned.
    """

    link: int
    source: int
    source_link: int
    turned: int
    some: bool


class AskSearched(NamedTuple):
    """The same, with a search for the entry."""

    link: int
    registers: tuple[int, ...]
    turned: int
    some: bool
    needed: int = 0


class Load(NamedTuple):
    """Read columns of an atom's tuple into registers: pairs (column, register)."""

    atom: int
    relation: str
    pairs: tuple[tuple[int, int], ...]


class Compute(NamedTuple):
    """Work out an expression into a register.

    Where it may have no value, `mark` is the bit that says so; `needed` are the bits of what a step needs.
    """

    register: int
    expression: Expression
    type: Type
    mark: int = 0
    needed: int = 0


class Check(NamedTuple):
    """Go on only if a comparison holds."""

    test: Test
    mark: int = 0
    needed: int = 0


class Other(NamedTuple):
    """Go on only if the atom stands at another tuple than the one that comes: it had its turn there."""

    atom: int


class Emit(NamedTuple):
    """A derivation: the head's columns are in registers; atoms whose rank counts, with their relations."""

    relation: str
    registers: tuple[int, ...]
    ranked: tuple[tuple[int, str], ...]
    failing: Failing = Failing.AN_ERROR


Step = Follow | Search | Range | Some | AskFollowed | AskSearched | Load | Compute | Check | Other | Emit


class Plan(NamedTuple):
    """The steps for a tuple of `relation` that passes the tests and stands for `atom` of the rule.

    Where the atom is only asked for some tuple or none, they are for the moment when an entry of the link
    `turning` turns; `is_negated` says which of the two it is asked for.
    """

    rule: JoinRule
    relation: str
    atom: int
    tests: tuple[ColumnTest, ...]
    steps: tuple[Step, ...]
    registers: int
    turning: int | None
    is_negated: bool
