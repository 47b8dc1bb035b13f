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
from numpy.typing import NDArray

from tocsin.arrays.jit import entry_point
from tocsin.datalog.kernels import activation, layout, link_entries, net_changes, settlement
from tocsin.datalog.machine.arrangement import Arrangement, Listener
from tocsin.datalog.machine.closure_change import ClosureChange
from tocsin.datalog.machine.closure_graph import ClosureGraph
from tocsin.datalog.machine.index_links import Link, Side
from tocsin.datalog.machine.memory import Words
from tocsin.datalog.machine.normal_form import AggregateRule, ClosureRule, JoinRule, MapRule, NormalProgram
from tocsin.datalog.machine.python_steps import AggregateStep, ClosureStep, Derivations, MapStep, OutsideStep
from tocsin.datalog.machine.store import Store
from tocsin.datalog.machine.symbols import Symbols
from tocsin.datalog.machine.tuples import TupleCode
from tocsin.errors import DerivationError

NO_LIMIT = 2**62

UNFIT = -1
"""What a NumberChanger says of a tuple that it cannot take."""

NumberChanger = Callable[[object, bool], int]

_FAILURES = {
    layout.DIVISION_BY_ZERO: "division by zero",
    layout.NOT_A_NUMBER: "the result is not a number",
}
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
        self._outside: list[OutsideStep] = []
        self._graphs: dict[int, ClosureStep] = {}
        self._listeners: list[Listener] = []
        self._waiting: list[tuple[int, Words, bool]] = []
        self._planned = False
        self._texts_before = len(symbols), symbols.made
        self._codes = {
            relation.name: TupleCode(relation.name, relation.types, symbols) for relation in program.relations
        }
        self._make_outside_steps()
        senders = [step.origin for step in self._outside]
        self._arrangement = Arrangement(program, symbols, self._store, senders, reported)
        for step in self._outside:
            if isinstance(step, ClosureStep):
                self._graphs[self.relation(step.head)] = step
        self._control = np.zeros(layout.CONTROL_WORDS, np.int64)
        self._control[layout.ITEM_RELATION] = -1
        self._control[layout.LIMIT] = min(limit, NO_LIMIT)
        self._control[layout.LEAST_OVERTURNED] = NO_LIMIT
        self._inbox = np.zeros(
            1 + max((len(relation.types) for relation in program.relations), default=0), np.int64
        )
        self._inbox_bytes = self._inbox.data
        self._pack = [struct.Struct(f"{len(relation.types)}q").pack_into for relation in program.relations]
        self._change_one: Callable[[Words, int, bool], int] = self._first_change_one
        self._reported = np.empty(64, np.int64)
        self._arities = [len(relation.types) for relation in program.relations]
        for slot, array in (
            (layout.CONTROL, self._control),
            (layout.INBOX, self._inbox),
            (layout.EMISSIONS, np.zeros(_EMISSIONS, np.int64)),
            (layout.OUTBOX, np.zeros(_OUTBOX, np.int64)),
            (layout.FAILURES, np.zeros(2 * len(self._arrangement.rules), np.int64)),
        ):
            self._store.memory.put(slot, array)
        for name, values in program.facts:
            self.change(self.relation(name), np.array([self._codes[name].encode(values)], np.int64), True)

    def relation(self, name: str) -> int:
        """The number by which a relation is called from here on."""
        return self._store.number_of[name]

    def change(self, relation: int, rows: Words, insert: bool) -> None:
        """Stage facts that are given, or taken back; what is there, or is not there, changes nothing."""
        self._waiting.append((relation, np.ascontiguousarray(rows, np.int64), insert))

    def settle(self) -> None:
        """Bring all relations up to date with the staged changes. After an error the machine is of no use.

        The texts that its rules have made by then are forgotten.
        """
        self._plan()
        self._begin_closures()
        self._texts_before = len(self.symbols), self.symbols.made
        memory = self._store.memory
        settlement.begin(memory.table)
        for relation, rows, insert in self._waiting:
            self._store.make_room(relation, len(rows))
            memory.put(layout.INBOX, rows.reshape(-1))
            settlement.stage(memory.table, relation, len(rows), insert)
        memory.put(layout.INBOX, self._inbox)
        taken_from = {relation for relation, rows, insert in self._waiting if len(rows) and not insert}
        self._waiting = []
        if taken_from and self._is_overturned_by(taken_from):
            self._start_anew()
        self._run(settlement.run(memory.table))

    @property
    def is_settled(self) -> bool:
        """Whether no change is half made: asked after an interrupt, which may come before one or after."""
        done = self._control[layout.COMPONENT] * layout.COMPONENT_WORDS
        return bool(
            not self._waiting
            and done >= self._store.memory.arrays[layout.COMPONENTS].size
            and not self._control[layout.FAILING]
            and not any(isinstance(step, MapStep | AggregateStep) and step.failing for step in self._outside)
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

    def added(self, relation: int) -> Words:
        """The rows that the last change added to a relation."""
        return self.net_change(relation)[0]

    def removed(self, relation: int) -> Words:
        """The rows that the last change removed from a relation."""
        return self.net_change(relation)[1]

    def net_change(self, relation: int) -> tuple[Words, Words]:
        """The rows that the last change added to a relation, and those that it removed."""
        while (counts := net_changes.report(self._store.memory.table, relation, self._reported)) < 0:
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

    def rows(self, relation: int) -> Words:
        """All rows of a relation."""
        graph = self._graph(relation)
        return self._rows_with(relation, layout.PRESENT) if graph is None else graph.pairs()

    def given(self, relation: int) -> Words:
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

    def held(self, relation: int, rows: Words) -> NDArray[np.bool_]:
        """Of many rows, which a relation has."""
        graph = self._graph(relation)
        if graph is not None:
            return np.array([graph.holds(x, y) for x, y in rows.tolist()], np.bool_)
        is_there = np.empty(len(rows), np.bool_)
        net_changes.find_rows(
            self._store.memory.table, relation, np.ascontiguousarray(rows).reshape(-1), is_there
        )
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
        record = self._store.relation_record(relation)
        number = self._store.find(relation, np.array(row, np.int64))
        if number < 0 or not record[layout.R_RECURSIVE]:
            return 0
        return int(self._store.array(int(record[layout.R_BASE]), layout.RANKS)[number])

    def lookup(self, relation: int, columns: tuple[int, ...], key: Sequence[int]) -> Words:
        """The rows with these values in these columns. The first time, an index is built for it."""
        graph = self._graph(relation)
        if graph is not None:
            return _pairs_of(graph, columns, key)
        self._bring_up_to_date()
        name = self.program.relations[relation].name
        links = len(self._store.links.links)
        link = self._store.links.link(Link(Side(name, columns), (), counted=False))
        in_order = self._store.details.place(range(len(columns)))
        if len(self._store.links.links) > links:
            self._arrangement.arrange(self._listeners)
        self._store.write_details()
        wanted = np.array(key, np.int64)
        found = np.empty(16, np.int64)
        while (
            count := link_entries.collect(self._store.memory.table, link, wanted, in_order, found)
        ) > found.size:
            found = np.empty(count, np.int64)
        return self._store.rows(relation, found[:count])

    def listener(self, rule: JoinRule, atom: int) -> int:
        """Have a rule asked for the tuples of one of its body atoms, without storing what it derives."""
        return self.listeners([(rule, atom)])[0]

    def listeners(self, asked: Iterable[tuple[JoinRule, int]]) -> range:
        """Several listeners at once, which is much quicker than one by one."""
        self._bring_up_to_date()
        known = len(self._listeners)
        self._listeners += [Listener(rule, atom) for rule, atom in asked]
        self._arrangement.plan_listeners(self._listeners)
        self._arrangement.arrange(self._listeners)
        return range(known, len(self._listeners))

    def fire(self, listener: int, row: Sequence[int]) -> Words:
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

    def fire_all(self, listener: int) -> Words:
        """The heads of a listener's rule for every row of its atom: whole relations at once."""
        heard = self._listeners[listener]
        number = 0
        found: list[Words] = []
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
        elements, least = self._arrangement.constraint_elements()
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
        for field in (layout.INDEX_ACCESSES, layout.TUPLE_ACCESSES, layout.ACTIVATIONS, layout.BARREN):
            self._control[field] = 0

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

    def _first_change_one(self, table: Words, relation: int, insert: bool) -> int:
        status = settlement.change_one(table, relation, insert)
        self._change_one = entry_point(settlement.change_one)
        return status

    def _make_outside_steps(self) -> None:
        for step in self.program.steps:
            if isinstance(step, MapRule):
                self._outside.append(
                    MapStep(step, self._codes[step.origin], self._codes[step.head], self.symbols)
                )
            elif isinstance(step, AggregateRule):
                self._outside.append(AggregateStep(step, self.symbols, self._codes[step.head]))
            elif isinstance(step, ClosureRule):
                self._outside.append(ClosureStep(step))

    def _plan(self) -> None:
        """Lay out rules before the first change, when the staged facts tell how large relations are."""
        if self._planned:
            return
        self._planned = True
        cardinalities = dict.fromkeys(self._store.number_of, 0)
        for relation, rows, insert in self._waiting:
            cardinalities[self.program.relations[relation].name] += len(rows) if insert else 0
        self._arrangement.plan_rules(cardinalities)
        self._arrangement.arrange(self._listeners)

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

    def _rows_with(self, relation: int, bit: int) -> Words:
        return self._store.rows(relation, np.flatnonzero(self._store.states(relation) & bit))

    def _run(self, status: int) -> None:
        """Give the kernel what it asks for until it has finished."""
        try:
            while status != layout.FINISHED:
                self._provide(status)
                status = settlement.run(self._store.memory.table)
            for step in self._outside:
                if isinstance(step, MapStep | AggregateStep) and step.failing:
                    raise next(iter(step.failing.values()))
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
        for field in (layout.DERIVED, layout.DERIVATIONS, layout.REMOVED, layout.FAILING):
            control[field] = 0
        for field in (layout.EMITTED, layout.TAKEN, layout.SENT, layout.COMPONENT):
            control[field] = 0
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
        going = {self.program.relations[relation].name: self._going(relation) for relation in taken_from}
        upheaval = self._arrangement.upheaval
        return all(upheaval.is_made(self._live, facts, going) for facts in (self._facts, self._all_facts))

    def _live(self, name: str) -> int:
        return int(self._store.relation_record(self.relation(name))[layout.R_LIVE])

    def _facts(self, name: str) -> int:
        """How many rows a relation has, if no rule derives any."""
        record = self._store.relation_record(self.relation(name))
        return 0 if record[layout.R_DERIVED] else int(record[layout.R_LIVE])

    def _all_facts(self, name: str) -> int:
        """How many rows of a relation are given; all must be looked at, where rules derive some."""
        given = self._store.states(self.relation(name)) & layout.GIVEN
        return self._facts(name) or int(np.count_nonzero(given))

    def _going(self, relation: int) -> int:
        """How many tuples of a relation are about to go."""
        record = self._store.relation_record(relation)
        pending = self._store.array(int(record[layout.R_BASE]), layout.PENDING)[: record[layout.R_PENDING]]
        states = self._store.array(int(record[layout.R_BASE]), layout.STATES)
        return int(np.count_nonzero(states[pending] & layout.PRESENT))

    def _fail(self, rule: int, failure: int) -> None:
        if failure == layout.NEVER_COUNTED:
            raise AssertionError("a derivation that goes was counted")
        if failure == layout.TOO_MANY:
            limit = self._control[layout.LIMIT]
            raise DerivationError(f"more than {limit:,} tuples are derived, which is the limit")
        rules = [*self._arrangement.rules, *(listener.rule for listener in self._listeners)]
        source = rules[rule].source
        raise DerivationError(_FAILURES[failure], rule=source.text if source else None)

    def _deliver(self) -> None:
        """Have the steps outside the kernels take what was laid aside for them."""
        sent = int(self._control[layout.SENT])
        self._control[layout.SENT] = 0
        outbox = self._store.memory.arrays[layout.OUTBOX][:sent].reshape(-1, 4).copy()
        found: list[Words] = []
        for place in np.unique(outbox[:, 0]).tolist():
            of_step = outbox[outbox[:, 0] == place]
            relation, numbers = int(of_step[0, 1]), of_step[:, 2]
            derivations = self._outside[place].take(
                self._store.rows(relation, numbers), of_step[:, 3], self._store.ranks(relation, numbers)
            )
            if derivations is not None:
                found.append(self._emissions(derivations))
        emissions = np.concatenate([*found, np.empty(0, np.int64)])
        memory = self._store.memory
        if emissions.size > memory.arrays[layout.EMISSIONS].size:
            memory.put(layout.EMISSIONS, np.empty(2 * emissions.size, np.int64))
        memory.arrays[layout.EMISSIONS][: emissions.size] = emissions
        self._control[layout.TAKEN] = 0
        self._control[layout.EMITTED] = emissions.size

    def _emissions(self, derivations: Derivations) -> Words:
        head = np.full(len(derivations.rows), self.relation(derivations.head), np.int64)
        front = np.stack((head, derivations.signs, derivations.ranks), axis=1)
        return np.concatenate((front, derivations.rows), axis=1).reshape(-1)

    def _take_heads(self, rule: JoinRule) -> Words:
        """The heads of what was emitted, which is counted for nobody."""
        width = len(rule.head.terms)
        emitted = int(self._control[layout.EMITTED])
        self._control[layout.EMITTED] = 0
        records = self._store.memory.arrays[layout.EMISSIONS][:emitted].reshape(-1, 3 + width)
        return records[:, 3:].copy()


def _pairs_of(graph: ClosureGraph, columns: tuple[int, ...], key: Sequence[int]) -> Words:
    """The pairs of a closure with these values in these columns."""
    wanted = dict(zip(columns, key, strict=True))
    if not wanted:
        return graph.pairs()
    if len(wanted) == 2:
        found = [[wanted[0], wanted[1]]] if graph.holds(wanted[0], wanted[1]) else []
        return np.array(found, np.int64).reshape(-1, 2)
    others = graph.from_(wanted[0]) if 0 in wanted else graph.to(wanted[1])
    known = np.full(len(others), next(iter(wanted.values())), np.int64)
    return np.stack((known, others) if 0 in wanted else (others, known), axis=1)
