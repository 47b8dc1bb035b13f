"""tocsin.watch: changes of tables in, alerts out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, NamedTuple, Self

from tocsin.conditions.graph import read_conditions
from tocsin.conditions.language import Path, field_named
from tocsin.conditions.live import Preparation
from tocsin.conditions.meaning import Truth, text_score
from tocsin.display import Display, Displayed, Grid
from tocsin.errors import (
    EventError,
    RuleError,
    UnknownRuleError,
    UsageError,
    raise_all,
    telling,
)
from tocsin.fork_locks import WATCH, fork_safe_lock
from tocsin.printable import number_of
from tocsin.rules import DELETE, INSERT, OLD, UPDATE, Rules, RuleSource, event_with, joined_truth, read_rules
from tocsin.storage import ALWAYS
from tocsin.text import Dictionary, TextSettings
from tocsin.watches.alerts import Alert, alert_text
from tocsin.watches.joins import Entry, Joins, Place, entry_of
from tocsin.watches.learnt_words import Asked, LearntWords, documents_of
from tocsin.watches.row_journal import CHANGE, COME, GO, WORDS, Kept, RowJournal
from tocsin.watches.selections import Selections
from tocsin.watches.table_contents import Contents, Row, differ, kept_row
from tocsin.watches.watched_trigger import Watched, watched

if TYPE_CHECKING:
    from tocsin.history.statistics import History

PathLike = str | os.PathLike[str]


@telling("building a watch")
def watch(
    rules: RuleSource | PathLike,
    *,
    history: History | PathLike | None = None,
    dictionaries: Mapping[str, Dictionary | PathLike] | None = None,
    stop_words: Iterable[str] = (),
    text_threshold: float = 0.0,
    learn: bool = False,
    journal: PathLike | None = None,
    sync: str = ALWAYS,
) -> Watch:
    """Watch tables with triggers: the path of a file or folder, or what tocsin.build takes.

    All tables are empty at first, unless a `journal`, a folder, has rows: with one, every change is on disk
    before its call returns, synced (`always`) or synced so much later at most (`10 ms`). The triggers are
    those given here, whatever was watched before.

    With `learn` every row that comes counts towards the dictionaries that the next change is scored by. They
    begin as those given, or go on as the journal has them.

    Raises RuleError for a rule that cannot be taken, RuleErrors for several.
    The other arguments are those of tocsin.build; a field's dictionary is that of the field in any table.
    """
    preparation = Preparation.of(history, dictionaries, stop_words, text_threshold)
    made = Watch(preparation, None if journal is None else RowJournal(journal, sync), learns=learn)
    try:
        made.add(rules)
    except BaseException:
        made.close()
        raise
    return made


class Watch(Displayed):
    """Tables, and the triggers that watch them. Made by tocsin.watch.

    Every change is made whole or, when it raises an error, not at all. Threads may share a watch: their
    changes are made one after the other.
    """

    def __init__(
        self, preparation: Preparation, journal: RowJournal | None = None, *, learns: bool = False
    ) -> None:
        self._preparation = preparation
        self._texts = preparation.base.settings()
        self._triggers: dict[int, Watched] = {}
        self._numbers: dict[str, int] = {}
        self._next_trigger = 0
        self._next_row = 0
        self._tables: dict[str, Contents] = {}
        self._rows: dict[int, Row] = {}
        self._selections: dict[_Seen, Selections] = {}
        self._joins = Joins()
        self._lock = fork_safe_lock(WATCH)
        self._journal = journal
        self._learns = learns
        self._words: LearntWords | None = None
        self._weights: tuple[int, Mapping[Path, Dictionary]] | None = None
        self._asked: dict[_Seen, dict[Asked, None]] | None = None
        if journal is not None:
            self._next_row = journal.next_number
            for number, table, row in journal.take_rows():
                self._put(table, number, row, ())
            self._words = journal.words
        if learns and self._words is None:
            self._words = LearntWords(preparation.dictionaries)
            if journal is not None and preparation.dictionaries:
                try:
                    journal.rewrite(self._kept())
                except BaseException:
                    journal.close()
                    raise

    def close(self) -> None:
        """Let go of the journal, if there is one: it can be opened elsewhere then."""
        if self._journal is not None:
            with self._lock:
                self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._triggers)

    def __contains__(self, rule: object) -> bool:
        return rule in self._numbers

    def __repr__(self) -> str:
        return f"<tocsin.Watch of {number_of(len(self), 'trigger')} over {number_of(len(self._rows), 'row')}>"

    def _display(self) -> Display:
        tables = [(table, len(self.rows(table))) for table in self.tables]
        return Display(repr(self)[1:-1], [("", Grid.of(("table", "rows"), tables, len(tables)))])

    @property
    def tables(self) -> list[str]:
        """The tables that triggers name, then others that rows were inserted into."""
        named = [seen.table for seen in self._selections if seen.table is not None]
        return list(dict.fromkeys([*named, *self._tables]))

    def is_watched(self, table: str) -> bool:
        """Whether a row of this table can enter any trigger."""
        return any(len(some) for seen, some in self._selections.items() if seen.table in (table, None))

    def rows(self, table: str) -> list[Row]:
        """The present rows of a table, the oldest first."""
        with self._lock:
            return [dict(row) for _, row in self._tables.get(table, Contents()).items()]

    def has_row(self, table: str, row: Mapping[str, object]) -> bool:
        """Whether a table has a row that equals this one."""
        with self._lock:
            return table in self._tables and self._tables[table].find(kept_row(row)) is not None

    def dictionary(self, field: str) -> Dictionary:
        """The dictionary of a field, with what was learnt of it; an empty one of a field that has none."""
        with self._lock:
            known = self._preparation.dictionaries if self._words is None else self._words.dictionaries()
            return known.get(field_named(field), Dictionary())

    # ---- Changes of tables

    @telling("inserting a row")
    def insert(self, table: str, row: Mapping[str, object]) -> list[Alert]:
        """Add a row, and tell which triggers that fires, in the triggers' order.

        Raises EventError when the row cannot be read. A row that equals another is one more row.
        """
        with self._lock:
            self._weigh()
            kept = kept_row(row)
            _check_name(table)
            made = _Made(INSERT, table, self._next_row, kept)
            entries = self._entries(table, kept, made)
            with self._journalled(COME, made, kept):
                self._next_row += 1
                self._put(table, made.number, kept, entries)
            return self._alerts(made, entries)

    @telling("updating a row")
    def update(self, table: str, old: Mapping[str, object], new: Mapping[str, object]) -> list[Alert]:
        """Put a row in the place of one that equals `old`, and tell which update triggers that fires.

        Raises EventError when there is no such row, or when the new one cannot be read.
        """
        with self._lock:
            self._weigh()
            number = self._find(table, old)
            kept, before = kept_row(new), self._rows[number]
            made = _Made(UPDATE, table, number, kept, before)
            entries, gone = self._entries(table, kept, made), self._entries(table, before)
            with self._journalled(CHANGE, made, kept):
                self._take(table, number, gone)
                self._put(table, number, kept, entries)
            return self._alerts(made, entries)

    @telling("deleting a row")
    def delete(self, table: str, row: Mapping[str, object]) -> list[Alert]:
        """Take one row away that equals this one, and tell which delete triggers that fires.

        Raises EventError when there is no such row.
        """
        with self._lock:
            self._weigh()
            number = self._find(table, row)
            kept = self._rows[number]
            made = _Made(DELETE, table, number, kept, kept)
            entries = self._entries(table, kept, made)
            alerts = self._alerts(made, entries)
            with self._journalled(GO, made, None):
                self._take(table, number, entries)
            return alerts

    def told(
        self, change: str, table: str, row: Mapping[str, object], old: Mapping[str, object] | None = None
    ) -> list[Alert]:
        """What triggers over one table say of an insert, update or delete, which is made elsewhere.

        Nothing is kept of the row. Raises EventError when it cannot be read.
        """
        with self._lock:
            self._weigh()
            made = _Made(change, table, -1, kept_row(row), None if old is None else kept_row(old))
            entries = self._entries(table, made.row, made)
            alone = [entry for entry in entries if len(self._triggers[entry.place.trigger].positions) == 1]
            return self._alerts(made, alone)

    # ---- Changes of triggers

    @telling("adding rules")
    def add(self, rules: RuleSource | PathLike) -> None:
        """Watch more triggers. Present rows are partners of later ones, and fire nothing by themselves.

        Takes what tocsin.watch takes. Raises RuleError or RuleErrors, or EventError when a present row holds
        something that a new trigger cannot read; then no trigger is added.
        """
        with self._lock:
            self._weigh()
            found = _read(rules)
            raise_all(self._errors(found))
            first = self._next_trigger
            off = set(found.disabled.tolist())
            added = {first + row: watched(found, row, row in off) for row in range(len(found))}
            places = _places(added)
            present = [entered for seen in places for entered in self._present(seen, added, places[seen])]
            self._next_trigger += len(found)
            self._triggers.update(added)
            self._asked = None
            for trigger in added.values():
                self._joins.prepare(trigger)
            self._numbers.update((trigger.rule, number) for number, trigger in added.items())
            for seen, some in places.items():
                if seen not in self._selections:
                    self._selections[seen] = Selections(self._preparation)
                self._selections[seen].add(added, some)
            for number, entry in present:
                self._joins.enter(added[entry.place.trigger], entry, number)

    @telling("removing a rule")
    def remove(self, rule: str | int) -> None:
        """Stop watching a trigger; UnknownRuleError when there is none of this id."""
        with self._lock:
            if str(rule) not in self._numbers:
                raise UnknownRuleError(str(rule))
            number = self._numbers.pop(str(rule))
            trigger = self._triggers[number]
            for seen, places in _places({number: trigger}).items():
                for row, entry in self._present(seen, self._triggers, places):
                    self._joins.leave(trigger, entry, row)
                self._selections[seen].remove(places)
            del self._triggers[number]
            self._asked = None

    def _errors(self, rules: Rules) -> list[RuleError]:
        found = list(read_conditions(rules.whens_for_index(), rules.aliases).errors)
        ids = rules.ids.to_pylist()
        found += [
            (row, RuleError(f"the id '{rule}' is already watched"))
            for row, rule in enumerate(ids)
            if rule in self._numbers
        ]
        return [rules.error(row, error) for row, error in found]

    def _present(
        self, seen: _Seen, triggers: Mapping[int, Watched], places: Sequence[Place]
    ) -> Iterator[tuple[int, Entry]]:
        """The present rows of a table that these positions remember: the number of each, and its entry."""
        remembered = [place for place in places if triggers[place.trigger].remembers(place.position)]
        if seen.table not in self._tables or not remembered:
            return
        selections = Selections(self._preparation)
        selections.add(triggers, remembered)
        if self._weights is not None:
            selections.weigh(*self._weights)
        for number, row in self._tables[seen.table].items():
            for place, score in selections.entered(row):
                yield number, entry_of(triggers[place.trigger], place, row, score)

    # ---- Rows and what they enter

    @contextmanager
    def _journalled(self, change: str, made: _Made, row: Row | None) -> Iterator[None]:
        """Make a change within, which is journalled before and learnt from behind it."""
        asked = [] if row is None else self._asked_of(made.table)
        documents = documents_of(made.row, made.old, asked)
        learnt = [each for each in asked if each.path in documents]
        with (
            nullcontext()
            if self._journal is None
            else self._journal.journalled(change, made.number, made.table, row, learnt, self._kept)
        ):
            yield
            if self._words is not None:
                self._words.learn(documents)

    def _kept(self) -> Iterator[Kept]:
        """All that a journal keeps: what was learnt, and the rows in the order of their numbers."""
        if self._words is not None:
            yield from ((WORDS, *each) for each in self._words.records())
        rows = [
            (number, table, row)
            for table, contents in self._tables.items()
            for number, row in contents.items()
        ]
        yield from ((COME, *each) for each in sorted(rows, key=lambda each: each[0]))

    # ---- What was learnt

    def _weigh(self) -> None:
        """Score by all that was learnt before this change."""
        if self._words is not None and (self._weights is None or self._weights[0] != self._words.version):
            self._weights = self._words.version, self._words.dictionaries()
            base = self._preparation.base
            self._texts = TextSettings(base.threshold, base.stop_words, self._weights[1])

    def _asked_of(self, table: str) -> list[Asked]:
        """The fields that free text asks of the rows of a table that come, if they are learnt from."""
        if not self._learns:
            return []
        if self._asked is None:
            self._asked = {}
            for trigger in self._triggers.values():
                position = trigger.text_position
                if position is not None:
                    some = self._asked.setdefault(_Seen(position.table, position.asks_old), {})
                    some.update((Asked(position.asks_old, path), None) for path in trigger.documents)
        found = [
            each
            for name in (table, None)
            for asks_old in (False, True)
            for each in self._asked.get(_Seen(name, asks_old), ())
        ]
        return list(dict.fromkeys(found))

    def _find(self, table: str, row: Mapping[str, object]) -> int:
        wanted = kept_row(row)
        number = self._tables[table].find(wanted) if table in self._tables else None
        if number is None:
            raise EventError(f"there is no such row in the table {table}")
        return number

    def _entries(self, table: str, row: Row, made: _Made | None = None) -> list[Entry]:
        """Every position that a row enters, in the triggers' order; EventError when it cannot be read.

        With the change that was made, those that ask for the row before it are among them.
        """
        found: list[Entry] = []
        for name in (table, None):
            for asks_old in (False, True):
                selections = self._selections.get(_Seen(name, asks_old))
                if selections is None or (asks_old and made is None):
                    continue
                if self._weights is not None:
                    selections.weigh(*self._weights)
                asked = event_with(row, made.old) if asks_old and made is not None else row
                for place, score in selections.entered(asked):
                    found.append(entry_of(self._triggers[place.trigger], place, asked, score))
        return sorted(found, key=lambda entry: entry.place)

    def _put(self, table: str, number: int, row: Row, entries: Sequence[Entry]) -> None:
        self._tables.setdefault(table, Contents()).put(number, row)
        self._rows[number] = row
        for trigger, entry in self._remembered(entries):
            self._joins.enter(trigger, entry, number)

    def _take(self, table: str, number: int, entries: Sequence[Entry]) -> None:
        for trigger, entry in self._remembered(entries):
            self._joins.leave(trigger, entry, number)
        self._tables[table].take(number)
        del self._rows[number]

    def _remembered(self, entries: Iterable[Entry]) -> Iterator[tuple[Watched, Entry]]:
        for entry in entries:
            trigger = self._triggers[entry.place.trigger]
            if trigger.remembers(entry.place.position):
                yield trigger, entry

    # ---- Alerts

    def _alerts(self, made: _Made, entries: Sequence[Entry]) -> list[Alert]:
        """What a change fires, each combination of rows once.

        The row of a deletion is still there; but as its own partner it is already gone.
        """
        found: dict[tuple[int, tuple[int, ...]], Alert] = {}
        for entry in entries:
            place = entry.place
            trigger = self._triggers[place.trigger]
            if not trigger.fires_on(made.change, place.position) or not made.changes(trigger.after.fields):
                continue
            for rows in self._combinations(trigger, entry, made.number):
                if (place.trigger, rows) in found or (made.change == DELETE and rows.count(made.number) > 1):
                    continue
                alert = self._alert(trigger, made, rows, entry.score)
                if alert is not None:
                    found[place.trigger, rows] = alert
        return [found[key] for key in sorted(found)]

    def _combinations(self, trigger: Watched, entry: Entry, number: int) -> Iterable[tuple[int, ...]]:
        if len(trigger.positions) == 1:
            return [(number,)]
        return self._joins.combinations(trigger, entry, number)

    def _alert(
        self, trigger: Watched, made: _Made, rows: tuple[int, ...], score: float | None
    ) -> Alert | None:
        """The alert of a combination of rows, or None when a filter does not hold."""
        contents = [made.row if number == made.number else self._rows[number] for number in rows]
        copies = {
            made.table if position.alias is None else position.alias: dict(row)
            for position, row in zip(trigger.positions, contents, strict=True)
        }
        if trigger.event is not None and trigger.positions[trigger.event].asks_old:
            contents[trigger.event] = event_with(made.row, made.old)
            if made.old is not None:
                copies.setdefault(OLD, dict(made.old))
        asked = {position.key: row for position, row in zip(trigger.positions, contents, strict=True)}
        for each in trigger.filters:
            if joined_truth(each, asked, self._texts) is not Truth.TRUE:
                return None
        if trigger.texts and trigger.event is not None:
            score = text_score(trigger.texts, contents[trigger.event], self._texts)
        by_alias = {position.alias: asked[position.key] for position in trigger.positions}
        version = None if self._weights is None else self._weights[0]
        return Alert(trigger.rule, copies, score, alert_text(trigger.alert, by_alias, score), version)


class _Seen(NamedTuple):
    """Rows of a table, or of any; with the row before the change in them, or without."""

    table: str | None
    with_old: bool


class _Made(NamedTuple):
    """A change that is made: the row that it is about, and the one before it, which an insert has not."""

    change: str
    table: str
    number: int
    row: Row
    old: Row | None = None

    def changes(self, fields: Sequence[Path]) -> bool:
        """Whether it is no update, or one of any of these fields; of any at all when there are none."""
        if self.change != UPDATE or not fields or self.old is None:
            return True
        return differ(self.old, self.row, fields)


def _read(rules: object) -> Rules:
    if isinstance(rules, str | os.PathLike):
        return read_rules(rules)
    return Rules.of(rules)


def _check_name(table: object) -> None:
    if not isinstance(table, str):
        raise UsageError(f"a table is named by a string, not by {type(table).__name__}")


def _places(triggers: Mapping[int, Watched]) -> dict[_Seen, list[Place]]:
    """The positions of some triggers by the rows that they see."""
    places: dict[_Seen, list[Place]] = {}
    for number, trigger in triggers.items():
        for at, position in enumerate(trigger.positions):
            places.setdefault(_Seen(position.table, position.asks_old), []).append(Place(number, at))
    return places
