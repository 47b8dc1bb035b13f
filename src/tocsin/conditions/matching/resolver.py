"""Events meet the index: the cells of each field go to the groups that ask about them."""

from __future__ import annotations

from collections import defaultdict
from copy import copy
from functools import partial

import numpy as np

from tocsin.conditions.graph.compiled_index import CompiledIndex
from tocsin.conditions.graph.predicate_table import predicate_of
from tocsin.conditions.graph.value_keys import address_of_text, instant_of_text
from tocsin.conditions.kernels.batch_lookup import traits_of
from tocsin.conditions.kernels.leaves import Cells, OneEvent
from tocsin.conditions.kernels.predicate_parser import NULLS, TEXTS
from tocsin.conditions.language.tree import Path, Predicate, Test
from tocsin.conditions.matching.batch_cells import BatchCells
from tocsin.conditions.matching.decimals import DecimalGroup
from tocsin.conditions.matching.event_reader import EventReader
from tocsin.conditions.matching.pattern_finder import PatternFinder
from tocsin.errors import IndexFileError
from tocsin.events import Column, EventBatch, Kind
from tocsin.text import EventDocuments, TextMatcher

_NUMBER, _STRING, _BOOLEAN = int(Kind.NUMBER), int(Kind.STRING), int(Kind.BOOLEAN)


class Resolver:
    """Turns batches into the cells that kernels take. It keeps no state of a batch."""

    def __init__(self, index: CompiledIndex) -> None:
        self._index = index
        self._groups: dict[Path, list[tuple[int, int]]] = defaultdict(list)
        for group, path in enumerate(index.group_path):
            self._groups[path].append((group, int(index.group_kind[group])))
        self.texts = TextMatcher(index.texts)
        self._patterns = PatternFinder(
            index.patterns, index.links.group_of[index.pattern_leaf], self._text_of
        )
        self._reader = EventReader(self._groups, self._patterns, self._decimal_group)
        self._decimals: dict[int, DecimalGroup] = {}
        self._traits = traits_of(index.literals, index.bounds)

    def with_texts(self, index: CompiledIndex) -> Resolver:
        """The same for an index that differs in the weights of words alone."""
        made = copy(self)
        made._index = index
        made.texts = TextMatcher(index.texts)
        return made

    @property
    def fields(self) -> list[Path]:
        """The fields that the rules name."""
        return list(self._groups)

    def _predicate(self, leaf: int) -> Predicate:
        return predicate_of(self._index.leaf_text, leaf)

    def _text_of(self, leaf: int) -> str:
        """The expression of a leaf."""
        predicate = self._predicate(leaf)
        if predicate.test is not Test.MATCHES:
            raise IndexFileError(f"the index is damaged: its leaf {leaf} is not a regular expression")
        return str(predicate.operands[0].value)

    def _decimal_group(self, group: int) -> DecimalGroup:
        if group not in self._decimals:
            leaves = np.flatnonzero(self._index.links.group_of == group).tolist()
            predicates = [self._predicate(leaf) for leaf in leaves]
            try:
                self._decimals[group] = DecimalGroup(leaves, predicates)
            except (ArithmeticError, IndexError, TypeError, ValueError) as error:  # texts, no operand
                raise IndexFileError("the index is damaged: a leaf among numbers is none") from error
        return self._decimals[group]

    def resolve(self, batch: EventBatch, documents: EventDocuments) -> Cells:
        """The cells of a batch, by group, looked up; `documents` are the batch's."""
        cells = BatchCells(self._patterns)
        groups_of = self._groups.get
        for path, column in batch.columns.items():
            for group, kind in groups_of(path, ()):
                if kind == NULLS:
                    cells.known(group, column.present)
                    continue
                if column.empty.size:
                    cells.known(group, column.empty)
                if kind == _NUMBER:
                    if column.numbers is not None:
                        cells.numbers(group, column.numbers)
                    if column.decimals is not None:
                        row, code, values = column.decimals
                        cells.found(group, row, code, *self._decimal_group(group).find(values))
                elif kind == _STRING:
                    if column.strings is not None:
                        cells.strings(group, column.strings)
                elif kind == _BOOLEAN:
                    if column.booleans is not None:
                        cells.booleans(group, column.booleans)
                elif kind == TEXTS:
                    found = self.texts.find(path, documents)
                    if found is not None:
                        cells.found(group, *found)
                else:
                    _collect_read(cells, group, kind, column)
        return cells.cells(self._index, self._traits)

    def resolve_event(self, event: object, documents: EventDocuments) -> OneEvent:
        """The values of one event, which the kernel looks up. Its documents are told to `documents`."""
        return self._reader.read(event, partial(self.texts.find_strings, documents))


def _collect_read(cells: BatchCells, group: int, kind: int, column: Column) -> None:
    """The kinds that strings are read as."""
    if kind == Kind.TIMESTAMP and column.timestamps is not None:
        cells.timestamps(group, column.timestamps)
    if column.strings is not None:
        read = instant_of_text if kind == Kind.TIMESTAMP else address_of_text
        cells.read_strings(group, column.strings, read)
