"""What an index answers with, whoever keeps its rules: one that can be changed, or an index in shards.

    Index ──> RuleStore ──> Snapshot      the rules at one moment: what a reader picks up once and relies on
    (index.py)    │
                  └── apply, compact, save: refused by a store whose rules stay as they were built

A rule has a number in a snapshot, and the rules' order is that of their numbers. Not every number need be
that of a rule which is still there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from tocsin.arrays.dtypes import Doubles, Ints, Longs
from tocsin.conditions.language.tree import Path
from tocsin.conditions.live.change_requests import Change
from tocsin.conditions.live.index_statistics import Statistics
from tocsin.conditions.live.layers import Layer
from tocsin.conditions.matching.matcher import BatchMatches
from tocsin.conditions.matching.rule_dictionary import RuleDictionary
from tocsin.conditions.matching.rule_names import RuleNames
from tocsin.events import EventBatch
from tocsin.rules import Rule
from tocsin.text import Dictionary, TextBase

if TYPE_CHECKING:
    from tocsin.conditions.live.index import Index


class Snapshot(Protocol):
    """The rules at one moment. Threads may share it."""

    @property
    def change(self) -> int:
        """The last change that it knows; two snapshots of a store with the same have the same rules."""

    @property
    def count(self) -> int:
        """Numbers there are, those of dead rules included."""

    @property
    def live(self) -> int:
        """Rules there are."""

    @property
    def names(self) -> RuleNames:
        """The ids of the rules by their numbers, those of dead rules too."""

    @property
    def dictionary(self) -> RuleDictionary:
        """The ids of the rules for tables of matches."""

    @property
    def fields(self) -> list[Path]:
        """The fields that the rules name, and perhaps some that only rules now deleted named."""

    @property
    def text_fields(self) -> list[Path]:
        """The fields that free text asks, sorted, and perhaps some that only rules now deleted asked."""

    @property
    def texts(self) -> TextBase:
        """The dictionaries and settings that free text goes by."""

    @property
    def layers(self) -> Sequence[Layer]:
        """What holds the rules, compiled in several goes."""

    def reweighed(self, dictionaries: Mapping[Path, Dictionary]) -> Snapshot:
        """The same rules under the same numbers, with other dictionaries."""

    def numbers(self) -> Longs:
        """The numbers of the rules, in order."""

    def ids_of(self, numbers: Longs) -> pa.LargeStringArray:
        """The ids of these ascending numbers."""

    def whens_of(self, numbers: Longs) -> pa.LargeStringArray:
        """The conditions of these ascending numbers."""

    def metadata_of(self, numbers: Longs) -> pa.Table | None:
        """What the rules of these ascending numbers carry besides, a row for each; None when nothing."""

    def find(self, rule: object) -> int | None:
        """The number of a rule by its id."""

    def rule(self, number: int) -> Rule:
        """A rule as it was written."""

    def match_event(self, event: Mapping[str, object]) -> tuple[Ints, Doubles | None]:
        """The numbers of the rules that an event satisfies, ascending, and their scores.

        A score is NaN for a rule without free text; None when no rule has any.
        """

    def match_cells(self, batch: EventBatch) -> BatchMatches:
        """Match events that are cells already; rules are given by their number."""

    def match_slices(
        self, batch: EventBatch, most_matches: int | None = None, *, kept: bool = False
    ) -> Iterator[BatchMatches]:
        """The same, some events at a time, so that many matches need not fit into memory together.

        Rules are to be looked at before the next slice is asked for, unless they are to be `kept`: then
        each slice's are in memory of their own.
        """

    def count_cells(self, batch: EventBatch, per_rule: Longs) -> BatchMatches:
        """Count the matches of events; `per_rule`, by number, is added to.

        The rules of the matches are only given when some had to be written out.
        """

    def statistics(self) -> Statistics:
        """What it consists of, in numbers."""


class RuleStore(Protocol):
    """Who keeps the rules of an index."""

    engine: str

    @property
    def title(self) -> str:
        """What the index is, for its repr: `{rules}` stands for how many rules it has."""

    @property
    def shards(self) -> tuple[Index, ...]:
        """The indexes that an index in shards consists of; none of one that is whole."""

    @property
    def version(self) -> Snapshot:
        """The rules as they are now, and stay in what this gives."""

    def apply(self, changes: Sequence[Change], /) -> None:
        """Make the changes, in their order and all at once."""

    def compact(self) -> Layer:
        """Compile all rules into one layer."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rules to one file, whole or not at all."""
