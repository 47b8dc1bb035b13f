"""The index that users hold: rules that are ready to be matched, and can be changed meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

import pyarrow as pa

from tocsin.conditions.graph.compiled_index import CompiledIndex
from tocsin.conditions.graph.index_file import index_of_arrays, map_index
from tocsin.conditions.language.parser import parse_condition
from tocsin.conditions.language.tree import Path
from tocsin.conditions.live.build_settings import PathLike, known_words
from tocsin.conditions.live.change_requests import deletion, insertion, read_changes, replacement
from tocsin.conditions.live.explanation import Explanation, explain_condition
from tocsin.conditions.live.index_statistics import GRAPH_ENGINE, Statistics
from tocsin.conditions.live.layers import Layer, main_layer
from tocsin.conditions.live.many_events import ManyEvents, no_event
from tocsin.conditions.live.pickled_index import Pickled, SavedFile, pickled
from tocsin.conditions.live.rule_ids import RuleIds
from tocsin.conditions.live.snapshot import RuleStore, Snapshot
from tocsin.conditions.live.table_matcher import TableMatching
from tocsin.conditions.live.writer import LiveRules
from tocsin.conditions.matching.missing_fields import warn_of_missing_fields
from tocsin.conditions.matching.results import TABLE_SCHEMA, Counts, Matches
from tocsin.display import SHOWN, Display, Displayed, Grid
from tocsin.errors import EventError, TocsinError, UnknownRuleError, UsageError, tell, telling
from tocsin.events import path_text
from tocsin.printable import described, first_few, number_of
from tocsin.rules import Rule, read_enabled, rules_grid
from tocsin.tables import Frame, batches_of, is_frame
from tocsin.text import Dictionary, TextBase

if TYPE_CHECKING:
    from tocsin.history.statistics import History


class Index(Displayed):
    """Rules ready to be matched, whichever engine does it. Made by tocsin.build or tocsin.open.

    They may be changed and saved, but for those of an index in shards, which stay as they were built:
    UnsupportedError.

    Threads may share it. Every call sees the rules as they are when it begins, and one change whole
    or not at all; a call that only reads never waits for one that changes rules.
    """

    engine = GRAPH_ENGINE

    def __init__(self, rules: CompiledIndex | Layer | RuleStore, file: SavedFile | None = None) -> None:
        if isinstance(rules, CompiledIndex):
            rules = main_layer(rules)
        self._rules: RuleStore = LiveRules(rules) if isinstance(rules, Layer) else rules
        self.engine = self._rules.engine
        self._many = ManyEvents()
        self._file = file

    @property
    def shards(self) -> tuple[Index, ...]:
        """The indexes of an index in shards, which may be changed; none of one that is whole."""
        return self._rules.shards

    @property
    def version(self) -> Snapshot:
        """The rules as they are now, and stay in what this gives."""
        return self._rules.version

    @property
    def fields(self) -> list[Path]:
        """The fields that the rules name: nothing else of an event is looked at.

        Fields that only deleted rules named may be among them until the next compaction.
        """
        return self.version.fields

    @property
    def ids(self) -> RuleIds:
        """The rules' ids, in the rules' order: as built, then as inserted or replaced."""
        return RuleIds(self.version)

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __len__(self) -> int:
        return self.version.live

    def __contains__(self, rule: object) -> bool:
        return self.version.find(rule) is not None

    def __repr__(self) -> str:
        return f"<{self._rules.title.format(rules=number_of(len(self), 'rule'))}>"

    def _display(self) -> Display:
        version = self.version
        rules = [version.rule(int(number)) for number in version.numbers()[:SHOWN]]
        named = sorted(map(path_text, self.fields))
        fields = Grid(("fields that rules name",), [(first_few(named, 3 * SHOWN),)] if named else [])
        return Display(repr(self)[1:-1], [("", rules_grid(rules, version.live)), ("", fields)])

    def rule(self, rule: str) -> Rule:
        """A rule by its id; UnknownRuleError when there is none."""
        version = self.version
        number = version.find(rule)
        if number is None:
            raise UnknownRuleError(rule)
        return version.rule(number)

    def match(self, event: Mapping[str, object]) -> Matches:
        """The rules that one event satisfies, in the rules' order."""
        version = self.version
        try:
            numbers, scores = version.match_event(event)
        except (MemoryError, EventError) as error:
            if reason := no_event(event):
                raise EventError(reason) from None
            tell(error, "matching an event")
        return Matches(numbers, version.names, scores)

    @telling("matching events")
    def match_many(self, events: Iterable[Mapping[str, object]]) -> list[Matches]:
        """What `match` gives for each of the events, in their order, all against the same rules.

        Many are matched in blocks, as a table is, and few one by one. EventError for the first that cannot
        be read: its `row` is the event's position.
        """
        if isinstance(events, Mapping | str | bytes) or is_frame(events):
            raise UsageError(f"match_many takes a list of events, not {described(events)}")
        return self._many.match(self.version, list(events))

    @overload
    def match_table(
        self, table: Frame, *, count: Literal[False] = False, threads: int | None = None
    ) -> pa.Table | pa.RecordBatchReader: ...
    @overload
    def match_table(self, table: Frame, *, count: Literal[True], threads: int | None = None) -> Counts: ...
    @telling("matching a table")
    def match_table(
        self,
        table: Frame,
        *,
        count: bool = False,
        threads: int | None = None,
    ) -> pa.Table | pa.RecordBatchReader | Counts:
        """Match every row of a table of any kind: event (the row number), rule, score, by event and rule.

        `rule` is dictionary-encoded: `table["rule"].cast("string")` makes strings of it. All batches of a
        stream have one dictionary, of the ids of all rules.

        A table in memory (Arrow, a DataFrame of pandas or polars) gives a table. What is still to be read or
        run (a RecordBatchReader, an Arrow dataset, a LazyFrame, a query of DuckDB) is read as the result is,
        and gives a RecordBatchReader; the rules are those of the call, however long it is read. With `count`
        no match is written out: only how many there are for each event and for each rule.

        `threads` says how many threads to use; without it there are as many as this process may use
        cores, unless their scratch memory would be too much. They read a stream a few portions ahead.
        """
        if not is_frame(table):
            raise _no_table(table)
        version = self.version
        batches = batches_of(table, {path[0] for path in version.fields})
        warn_of_missing_fields(version.fields, batches.schema, stacklevel=4)  # this method is decorated
        matching = TableMatching(version, batches, threads)
        if count:
            return matching.counts()
        if isinstance(batches, pa.RecordBatchReader):
            return pa.RecordBatchReader.from_batches(TABLE_SCHEMA, matching.stream())
        return matching.table()

    def insert(self, rule: str | int, when: str, metadata: Mapping[str, Any] | None = None) -> None:
        """Add a rule, behind all others; the next match sees it.

        Raises RuleError when the id is taken, the condition is no condition, or one that the engine cannot
        take; then nothing changes.
        """
        try:  # `telling` would be a call more
            self._rules.apply([insertion(rule, when, metadata)])
        except (MemoryError, TocsinError) as error:
            tell(error, "inserting a rule")

    def replace(self, rule: str | int, when: str, metadata: Mapping[str, Any] | None = None) -> None:
        """Give an id another condition and other metadata. The rule then stands behind all others.

        Raises UnknownRuleError when there is no such rule, RuleError when the condition is none.
        """
        try:  # `telling` would be a call more
            self._rules.apply([replacement(rule, when, metadata)])
        except (MemoryError, TocsinError) as error:
            tell(error, "replacing a rule")

    def delete(self, rule: str | int) -> None:
        """Take a rule away; UnknownRuleError when there is none."""
        try:  # `telling` would be a call more
            self._rules.apply([deletion(rule)])
        except (MemoryError, TocsinError) as error:
            tell(error, "deleting a rule")

    @telling("changing rules")
    def apply(self, operations: Iterable[object]) -> None:
        """Make several changes at once: no match sees some of them without the others.

            index.apply([("delete", "r1"), ("insert", "r2", "age < 18"), ("replace", "r3", "age < 21")])

        An operation is judged as if those before it were made, so an id may be deleted and inserted
        again. Metadata may stand behind the condition, as a mapping. When one cannot be made, its
        error is raised and none is made.
        """
        self._rules.apply(read_changes(operations))

    @telling("compiling the rules anew")
    def compact(self) -> None:
        """Compile all rules anew, as if they had been built together; nothing to do when they were.

        It happens in the background when enough has changed. Others go on matching and changing
        meanwhile.
        """
        self._rules.compact()

    @telling("explaining a rule")
    def explain(self, rule: str, event: Mapping[str, object]) -> Explanation:
        """Why the rule matches the event, or why not; UnknownRuleError when there is no such rule."""
        found = self.rule(rule)
        if reason := no_event(event):
            raise EventError(reason)
        return explain_condition(found, parse_condition(found.when), event, self.version.texts.settings())

    @telling("weighing the rules anew")
    def reweighed(
        self,
        *,
        history: History | PathLike | None = None,
        dictionaries: Mapping[str, Dictionary | PathLike] | None = None,
        stop_words: Iterable[str] = (),
    ) -> Index:
        """The same rules with other dictionaries, as an index of its own; this one stays as it is.

        `history`, `dictionaries` and `stop_words` are those of tocsin.build. So documents that are being
        matched keep the weights they began with, and their scores can be had again.
        """
        compact = self._rules.compact
        words, _ = known_words(history, dictionaries)
        return Index(compact().reweighed(words, TextBase.of({}, stop_words).stop_words))

    @telling("counting what the index holds")
    def stats(self) -> Statistics:
        """Rules, nodes by kind and level, sharing, bytes by part, build seconds by phase."""
        version = self.version
        disabled, _ = read_enabled(version.metadata_of(version.numbers()))
        return replace(version.statistics(), disabled=len(disabled))

    @telling("saving the index")
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rules to one file, whole or not at all.

        An index that was changed is compacted first. The file holds the rules of the call; of changes
        that other threads make during it, the first so many are in it, or none.
        """
        before = self.version.change
        self._rules.save(path)
        if before == self.version.change:
            self._file = SavedFile.written(path, before)

    def __reduce__(self) -> Pickled:
        return pickled(self, self._file)


def _no_table(given: object) -> UsageError:
    """What is said of something that is no table of events."""
    hint = ""
    if isinstance(given, Mapping):
        hint = ": match takes one event"
    elif isinstance(given, list | tuple):
        hint = ": pyarrow.Table.from_pylist makes one of dictionaries, and match takes one event"
    elif isinstance(given, str | os.PathLike):
        hint = ": read the file first (pyarrow.parquet, polars.scan_parquet), or run `tocsin match`"
    return UsageError(
        f"match_table takes a table (Arrow, pandas, polars, DuckDB), not {described(given)}{hint}"
    )


def open_file(path: str | os.PathLike[str], *, verify: bool = True) -> Index:
    """Open a saved index; IndexFileError when it is damaged, foreign or of another version."""
    name, header, arrays = map_index(path, verify=verify)
    return Index(index_of_arrays(name, header, arrays, verify=verify), SavedFile.of(name, header))
