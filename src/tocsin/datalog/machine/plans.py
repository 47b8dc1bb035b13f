"""Plans: how a rule is activated by a tuple of one of its atoms, step by step; and their words.

The steps are those of datalog/kernels/layout.py, with names in place of slots. Atoms are numbered as they
stand in the rule, negated ones behind the others; registers are the rule's variables, and behind them what a
head's constants need. The words that an Assembler makes of them are what datalog/kernels/activation.py runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tocsin.datalog.kernels import arithmetic, layout
from tocsin.datalog.language.functors import KERNEL_NAMES
from tocsin.datalog.language.syntax import Type, Value
from tocsin.datalog.machine.index_links import ColumnTest
from tocsin.datalog.machine.normal_form import Constant, Expression, Failing, JoinRule, Test, Variable
from tocsin.datalog.machine.store import KINDS, Store

FUNCTORS: dict[str, int] = {name: getattr(arithmetic, kernel) for name, kernel in KERNEL_NAMES.items()}
"""What functors are called in kernels."""

WordOf = Callable[[Value, Type], int]


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


class Assembler:
    """Collects the words of plans, which then go into the store's memory together."""

    def __init__(self, store: Store, word_of: WordOf) -> None:
        self._store = store
        self._word_of = word_of
        self._plans: list[int] = []
        self._steps: list[int] = []
        self._expressions: list[int] = []
        self._registers = 1
        self._atoms = 1
        self._operands = 2

    def add(self, plan: Plan, rule: int) -> int:
        """The number of a plan; `rule` is what a failure is reported with."""
        number = len(self._plans) // layout.PLAN
        start, end = self._store.details.tests(plan.tests)
        relation = self._store.number_of[plan.relation]
        self._plans += [relation, plan.atom, len(self._steps), start, end, rule]
        for step in plan.steps:
            words = self._words(step, plan.atom)
            self._steps += words + [0] * (layout.STEP - len(words))
        self._registers = max(self._registers, plan.registers)
        self._atoms = max(self._atoms, len(plan.rule.body) + len(plan.rule.negated))
        return number

    def write(self) -> None:
        """Put everything where kernels find it."""
        memory = self._store.memory
        for slot, words in (
            (layout.PLANS, self._plans),
            (layout.STEPS, self._steps),
            (layout.EXPRESSIONS, self._expressions),
        ):
            memory.put(slot, np.array(words, np.int64))
        for slot, length in (
            (layout.REGISTERS, self._registers),
            (layout.TUPLES, self._atoms),
            (layout.CURSORS, self._atoms),
            (layout.NODES, self._atoms),
            (layout.OPERANDS, self._operands),
        ):
            memory.put(slot, np.zeros(length, np.int64))
        self._store.write_details()

    def _words(self, step: Step, start: int) -> list[int]:
        match step:
            case Follow(atom, link, source, source_link):
                return [layout.FOLLOW, atom, *self._followed(link, source, source_link), self._nexts(link)]
            case Search(atom, link, registers):
                return [layout.SEARCH, atom, *self._searched(link, registers), self._nexts(link)]
            case Range(atom, link, operator, register):
                bound = [register, self._nexts(link), FUNCTORS[operator]]
                return [layout.RANGE, atom, *self._member(link), *bound]
            case Some(link, source, source_link):
                return [layout.SOME, *self._followed(link, source, source_link)]
            case AskFollowed(link, source, source_link, turned, some):
                return [layout.ASK_FOLLOWED, *self._followed(link, source, source_link), turned, int(some)]
            case AskSearched(link, registers, turned, some, needed):
                words = [layout.ASK_SEARCHED, *self._searched(link, registers), turned, int(some)]
                return _marked(words, 0, needed)
            case Load(atom, relation, pairs):
                place = self._store.details.place([word for pair in pairs for word in pair])
                record = self._store.relation_record(self._store.number_of[relation])
                rows, arity = int(record[layout.R_BASE]) + layout.ROWS, int(record[layout.R_ARITY])
                return [layout.LOAD, atom, rows, arity, place, len(pairs), int(atom == start)]
            case Compute(register, expression, kind, mark, needed):
                written = self._placed(written_expression(expression, kind, self._word_of))
                return _marked([layout.COMPUTE, register, *written], mark, needed)
            case Check(test, mark, needed):
                written = self._placed(written_test(test, self._word_of))
                return _marked([layout.TEST, 0, *written], mark, needed)
            case Other(atom):
                return [layout.OTHER, atom]
            case Emit(relation, registers, ranked, failing):
                columns = self._store.details.place(registers)
                head = self._store.number_of.get(relation, -1)
                ranks = self._store.details.place([word for pair in ranked for word in self._rank(*pair)])
                return [layout.EMIT, head, columns, len(registers), ranks, len(ranked), failing.value]

    def _nexts(self, link: int) -> int:
        return int(self._store.link_record(link)[layout.L_BASE]) + layout.NEXTS

    def _rank(self, atom: int, relation: str) -> tuple[int, int]:
        record = self._store.relation_record(self._store.number_of[relation])
        return atom, int(record[layout.R_BASE]) + layout.RANKS

    def _member(self, link: int) -> list[int]:
        record = self._store.link_record(link)
        return [int(record[layout.L_INDEX]), int(record[layout.L_MEMBER])]

    def _searched(self, link: int, registers: Sequence[int]) -> list[int]:
        return [*self._member(link), self._store.details.place(registers)]

    def _followed(self, link: int, source: int, source_link: int) -> list[int]:
        """Where the heads of a link's index are, and where the entry of another atom's tuple is found."""
        index, member = self._member(link)
        record = self._store.index_record(index)
        heads = [int(record[layout.I_BASE]) + layout.HEADS, int(record[layout.I_MEMBERS]), member]
        base = int(self._store.link_record(source_link)[layout.L_BASE])
        return [*heads, source, base + layout.ENTRIES]

    def _placed(self, written: list[int]) -> list[int]:
        """From where to where an expression stands that has now been added."""
        start = len(self._expressions)
        self._expressions += written
        self._operands = max(self._operands, len(written) + 1)
        return [start, len(self._expressions)]


def written_expression(expression: Expression, kind: Type, word_of: WordOf) -> list[int]:
    """An expression in postfix order, as kernels read it."""
    return _written([(expression, kind)], word_of)


def written_test(test: Test, word_of: WordOf) -> list[int]:
    """What says whether a test holds, likewise."""
    operator, left, right, kind = test
    return _written([_operation(operator, kind), (right, kind), (left, kind)], word_of)


def _written(waiting: list[tuple[Expression, Type] | int], word_of: WordOf) -> list[int]:
    """A stack of expressions and operations in postfix order, the last first.

    A functor of many operands is done two by two.
    """
    written: list[int] = []
    while waiting:
        part = waiting.pop()
        if isinstance(part, int):
            written.append(part)
            continue
        term, kind = part
        if isinstance(term, Variable):
            written += [arithmetic.REGISTER, term.number]
        elif isinstance(term, Constant):
            written += [arithmetic.CONSTANT, word_of(term.value, kind)]
        else:
            operation = _operation(term.functor, term.type)
            first, *others = ((operand, term.type) for operand in term.operands)
            if not others:
                waiting.append(operation)
            for other in reversed(others):
                waiting += [operation, other]
            waiting.append(first)
    return written


def _marked(words: Sequence[int], mark: int, needed: int) -> list[int]:
    return [*words, *[0] * (layout.MARK - len(words)), mark, needed]


def _operation(functor: str, kind: Type) -> int:
    return arithmetic.FIRST_OPERATION + 3 * FUNCTORS[functor] + KINDS[kind]
