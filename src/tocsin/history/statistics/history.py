"""The statistics of a history, opened from their folder: fields, dictionaries, sketches."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path as FilePath

import pyarrow.compute as pc

from tocsin.conditions.language import field_asked
from tocsin.display import Display, Displayed, Grid
from tocsin.errors import InputError, UsageError
from tocsin.events import Path, path_text
from tocsin.history.statistics.statistics_folder import Contents, read_contents, read_facts, read_words
from tocsin.history.statistics.value_counts import FieldStatistics, field_statistics
from tocsin.history.statistics.word_sketches import WordSketches, sketches_of_words
from tocsin.printable import number_of
from tocsin.text import Dictionary

FieldName = str | Sequence[str]
"""A field as conditions write it (`user.bio`, `"a.b"`), or the names of its path."""

_NONSENSE = (ArithmeticError, IndexError, KeyError, TypeError, ValueError, MemoryError)
"""What may come of facts that nobody counted; pyarrow's errors are among them."""


class History(Displayed):
    """What ts.statistics found in past events. Nothing here changes once it is opened.

    `version` is the content's; `rows` how many events there were, `rejects` how many
    records that were none; `fields` the paths of those that were looked at, `text_fields` of those whose
    words were counted; `parts` the names of parts of the history, where they were given.
    """

    def __init__(self, folder: FilePath, contents: Contents) -> None:
        self._folder = folder
        self._contents = contents
        self._facts = read_facts(folder, contents)
        self._number = {field: number for number, field in enumerate(contents.fields)}
        self.version = contents.version
        self.rows = contents.rows
        self.rejects = contents.rejects
        self.fields = contents.fields
        self.parts = contents.parts
        self.text_fields = tuple(contents.fields[number] for number in contents.text)
        self._field = cache(self._field_statistics)
        self._sketches = cache(self._word_sketches)

    @staticmethod
    def open(path: str | os.PathLike[str]) -> History:
        """Open a folder that ts.statistics wrote; InputError when it is none, or damaged."""
        folder = FilePath(path)
        contents = read_contents(folder)
        if contents is None:
            raise InputError(f"{folder}: there are no statistics here: write them with tocsin statistics")
        return History(folder, contents)

    def field(self, field: FieldName) -> FieldStatistics:
        """What is known of a field; of one that no event had, that it was always missing."""
        return self._field(_path(field))

    def dictionary(self, field: FieldName) -> Dictionary:
        """The words of a text field; UsageError when they were not counted."""
        return self.sketches(field).dictionary

    def sketches(self, field: FieldName) -> WordSketches:
        """The words of a text field with their sketches; UsageError when they were not counted."""
        path = _path(field)
        if path not in self.text_fields:
            known = ", ".join(map(path_text, self.text_fields)) or "none"
            raise UsageError(f"the words of {path_text(path)} were not counted; counted are: {known}")
        return self._sketches(path)

    def _field_statistics(self, path: Path) -> FieldStatistics:
        number = self._number.get(path)
        facts = self._facts.filter(pc.equal(self._facts.column("field"), -2 if number is None else number))
        try:
            return field_statistics(path, self.rows, facts)
        except _NONSENSE as error:
            raise InputError(f"{self._folder}: is damaged: its facts make no sense") from error

    def _word_sketches(self, path: Path) -> WordSketches:
        try:
            words = read_words(self._folder, self._contents, self._number[path])
        except InputError:
            there = read_contents(self._folder)
            if there is None or there.version == self.version:
                raise
            raise InputError(
                f"{self._folder}: version {self.version} was opened, and by now it holds version"
                f" {there.version}: open it again"
            ) from None
        documents = self.field(path).documents or 0
        try:
            return sketches_of_words(words, documents, self._contents.sketch, self.version)
        except _NONSENSE as error:
            raise InputError(f"{self._folder}: is damaged: its words make no sense") from error

    def __repr__(self) -> str:
        fields, rows = number_of(len(self.fields), "field"), number_of(self.rows, "row")
        return f"History({fields}, {rows}, version={self.version})"

    def _display(self) -> Display:
        fields = ((path_text(path), "words counted" * (path in self.text_fields)) for path in self.fields)
        return Display(repr(self), [("", Grid.of(("field", ""), fields, len(self.fields)))])


def _path(field: FieldName) -> Path:
    return field_asked(field) if isinstance(field, str) else tuple(field)
