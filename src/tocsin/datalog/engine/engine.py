"""A program at work: facts come and go, and each change says at once what follows from it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn, Self

import numpy as np
import pyarrow as pa

from tocsin.datalog.engine import base_facts, requests
from tocsin.datalog.engine.changes import Changes, Reported, Tuple, difference
from tocsin.datalog.engine.derivations import Absence, Derivation
from tocsin.datalog.engine.expiry import Fact, Time
from tocsin.datalog.engine.machines import Held, Started, Starter, facts_of, start_machine
from tocsin.datalog.engine.program import Program
from tocsin.datalog.engine.why import Deriver
from tocsin.datalog.machine.tuples import Rows, TupleCode
from tocsin.display import SHOWN, Display, Displayed, Grid
from tocsin.errors import DerivationError, TocsinError, UnsupportedError, UsageError, tell, telling

_FEW = 64
"""Of so many facts each is asked whether it was given; of more, all facts of the relation are remembered."""


class Engine(Displayed):
    """Relations that always hold exactly what facts and rules say. Made by Program.start or tocsin.open.

    Facts may be given to every declared relation, also to one that rules derive. The facts that stand in
    the program are given at the start, and can be deleted like any other. A change that cannot be
    made (a tuple of the wrong shape, a division by zero somewhere down the line, Ctrl-C) raises, and nothing
    has changed: what was there is worked out again by the next call. One thread at a time may use an engine.
    """

    def __init__(self, state: base_facts.EngineState, starter: Starter = start_machine) -> None:
        program, self._local, self._limit, self._symbols, given, self._expiry = state
        self._starter = starter
        self._made = 0  # changes of many facts that were made and not undone
        self._take(program, self._filled(program, given))

    @property
    def program(self) -> Program:
        """The program as it is now, with the rules that were added and without those removed."""
        return self._program

    @property
    def now(self) -> Time:
        """The time that `advance` was last given; 0 before."""
        return self._expiry.now

    def insert(self, relation: str, values: Tuple, ttl: Time | None = None) -> Changes:
        """Give a fact; what became derivable and what ceased to be.

        With `ttl` the fact expires when so much time has passed. Given again, it lives for the time
        that it is given then (for ever without one); this changes no relation.
        """
        try:  # `telling` would be a call more
            try:
                door = self._doors[relation]
            except (KeyError, TypeError):
                raise requests.unknown_relation(relation, self._doors) from None
            if door.change is not None and ttl is None and not self._expiry.moments:
                try:
                    count = door.change(values, True)
                except BaseException as error:
                    self._give_up(error, door.taking, door.encode(values), was_given=False)
                if count >= 0:
                    return self._collected() if count else self._nothing
            row = door.encode(values)
            taking = door.taking
            if ttl is not None:
                requests.check_ttl(ttl)
            if taking < 0:
                self._open([relation])
                taking = self._doors[relation].taking
            count = self._change_timed(relation, taking, row, True, ttl)
            return self._collected() if count or self._implicit else self._nothing
        except (MemoryError, SystemError, TocsinError) as error:
            tell(error, "inserting a tuple")

    def delete(self, relation: str, values: Tuple) -> Changes:
        """Take a fact back; what ceased to be derivable, and what became so.

        A tuple that rules derive stays as long as they do. One that was not given: nothing changes.
        """
        try:  # `telling` would be a call more
            try:
                door = self._doors[relation]
            except (KeyError, TypeError):
                raise requests.unknown_relation(relation, self._doors) from None
            if door.change is not None and not self._expiry.moments:
                try:
                    count = door.change(values, False)
                except BaseException as error:
                    self._give_up(error, door.taking, door.encode(values), was_given=True)
                if count >= 0:
                    return self._collected() if count else self._nothing
            row = door.encode(values)
            taking = door.taking
            if taking < 0:  # it takes no facts, so none was given
                return self._nothing
            count = self._change_timed(relation, taking, row, False, None)
            return self._collected() if count or self._implicit else self._nothing
        except (MemoryError, SystemError, TocsinError) as error:
            tell(error, "deleting a tuple")

    @telling("changing tuples")
    def apply(self, operations: Iterable[requests.Operation], ttl: Time | None = None) -> Changes:
        """Make several changes at once, all or none; the net change.

            engine.apply([("+", "arc", (1, 2)), ("-", "arc", (2, 3))])

        Of several changes to one tuple the last one counts. `ttl` is for all insertions.
        """
        if ttl is not None:
            requests.check_ttl(ttl)
        wanted = requests.read_operations(operations, self._codes_of_all)
        return self._give(requests.by_relation(wanted, self._codes_of_all), ttl)

    @telling("loading tuples")
    def load(self, relation: str, source: requests.Source, ttl: Time | None = None) -> Changes:
        """Give many facts of one relation: a table of any kind, a file (.facts, .csv, .parquet), or tuples.

        Columns of a table go by name if its names are those of the declaration, else by position.
        """
        door = self._door(relation)
        if ttl is not None:
            requests.check_ttl(ttl)
        rows = requests.rows_of_source(source, door.code)
        return self._give({relation: (rows[:0], rows)}, ttl)

    @telling("advancing the time")
    def advance(self, now: Time) -> Changes:
        """It is that time now: what expires until then, or at that moment, goes at once; the net change."""
        if not requests.is_time(now) or now < self._expiry.now:
            raise UsageError(f"time moves forward: from {self._expiry.now} to {now!r} it cannot")
        made, due = self._made, []
        try:
            due = self._expiry.due(now)
            changes = self._change_many(requests.by_relation(dict.fromkeys(due, False), self._codes_of_all))
            self._expiry.passed(now, due)
        except BaseException:
            if self._made == made:
                self._expiry.stayed()
            else:
                self._expiry.passed(now, due)
            raise
        return changes if due else self._nothing

    @telling("answering a query")
    def query(self, relation: str, pattern: requests.Pattern | None = None) -> list[Tuple]:
        """The tuples of a relation, in typed order: all, or those that fit a pattern.

        A pattern is a tuple with None where any value will do, or a mapping from column to value.
        """
        code = self._door(relation).code
        return code.decode_rows(code.in_order(self._found(relation, pattern)))

    @telling("answering a query")
    def table(self, relation: str, pattern: requests.Pattern | None = None) -> pa.Table:
        """What `query` gives, as an Arrow table."""
        code = self._door(relation).code
        return code.table(code.in_order(self._found(relation, pattern)))

    def holds(self, relation: str, values: Tuple) -> bool:
        """Whether a tuple is in a relation."""
        door = self._door(relation)
        return self._machine.holds(door.number, door.code.encode(values))

    def size(self, relation: str) -> int:
        """How many tuples a relation has."""
        return self._machine.size(self._door(relation).number)

    @telling("explaining a tuple")
    def why(self, relation: str, values: Tuple) -> Derivation | Absence:
        """One derivation of a tuple, down to given facts; of a tuple that is not there, what is in the way.

        A Derivation is true and an Absence is false; both can be printed.
        """
        values = self._door(relation).code.decode(self._door(relation).encode(values))
        deriver = Deriver(self._program.bare, self._local)
        try:
            return deriver.why(Held(self._started, self._codes_of_all), relation, values)
        except DerivationError:
            if all(self._machine.closure_change(door.number) is None for door in self._doors.values()):
                raise
            # The ranks of an implicit relation are lengths of paths, which do not fit every rule.
            explicit = self._filled(self._program, self._given(), implicit=False)
            return deriver.why(Held(explicit, self._codes_of_all), relation, values)

    def __contains__(self, relation: object) -> bool:
        return relation in self._doors

    def __iter__(self) -> Iterator[str]:
        return iter(self._doors)

    def __reduce__(self) -> NoReturn:
        raise UnsupportedError("an engine cannot be pickled: save it, and open the file with tocsin.open")

    def __repr__(self) -> str:
        return f"<tocsin.Engine of {self._program!r}>"

    def _display(self) -> Display:
        derived = set(self._program.derived)
        rows = (
            (f"{name}({', '.join(door.code.columns)})", "by rules" * (name in derived), self.size(name))
            for name, door in self._doors.items()
        )
        grid = Grid.of(("relation", "", "tuples"), rows, len(self._doors), 4 * SHOWN)
        return Display(repr(self)[1:-1], [("", grid)])

    @telling("adding a rule")
    def add_rule(self, text: str) -> Changes:
        """Take in another rule, with declarations if it needs some; what it makes come and go.

        Facts in the text are given. RuleError when the program with it has errors: nothing has changed then.
        """
        program = self._program.with_rules(text)
        new = Counter(facts_of(program.checked)) - Counter(facts_of(self._program.checked))
        codes = program.codes(self._symbols)
        given = base_facts.joined(self._given(), base_facts.rows_of_facts(new.elements(), codes))
        facts = [(relation, codes[relation].encode(values)) for relation, values in new]
        before = {fact: self._expiry.moments.get(fact) for fact in facts}
        try:
            for fact in facts:
                self._expiry.set(fact, None)
            return self._replace(program, given)
        except BaseException:
            if self._program is not program:
                self._expiry.put_back(before)
            raise

    @telling("removing a rule")
    def remove_rule(self, rule: str | int) -> Changes:
        """Give up a rule, named by its text or by its place in `program.rules`, from 0."""
        return self._replace(self._program.without_rule(rule), self._given())

    @telling("saving the engine")
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write program, facts and times to one file, whole or not at all; tocsin.open takes them up."""
        from tocsin.datalog.engine.engine_file import save_engine

        given = self._given()
        state = base_facts.EngineState(
            self._program, self._local, self._limit, self._symbols, given, self._expiry
        )
        save_engine(state, self._codes_of_all, path)

    def close(self) -> None:
        """Let go of the journal, if there is one: it can be opened elsewhere then."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def stats(self) -> dict[str, Any]:
        """Tuples by relation, and the machine's counts: index accesses, tuple accesses, bytes by part."""
        counted = dict(self._machine.stats())
        counted["relations"] = {name: self.size(name) for name in self._doors}
        counted["symbols"] = len(self._symbols)
        return counted

    def code(self, relation: str) -> TupleCode:
        """How the tuples of a relation are written as words."""
        return self._door(relation).code

    def rows(self, relation: str) -> Rows:
        """The tuples of a relation as words, in no order."""
        return self._machine.rows(self._door(relation).number)

    def _filled(
        self, program: Program, given: base_facts.Given, fed: Iterable[str] = (), *, implicit: bool = True
    ) -> Started:
        """A machine with these facts in it, that takes more for the relations `fed`."""
        program.check_local(self._local)
        given = {name: rows for name, rows in given.items() if len(rows)}
        fed = {*given, *fed}
        started = self._starter(program, fed, self._local, self._symbols, self._limit, implicit)
        for name, rows in given.items():
            started.machine.change(started.machine.relation(started.taking[name]), rows, True)
        started.machine.settle()
        return started

    def _open(self, relations: Iterable[str]) -> None:
        """Have relations take facts that were kept in a way that takes none: all of them in one machine.

        Another machine keeps those implicit again that nothing was given to.
        """
        fed = [*relations]
        self._take(self._program, self._filled(self._program, self._given(), fed))
        if any(self._doors[relation].taking < 0 for relation in fed):
            raise AssertionError("a relation takes facts once it is opened")

    def _take(self, program: Program, started: Started) -> None:
        """From now on it is this program, in this machine: all of it, or nothing when it is interrupted.

        Python looks at signals where something is called, so nothing is called between the assignments.
        """
        machine = started.machine
        codes = program.codes(self._symbols)
        doors = {name: base_facts.door_of(started, name, code) for name, code in codes.items()}
        reported = Reported(machine, [(name, *doors[name][:2]) for name in program.outputs])
        collected, implicit, nothing = reported.changes, reported.implicit, reported.nothing
        change_one = machine.change_one

        self._program = program
        self._started = started
        self._machine = machine
        self._change_one = change_one
        self._doors = doors
        self._reported = reported
        self._collected = collected
        self._implicit = implicit
        self._nothing = nothing

    def _given(self) -> base_facts.Given:
        return base_facts.given_facts(self._machine, dict(self._doors.items()))

    def _replace(self, program: Program, given: base_facts.Given) -> Changes:
        """Put another program in the place of this one; how the relations differ."""
        started = self._filled(program, given)
        before = {name: self._machine.rows(door.number) for name, door in self._doors.items()}
        heard = self._reported.codes
        self._take(program, started)
        told = {name: self._doors[name][:2] for name in {**heard, **self._reported.codes}}
        return difference(self._machine, told, before)

    def _give(self, facts: Mapping[str, tuple[Rows, Rows]], ttl: Time | None) -> Changes:
        """Take away some facts of each relation, and give others for that time; the net change."""
        if ttl is None and not self._expiry.moments:
            return self._change_many(facts)
        made = self._made
        before: dict[Fact, Time | None] = {}
        try:
            for relation, changes in facts.items():
                for rows, time in zip(changes, (None, ttl), strict=True):
                    for row in map(tuple, rows.tolist()):
                        before.setdefault((relation, row), self._expiry.moments.get((relation, row)))
                        self._expiry.set((relation, row), time)
            return self._change_many(facts)
        except BaseException:
            if self._made == made:
                self._expiry.put_back(before)
            raise

    def _change_many(self, facts: Mapping[str, tuple[Rows, Rows]]) -> Changes:
        """Take away some facts of each relation, give others, and settle; the net change."""
        fed = [relation for relation, (_, coming) in facts.items() if len(coming)]
        if any(self._doors[relation].taking < 0 for relation in fed):
            self._open(fed)
        past = base_facts.Past({}, {})
        try:
            for relation, changes in facts.items():
                number = self._doors[relation].taking
                if number >= 0:
                    self._stage(number, changes, past)
                elif len(changes[1]):
                    raise AssertionError("a relation that facts are given to takes them")
            self._machine.settle()
            net = self._collected()
        except BaseException:
            self._recover(past)
            raise
        self._made += 1
        return net

    def _stage(self, number: int, changes: tuple[Rows, Rows], past: base_facts.Past) -> None:
        """Stage what goes and what comes to a relation, and remember what was given before."""
        if sum(map(len, changes)) > _FEW:
            past.whole[number] = self._machine.given(number)
        else:
            rows_of_all = map(tuple, np.concatenate(changes).tolist())
            past.rows[number] = [(row, self._machine.is_given(number, row)) for row in rows_of_all]
        for rows, insert in zip(changes, (False, True), strict=True):
            self._machine.change(number, rows, insert)

    def _change_timed(
        self, relation: str, taking: int, row: tuple[int, ...], insert: bool, ttl: Time | None
    ) -> int:
        """Change one fact, and when it expires: both, or neither when that fails or is interrupted."""
        if ttl is None and not self._expiry.moments:
            try:
                return self._change_one(taking, row, insert)
            except BaseException as error:
                self._give_up(error, taking, row, was_given=not insert)
        fact = (relation, row)
        before = self._expiry.moments.get(fact)
        was_given = self._machine.is_given(taking, row)
        try:
            self._expiry.set(fact, ttl)
            return self._change_one(taking, row, insert)
        except BaseException as error:
            is_whole = not isinstance(error, Exception) and self._machine.is_settled
            if not is_whole or self._machine.is_given(taking, row) == was_given:
                self._expiry.put_back({fact: before})
            self._give_up(error, taking, row, was_given=not insert)

    def _give_up(
        self, error: BaseException, taking: int, row: tuple[int, ...], *, was_given: bool
    ) -> NoReturn:
        """A change of one fact was not finished: it did change, or nothing could have.

        An interrupt may come before the change or after it, too, and then the machine is as good as ever.
        """
        if isinstance(error, Exception) or not self._machine.is_settled:
            self._recover(base_facts.Past({}, {taking: [(row, was_given)]}))
        raise error

    def _recover(self, past: base_facts.Past) -> None:
        """A machine that failed is of no more use but for its facts: another one takes those of before."""
        if isinstance(self._machine, base_facts.Unfinished):  # it did not come to changing anything
            return
        failed, failed_doors = self._machine, self._doors

        def restore() -> None:
            given = base_facts.facts_before(failed, failed_doors, past)
            self._take(self._program, self._filled(self._program, given))

        machine: Any = base_facts.Unfinished(restore, lambda: self._machine)
        doors: Any = base_facts.Unfinished(restore, lambda: self._doors)
        self._machine = machine
        self._doors = doors

    @property
    def _codes_of_all(self) -> dict[str, TupleCode]:
        return {name: door.code for name, door in self._doors.items()}

    def _door(self, relation: str) -> base_facts.Door:
        try:
            return self._doors[relation]
        except (KeyError, TypeError):
            raise requests.unknown_relation(relation, self._doors) from None

    def _found(self, relation: str, pattern: requests.Pattern | None) -> Rows:
        door = self._door(relation)
        wanted = requests.pattern_columns(pattern, door.code)
        if not wanted:
            return self._machine.rows(door.number)
        key = tuple([door.code.word(column, value) for column, value in wanted.items()])
        return self._machine.lookup(door.number, tuple(wanted), key)
