"""An engine that keeps a journal: `program.start(journal=FOLDER)`, and `tocsin.open(FOLDER)`.

A change is made first and journalled then, so that one that cannot be made leaves nothing behind. When it
cannot be journalled, the engine goes back to what the journal says. A change of rules rewrites the journal:
there is always one program for all its facts.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from itertools import chain

from tocsin.datalog.engine import fact_journal
from tocsin.datalog.engine.base_facts import EngineState, Given, first_state
from tocsin.datalog.engine.changes import Changes, Tuple
from tocsin.datalog.engine.engine import Engine
from tocsin.datalog.engine.expiry import Time
from tocsin.datalog.engine.program import Program
from tocsin.datalog.language.syntax import Value
from tocsin.datalog.machine.symbols import Symbols
from tocsin.datalog.machine.tuples import Rows
from tocsin.errors import JournalError, TocsinError, TocsinWarning, UsageError
from tocsin.storage import ALWAYS, ENGINE, RecordLog

PathLike = str | os.PathLike[str]


class JournalledEngine(Engine):
    """An engine whose changes are in a journal before they return."""

    def __init__(self, log: RecordLog, origin: str, state: EngineState) -> None:
        self._log = log
        self._origin = origin
        super().__init__(state)

    def insert(self, relation: str, values: Tuple, ttl: Time | None = None) -> Changes:
        """Give a fact; what became derivable and what ceased to be."""
        return self._journalled(
            lambda: super(JournalledEngine, self).insert(relation, values, ttl),
            lambda: self._fact_record(relation, values, True, ttl),
        )

    def delete(self, relation: str, values: Tuple) -> Changes:
        """Take a fact back; what ceased to be derivable, and what became so."""
        return self._journalled(
            lambda: super(JournalledEngine, self).delete(relation, values),
            lambda: self._fact_record(relation, values, False, None),
        )

    def advance(self, now: Time) -> Changes:
        """It is that time now: what expires until then, or at that moment, goes at once; the net change."""
        return self._journalled(
            lambda: super(JournalledEngine, self).advance(now), lambda: fact_journal.now_record(now)
        )

    def add_rule(self, text: str) -> Changes:
        """Take in another rule, with declarations if it needs some; what it makes come and go."""
        return self._journalled(lambda: super(JournalledEngine, self).add_rule(text))

    def remove_rule(self, rule: str | int) -> Changes:
        """Give up a rule, named by its text or by its place in `program.rules`, from 0."""
        return self._journalled(lambda: super(JournalledEngine, self).remove_rule(rule))

    def close(self) -> None:
        """Let go of the journal: it can be opened elsewhere, and this engine takes no more changes."""
        self._log.close()

    def begin(self) -> None:
        """Write the journal anew: what there is, as a snapshot."""
        start = fact_journal.start_record(
            self._program, self._origin, self._local, self._limit, self._symbols.limit
        )
        facts = fact_journal.snapshot_records(self._codes_of_all, self._symbols, self._given(), self._expiry)
        self._log.rewrite(chain([start], facts))

    def _give(self, facts: Mapping[str, tuple[Rows, Rows]], ttl: Time | None) -> Changes:
        return self._journalled(
            lambda: super(JournalledEngine, self)._give(facts, ttl),
            lambda: fact_journal.facts_record(self._codes_of_all, self._symbols, facts, ttl),
        )

    def _journalled(
        self, change: Callable[[], Changes], record: Callable[[], bytes] | None = None
    ) -> Changes:
        """Make a change and journal it, or neither; without a record of its own, all is written anew."""
        self._log.check()
        try:
            changes = change()
            self._log.append(record()) if record else self.begin()
        except BaseException as error:
            self._undo(error)
            raise
        if self._log.is_long:
            self._shorten()
        return changes

    def _undo(self, error: BaseException) -> None:
        """Be what the journal says, after a change that may have been made and not journalled.

        One that could not be made has not been, and needs nothing.
        """
        if isinstance(error, TocsinError) and not isinstance(error, JournalError):
            return
        try:
            symbols = Symbols(limit=self._symbols.limit)
            state = fact_journal.JournalState(str(self._log.file), self._log.recall(), symbols)
            super().__init__(state.with_limit(self._limit))
        except BaseException:
            self._log.abandon("has not what this engine holds: a change failed; open it again")
            raise

    def _shorten(self) -> None:
        """The change is journalled already: if there is no room for a snapshot, that can wait."""
        try:
            self.begin()
        except JournalError as error:
            self._log.wait_longer()
            warnings.warn(str(error), TocsinWarning, stacklevel=4)

    def _fact_record(self, relation: str, values: Tuple, given: bool, ttl: Time | None) -> bytes:
        code = self._doors[relation].code
        return fact_journal.fact_record(code, self._symbols, code.encode(values), given, ttl)


def start_journalled(
    program: Program,
    local: Value | None,
    limit: int,
    symbols: Symbols,
    initial: Callable[[], Given],
    folder: PathLike,
    sync: str = ALWAYS,
) -> Engine:
    """The engine of a journal; of a new one, with the facts of the program and the `initial` ones."""
    log = RecordLog(folder, ENGINE, sync)
    try:
        if log.is_new:
            state = first_state(program, local, limit, symbols, initial())
            engine = JournalledEngine(log, program.checked.text, state)
            engine.begin()
            return engine
        kept = fact_journal.JournalState(str(log.file), log.read(), symbols)
        _check_same(program, local, kept, log)
        return JournalledEngine(log, kept.origin, kept.with_limit(limit))
    except BaseException:
        log.close()
        raise


def open_journalled(folder: PathLike, sync: str = ALWAYS) -> Engine:
    """The engine of a folder's journal, whatever its program is."""
    log = RecordLog(folder, ENGINE, sync)
    try:
        state = fact_journal.JournalState(str(log.file), log.read())
        return JournalledEngine(log, state.origin, state.with_limit(state.limit))
    except BaseException:
        log.close()
        raise


def _check_same(
    program: Program, local: Value | None, state: fact_journal.JournalState, log: RecordLog
) -> None:
    """A journal goes on with the program that it was begun with, or with what became of that."""
    if not (_says_same(program, state.program) or _says_same(program, Program.parse(state.origin))):
        raise UsageError(
            f"{log.folder} is the journal of another program: tocsin.open({str(log.folder)!r}) goes on with"
            " that one, and add_rule and remove_rule change it; this one needs another folder"
        )
    if local != state.local:
        raise UsageError(
            f"{log.folder} is the journal of an engine with local={state.local!r}, not {local!r}"
        )


def _says_same(one: Program, other: Program) -> bool:
    """Whether two programs differ in nothing but spaces and comments."""
    some, others = ((each.relations, each.rules, each.directives) for each in (one.checked, other.checked))
    return some == others
