"""The activation index of a program: facts come and go, and every relation is kept as its rules say.

    stage changes  ->  settle  ->  what was added to and removed from each relation

The program is laid out when it is first settled, because by then it is known which relations are large. Rules
that nobody stores the results of (listeners) can be added at any time, and so can indexes for lookups.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np

from tocsin.arrays.dtypes import Flags, Longs
from tocsin.arrays.jit import entry_point
from tocsin.datalog.kernels import activation, fixpoint, layout, tuple_table
from tocsin.datalog.machine.closure_change import ClosureChange
from tocsin.datalog.machine.closure_graph import ClosureGraph
from tocsin.datalog.machine.index_links import Link, Side
from tocsin.datalog.machine.normal_form import JoinRule, NormalProgram
from tocsin.datalog.machine.program_layout import Listener, ProgramLayout
from tocsin.datalog.machine.python_steps import ClosureStep, outside_steps, taken_outside
from tocsin.datalog.machine.store import Store
from tocsin.datalog.machine.symbols import Symbols
from tocsin.datalog.machine.tuples import TupleCode
from tocsin.errors import DerivationError

NO_LIMIT = 2**62

UNFIT = -1
"""What a NumberChanger says of a tuple that it cannot take."""

NumberChanger = Callable[[object, bool], int]

_FAILURES = {layout.DIVISION_BY_ZERO: "division by zero", layout.NOT_A_NUMBER: "the result is not a number"}
OVERTURNED = 1 << 14
"""So many derivations must have gone in one change before all is worked out anew: about 1 ms."""

_EMISSIONS = 1 << 10
_OUTBOX = 1 << 12
_LARGEST_OUTBOX = 1 << 20


class Machine:
    """A program's relations as arrays, changed only through `change` and `settle`.

    `reported` are the relations that `change_one` counts changes of: all that rules derive, if not given.
    `limit` is how many derived tuples there may be. One that `may_start_anew` works all
    out from the facts again when a change is sooner made so.
    """

    def __init__(
        self,
        program: NormalProgram,
        symbols: Symbols,
        *,
        reported: Collection[str] | None = None,
        limit: int = NO_LIMIT,
        may_start_anew: bool = False,
    ) -> None:
        self.program = program
        self._may_start_anew = may_start_anew
        self.symbols = symbols
        self._store = Store()
        self._graphs: dict[int, ClosureStep] = {}
        self._listeners: list[Listener] = []
        self._waiting: list[tuple[int, Longs, bool]] = []
        self._planned = False
        self._texts_before = len(symbols), symbols.made
        self._codes = {
            relation.name: TupleCode(relation.name, relation.types, symbols) for relation in program.relations
        }
        self._outside = outside_steps(program, self._codes, symbols)
        senders = [step.origin for step in self._outside]
        self._program_layout = ProgramLayout(program, symbols, self._store, senders, reported)
        for step in self._outside:
            if isinstance(step, ClosureStep):
                self._graphs[self.relation(step.head)] = step
        self._control = np.zeros(layout.CONTROL_WORDS, np.int64)
        self._control[layout.ITEM_RELATION] = -1
        self._control[layout.LIMIT] = min(limit, NO_LIMIT)
        self._control[layout.LEAST_OVERTURNED] = NO_LIMIT
        self._arities = [len(relation.types) for relation in program.relations]
        self._inbox = np.zeros(1 + max(self._arities, default=0), np.int64)
        self._inbox_bytes = self._inbox.data
        self._pack = [struct.Struct(f"{arity}q").pack_into for arity in self._arities]
        self._change_one: Callable[[Longs, int, bool], int] = self._first_change_one
        self._reported = np.empty(64, np.int64)
        for slot, array in (
            (layout.CONTROL, self._control),
            (layout.INBOX, self._inbox),
            (layout.EMISSIONS, np.zeros(_EMISSIONS, np.int64)),
            (layout.OUTBOX, np.zeros(_OUTBOX, np.int64)),
            (layout.FAILURES, np.zeros(2 * len(self._program_layout.rules), np.int64)),
        ):
            self._store.memory.put(slot, array)
        for name, values in program.facts:
            self.change(self.relation(name), np.array([self._codes[name].encode(values)], np.int64), True)

    def relation(self, name: str) -> int:
        """The number by which a relation is called from here on."""
        return self._store.number_of[name]

    def change(self, relation: int, rows: Longs, insert: bool) -> None:
        """Stage facts that are given, or taken back; what is there, or is not there, changes nothing."""
        self._waiting.append((relation, np.ascontiguousarray(rows, np.int64), insert))

    def settle(self) -> None:
        """Bring all relations up to date with the staged changes.

        After an error only `given` is of use, with what was staged among it; the texts that rules have made
        by then are forgotten.
        """
        self._plan()
        self._begin_closures()
        self._texts_before = len(self.symbols), self.symbols.made
        memory = self._store.memory
        fixpoint.begin(memory.table)
        for relation, rows, insert in self._waiting:
            self._store.make_room(relation, len(rows))
            memory.put(layout.INBOX, rows.reshape(-1))
            fixpoint.stage(memory.table, relation, len(rows), insert)
        memory.put(layout.INBOX, self._inbox)
        taken_from = {relation for relation, rows, insert in self._waiting if len(rows) and not insert}
        self._waiting = []
        if taken_from and self._is_overturned_by(taken_from):
            self._start_anew()
        self._run(fixpoint.run(memory.table))

    @property
    def is_settled(self) -> bool:
        """Whether no change is half made: asked after an interrupt, which may come before one or after."""
        done = self._control[layout.COMPONENT] * layout.COMPONENT_WORDS
        return bool(
            not self._waiting
            and done >= self._store.memory.arrays[layout.COMPONENTS].size
            and not self._control[layout.FAILING]
            and not any(step.failing for step in self._outside)
        )

    def change_one(self, relation: int, row: Sequence[int], insert: bool) -> int:
        """Stage one fact and settle. How many tuples of reported relations may have changed; 0 is certain."""
        if self._waiting or not self._planned:
            self.settle()
        if self._graphs:
            self._begin_closures()
        self._pack[relation](self._inbox_bytes, 0, *row)
        status = self._change_one(self._store.memory.table, relation, insert)
        return -1 - status if status < 0 else self._finish_one(relation, insert, status)

    def number_changer(self, relation: int) -> NumberChanger | None:
        """`change_one` for tuples of numbers as users give them, at the least cost; call it after `settle`.

        It returns UNFIT, and has done nothing, for what is no tuple of so many numbers of 64 bits. None where
        closures have to be told of every change.
        """
        if self._graphs:
            return None
        memory, pack, inbox = self._store.memory, self._pack[relation], self._inbox_bytes

        def change(values: object, insert: bool) -> int:
            if type(values) is not tuple:
                return UNFIT
            for value in values:
                if type(value) is not int:
                    return UNFIT
            try:
                pack(inbox, 0, *values)
            except struct.error:
                return UNFIT
            status = self._change_one(memory.table, relation, insert)
            return -1 - status if status < 0 else self._finish_one(relation, insert, status)

        return change

    def net_change(self, relation: int) -> tuple[Longs, Longs]:
        """The rows that the last change added to a relation, and those that it removed."""
        while (counts := tuple_table.report(self._store.memory.table, relation, self._reported)) < 0:
            self._reported = np.empty(2 * -counts * self._arities[relation], np.int64)
        arity = self._arities[relation]
        came, went = counts >> 32, counts & 0xFFFFFFFF
        added = self._reported[: came * arity].reshape(came, arity).copy()
        if not went:
            return added, added[:0]
        return added, self._reported[len(self._reported) - went * arity :].reshape(went, arity).copy()

    def closure_change(self, relation: int) -> ClosureChange | None:
        """The last change of a relation that is kept as a graph, to be worked out when looked at."""
        step = self._graphs.get(relation)
        return None if step is None else step.change()

    def rows(self, relation: int) -> Longs:
        """All rows of a relation."""
        graph = self._graph(relation)
        return self._rows_with(relation, layout.PRESENT) if graph is None else graph.pairs()

    def given(self, relation: int) -> Longs:
        """The rows that were given, whether or not a rule derives them too."""
        return self._rows_with(relation, layout.GIVEN)

    def size(self, relation: int) -> int:
        """How many rows a relation has."""
        graph = self._graph(relation)
        if graph is not None:
            return graph.count()
        return int(self._store.relation_record(relation)[layout.R_LIVE])

    def holds(self, relation: int, row: Sequence[int]) -> bool:
        """Whether a relation has a row."""
        graph = self._graph(relation)
        if graph is not None:
            return graph.holds(row[0], row[1])
        return bool(self._state_of(relation, row) & layout.PRESENT)

    def held(self, relation: int, rows: Longs) -> Flags:
        """Of many rows, which a relation has."""
        graph = self._graph(relation)
        if graph is not None:
            return np.array([graph.holds(x, y) for x, y in rows.tolist()], np.bool_)
        is_there = np.empty(len(rows), np.bool_)
        listed = np.ascontiguousarray(rows).reshape(-1)
        tuple_table.find_tuples(self._store.memory.table, relation, listed, is_there)
        return is_there

    def is_given(self, relation: int, row: Sequence[int]) -> bool:
        """Whether a row was given."""
        return bool(self._state_of(relation, row) & layout.GIVEN)

    def rank(self, relation: int, row: Sequence[int]) -> int:
        """When a row became present: in a recursive relation it can be derived from rows of lower rank.

        Of a closure that is kept as a graph it is the length of a shortest path.
        """
        graph = self._graph(relation)
        if graph is not None:
            return graph.distance(row[0], row[1])
        number = self._store.find(relation, np.array(row, np.int64))
        return int(self._store.ranks(relation, np.array([number]))[0]) if number >= 0 else 0

    def component(self, relation: int) -> int:
        """A number that it shares with the relations that depend on it and it on them, and with no others."""
        return int(self._store.relation_record(relation)[layout.R_COMPONENT])

    def lookup(self, relation: int, columns: tuple[int, ...], key: Sequence[int]) -> Longs:
        """The rows with these values in these columns. The first time, an index is built for it."""
        graph = self._graph(relation)
        if graph is not None:
            return graph.lookup(columns, key)
        self._bring_up_to_date()
        name = self.program.relations[relation].name
        links = len(self._store.links.links)
        link = self._store.links.link(Link(Side(name, columns), (), counted=False))
        in_order = self._store.details.place(range(len(columns)))
        if len(self._store.links.links) > links:
            self._program_layout.arrange(self._listeners)
        self._store.write_details()
        return self._store.lookup(relation, link, key, in_order)

    def listeners(self, asked: Iterable[tuple[JoinRule, int]]) -> range:
        """Have rules asked for the tuples of one of their body atoms, without storing what they derive.

        Several at once are much quicker than one by one.
        """
        self._bring_up_to_date()
        known = len(self._listeners)
        self._listeners += [Listener(rule, atom) for rule, atom in asked]
        self._program_layout.plan_listeners(self._listeners)
        self._program_layout.arrange(self._listeners)
        return range(known, len(self._listeners))

    def fire(self, listener: int, row: Sequence[int]) -> Longs:
        """The heads of a listener's rule with this row, which must be there, in the place of its atom."""
        heard = self._listeners[listener]
        relation = self.relation(heard.rule.body[heard.atom].relation)
        number = self._store.find(relation, np.array(row, np.int64))
        if number < 0:
            raise AssertionError("a listener is asked for rows that are there")
        table = self._store.memory.table
        while (status := activation.activate(table, heard.number, number, 1)) != layout.GOES_ON:
            self._provide(status)
        return self._take_heads(heard.rule)

    def fire_all(self, listener: int) -> Longs:
        """The heads of a listener's rule for every row of its atom: whole relations at once."""
        heard = self._listeners[listener]
        number = 0
        found: list[Longs] = []
        while number >= 0:
            number = activation.activate_all(self._store.memory.table, heard.number, number)
            if number >= 0 and self._control[layout.FAILURE] != layout.GOES_ON:
                self._provide(layout.FAILED)
            if number >= 0 and not self._control[layout.EMITTED]:
                self._provide(layout.NEEDS_EMISSIONS)
            found.append(self._take_heads(heard.rule))
        return np.concatenate(found)

    def stats(self) -> dict[str, Any]:
        """Accesses as the paper counts them, and what there is."""
        elements, least = self._program_layout.constraint_elements()
        return {
            "index_accesses": int(self._control[layout.INDEX_ACCESSES]),
            "tuple_accesses": int(self._control[layout.TUPLE_ACCESSES]),
            "activations": int(self._control[layout.ACTIVATIONS]),
            "activations_without_result": int(self._control[layout.BARREN]),
            "relations": {name: self.size(number) for name, number in self._store.number_of.items()},
            "constraint_elements": elements,
            "least_constraint_elements": least,
            "data_indexes": sum(bool(members) for members in self._store.links.members),
            "links": len(self._store.links.links),
            "index_keys": self._store.keys(),
            "semantic_entries": self._store.semantic_entries(),
            "bytes": self._store.memory.bytes,
        }

    def reset_stats(self) -> None:
        """Count accesses from zero."""
        self._control[[layout.INDEX_ACCESSES, layout.TUPLE_ACCESSES, layout.ACTIVATIONS, layout.BARREN]] = 0

    def _finish_one(self, relation: int, insert: bool, status: int) -> int:
        """Give the kernel what it needs to change one tuple."""
        if status == layout.NEEDS_ROOM_FIRST:
            self._store.make_room(relation, 1)
            status = self._change_one(self._store.memory.table, relation, insert)
        if status < 0:
            return -1 - status
        self._texts_before = len(self.symbols), self.symbols.made
        self._run(status)
        return int(self._control[layout.REPORTS])

    def _first_change_one(self, table: Longs, relation: int, insert: bool) -> int:
        status = fixpoint.change_one(table, relation, insert)
        self._change_one = entry_point(fixpoint.change_one)
        return status

    def _plan(self) -> None:
        """Lay out rules before the first change, when the staged facts tell how large relations are."""
        if self._planned:
            return
        self._planned = True
        cardinalities = dict.fromkeys(self._store.number_of, 0)
        for relation, rows, insert in self._waiting:
            cardinalities[self.program.relations[relation].name] += len(rows) if insert else 0
        self._program_layout.plan_rules(cardinalities)
        self._program_layout.arrange(self._listeners)

    def _bring_up_to_date(self) -> None:
        if self._waiting or not self._planned:
            self.settle()

    def _graph(self, relation: int) -> ClosureGraph | None:
        step = self._graphs.get(relation)
        return None if step is None else step.graph

    def _begin_closures(self) -> None:
        for step in self._graphs.values():
            step.begin()

    def _state_of(self, relation: int, row: Sequence[int]) -> int:
        number = self._store.find(relation, np.array(row, np.int64))
        return self._store.state(relation, number) if number >= 0 else 0

    def _rows_with(self, relation: int, bit: int) -> Longs:
        return self._store.rows(relation, np.flatnonzero(self._store.states(relation) & bit))

    def _run(self, status: int) -> None:
        """Give the kernel what it asks for until it has finished."""
        try:
            while status != layout.FINISHED:
                self._provide(status)
                status = fixpoint.run(self._store.memory.table)
            for step in self._outside:
                for failure in step.failing.values():
                    raise failure
        except BaseException:
            self.symbols.forget(*self._texts_before)
            raise
        if self._may_start_anew:
            self._control[layout.LEAST_OVERTURNED] = OVERTURNED

    def _provide(self, status: int) -> None:
        wanting = int(self._control[layout.WANTING])
        if status == layout.NEEDS_RELATION:
            self._store.make_room(wanting, 1)
        elif status == layout.NEEDS_INDEX:
            self._store.make_index_room(wanting)
        elif status == layout.NEEDS_EMISSIONS:
            memory = self._store.memory
            memory.lengthen(layout.EMISSIONS, 2 * memory.arrays[layout.EMISSIONS].size)
        elif status == layout.NEEDS_OUTSIDE:
            self._deliver()
            outbox = self._store.memory.arrays[layout.OUTBOX]
            if outbox.size < _LARGEST_OUTBOX and self._control[layout.ITEM_RELATION] >= 0:
                self._store.memory.put(layout.OUTBOX, np.zeros(4 * outbox.size, np.int64))
        elif status == layout.GIVES_WAY:
            pass
        elif status == layout.NEEDS_NEW_START:
            self._start_anew()
        else:
            self._fail(wanting, int(self._control[layout.FAILURE]))

    def _start_anew(self) -> None:
        """Take all back that was derived, and have the given facts come again: the change goes on from there.

        Nothing is asked for that was made room for before, and what came and went is told as ever.
        """
        control = self._control
        control[[layout.DERIVED, layout.DERIVATIONS, layout.REMOVED, layout.FAILING]] = 0
        control[[layout.EMITTED, layout.TAKEN, layout.SENT, layout.COMPONENT]] = 0
        control[layout.PHASE] = layout.TAKING_AWAY
        control[layout.ITEM_RELATION] = -1
        control[layout.LEAST_OVERTURNED] = NO_LIMIT
        self._store.memory.arrays[layout.FAILURES][:] = 0
        control[layout.REPORTS] = self._store.empty()
        for step in self._outside:
            step.empty()

    def _is_overturned_by(self, taken_from: Collection[int]) -> bool:
        """Whether the facts that were just taken back are so many that to follow them is the longer way.

        Where it is not, that stands until half of all derivations have gone: else both ways would be paid.
        """
        derivations, least = self._control[layout.DERIVATIONS], self._control[layout.LEAST_OVERTURNED]
        if derivations < least:
            return False
        self._control[layout.LEAST_OVERTURNED] = max(least, derivations // 2)
        store = self._store
        going = {self.program.relations[relation].name: store.going(relation) for relation in taken_from}
        exceeds_rebuild = self._program_layout.deletion_cost.exceeds_rebuild
        return all(exceeds_rebuild(store.live, facts, going) for facts in (store.facts, store.all_facts))

    def _fail(self, rule: int, failure: int) -> None:
        if failure == layout.NEVER_COUNTED:
            raise AssertionError("a derivation that goes was counted")
        if failure == layout.TOO_MANY:
            raise too_many_tuples(int(self._control[layout.LIMIT]))
        rules = [*self._program_layout.rules, *(listener.rule for listener in self._listeners)]
        source = rules[rule].source
        raise DerivationError(_FAILURES[failure], rule=source.text if source else None)

    def _deliver(self) -> None:
        """Have the steps outside the kernels take what was laid aside for them."""
        memory, sent = self._store.memory, int(self._control[layout.SENT])
        self._control[layout.SENT] = 0
        outbox = memory.arrays[layout.OUTBOX][:sent].reshape(-1, 4).copy()
        emissions = taken_outside(self._outside, outbox, self._store)
        if emissions.size > memory.arrays[layout.EMISSIONS].size:
            memory.put(layout.EMISSIONS, np.empty(2 * emissions.size, np.int64))
        memory.arrays[layout.EMISSIONS][: emissions.size] = emissions
        self._control[layout.TAKEN] = 0
        self._control[layout.EMITTED] = emissions.size

    def _take_heads(self, rule: JoinRule) -> Longs:
        """The heads of what was emitted, which is counted for nobody."""
        width = len(rule.head.terms)
        emitted = int(self._control[layout.EMITTED])
        self._control[layout.EMITTED] = 0
        records = self._store.memory.arrays[layout.EMISSIONS][:emitted].reshape(-1, 3 + width)
        return records[:, 3:].copy()


def too_many_tuples(limit: int) -> DerivationError:
    """The error of a program that derives more than may be."""
    return DerivationError(f"more than {limit:,} tuples are derived, which is the limit")
