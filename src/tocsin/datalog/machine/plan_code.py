"""Plans as words: what datalog/kernels/activation.py runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tocsin.datalog.kernels import arithmetic, layout
from tocsin.datalog.language.syntax import Type, Value
from tocsin.datalog.machine.kernel_codes import FUNCTORS, KINDS
from tocsin.datalog.machine.normal_form import Constant, Expression, Test, Variable
from tocsin.datalog.machine.plans import (
    AskFollowed,
    AskSearched,
    Check,
    Compute,
    Emit,
    Follow,
    Load,
    Other,
    Plan,
    Range,
    Search,
    Some,
    Step,
)
from tocsin.datalog.machine.store import Store


class Assembler:
    """Collects the words of plans, which then go into the store's memory together."""

    def __init__(self, store: Store, word_of: Callable[[Value, Type], int]) -> None:
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
                return [layout.FOLLOW, atom, *self._heads(link), source, *self._entries(source_link, link)]
            case Search(atom, link, registers):
                nexts = self._base(link) + layout.NEXTS
                return [layout.SEARCH, atom, *self._searched(link, registers), nexts]
            case Range(atom, link, operator, register):
                record = self._store.link_record(link)
                index, member = int(record[layout.L_INDEX]), int(record[layout.L_MEMBER])
                nexts = self._base(link) + layout.NEXTS
                return [layout.RANGE, atom, index, member, register, nexts, FUNCTORS[operator]]
            case Some(link, source, source_link):
                return [layout.SOME, *self._heads(link), source, self._base(source_link) + layout.ENTRIES]
            case AskFollowed(link, source, source_link, turned, some):
                entries = self._base(source_link) + layout.ENTRIES
                return [layout.ASK_FOLLOWED, *self._heads(link), source, entries, turned, int(some)]
            case AskSearched(link, registers, turned, some, needed):
                words = [layout.ASK_SEARCHED, *self._searched(link, registers), turned, int(some)]
                return _marked(words, 0, needed)
            case Load(atom, relation, pairs):
                record = self._store.relation_record(self._store.number_of[relation])
                place = self._store.details.place([word for pair in pairs for word in pair])
                rows = int(record[layout.R_BASE]) + layout.ROWS
                arity = int(record[layout.R_ARITY])
                return [layout.LOAD, atom, rows, arity, place, len(pairs), int(atom == start)]
            case Compute(register, expression, kind, mark, needed):
                words = [layout.COMPUTE, register, *self._expression(expression, kind)]
                return _marked(words, mark, needed)
            case Check(test, mark, needed):
                return _marked([layout.TEST, 0, *self._test(test)], mark, needed)
            case Other(atom):
                return [layout.OTHER, atom]
            case Emit(relation, registers, ranked, failing):
                return [*self._emit(relation, registers, ranked), failing.value]

    def _base(self, link: int) -> int:
        return int(self._store.link_record(link)[layout.L_BASE])

    def _heads(self, link: int) -> list[int]:
        record = self._store.link_record(link)
        index = self._store.index_record(int(record[layout.L_INDEX]))
        heads = int(index[layout.I_BASE]) + layout.HEADS
        return [heads, int(index[layout.I_MEMBERS]), int(record[layout.L_MEMBER])]

    def _entries(self, source_link: int, link: int) -> list[int]:
        return [self._base(source_link) + layout.ENTRIES, self._base(link) + layout.NEXTS]

    def _searched(self, link: int, registers: Sequence[int]) -> list[int]:
        record = self._store.link_record(link)
        place = self._store.details.place(registers)
        return [int(record[layout.L_INDEX]), int(record[layout.L_MEMBER]), place]

    def _emit(self, relation: str, registers: Sequence[int], ranked: Sequence[tuple[int, str]]) -> list[int]:
        pairs: list[int] = []
        for atom, other in ranked:
            record = self._store.relation_record(self._store.number_of[other])
            pairs += [atom, int(record[layout.R_BASE]) + layout.RANKS]
        details = self._store.details
        head = self._store.number_of.get(relation, -1)
        columns = details.place(registers)
        return [layout.EMIT, head, columns, len(registers), details.place(pairs), len(ranked)]

    def _expression(self, expression: Expression, kind: Type) -> list[int]:
        start = len(self._expressions)
        self._write(expression, kind)
        return self._written(start)

    def _test(self, test: Test) -> list[int]:
        start = len(self._expressions)
        self._write(test.left, test.type)
        self._write(test.right, test.type)
        self._expressions.append(_operation(test.operator, test.type))
        return self._written(start)

    def _written(self, start: int) -> list[int]:
        end = len(self._expressions)
        self._operands = max(self._operands, end - start + 1)
        return [start, end]

    def _write(self, expression: Expression, kind: Type) -> None:
        """Append an expression in postfix order. A functor of many operands is done two by two."""
        waiting: list[tuple[Expression, Type] | int] = [(expression, kind)]
        while waiting:
            part = waiting.pop()
            if isinstance(part, int):
                self._expressions.append(part)
                continue
            term, term_kind = part
            if isinstance(term, Variable):
                self._expressions += [arithmetic.REGISTER, term.number]
            elif isinstance(term, Constant):
                self._expressions += [arithmetic.CONSTANT, self._word_of(term.value, term_kind)]
            else:
                operation = _operation(term.functor, term.type)
                first, *others = ((operand, term.type) for operand in term.operands)
                if not others:
                    waiting.append(operation)
                for other in reversed(others):
                    waiting += [operation, other]
                waiting.append(first)


def _marked(words: list[int], mark: int, needed: int) -> list[int]:
    return words + [0] * (layout.MARK - len(words)) + [mark, needed]


def _operation(functor: str, kind: Type) -> int:
    return arithmetic.FIRST_OPERATION + 3 * FUNCTORS[functor] + KINDS[kind]
