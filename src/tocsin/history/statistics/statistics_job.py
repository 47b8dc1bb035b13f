"""One run over a history: what it has to count, and its result made the one that the folder holds.

How it counts, in this process or on Spark, is the caller's; the same events give the same files either way.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

import pyarrow as pa
import pyarrow.compute as pc

from tocsin.conditions.language import field_asked
from tocsin.errors import InputError, TocsinError, TocsinWarning, UsageError
from tocsin.events import ANY_KIND, Kind, Path, Schema, path_text
from tocsin.history.statistics.field_facts import ALL_FIELDS, merge_facts
from tocsin.history.statistics.history import FieldName, History
from tocsin.history.statistics.statistics_folder import (
    DRAFT,
    FIELDS,
    WORDS,
    Contents,
    check_folder,
    read_contents,
    read_facts,
    write_contents,
    write_facts,
)
from tocsin.history.statistics.task_facts import Partials, warm_up
from tocsin.storage import PRIVATE_FOLDER

SKETCH = 64
"""Hashes in a sketch unless told otherwise: the share of two words' documents is off by an eighth or so."""

LEAST_SKETCH, LARGEST_SKETCH = 8, 4096

Count = Callable[[FilePath, FilePath], tuple[int, pa.Table]]
"""Counts all events, given a folder to write the words to, those of the version before among them, and one
for drafts; gives the number of words and the facts of the new events."""

Plan = Callable[[Sequence[Path], Sequence[Path]], "StatisticsJob"]
"""Plans a job, given the fields and those of them that hold text: StatisticsJob.plan, told all else."""


@dataclass(frozen=True, slots=True)
class StatisticsJob:
    """What is to be counted, and where it goes. Made to be pickled.

    fields      all fields, those of the version before first: a place here is a field's number
    looked_at   those of them that are counted in this run
    text        the numbers of the fields whose words are counted in this run
    before      what the folder holds, None when that is to be replaced
    part        the name of this part of the history, if it has one
    """

    folder: FilePath
    fields: tuple[Path, ...]
    looked_at: tuple[Path, ...]
    text: tuple[int, ...]
    sketch: int
    version: int
    before: Contents | None
    part: str | None

    @staticmethod
    def plan(
        path: str | os.PathLike[str],
        every: Sequence[Path],
        texts: Sequence[Path],
        *,
        text: Sequence[FieldName] | None = None,
        sketch: int | None = None,
        merge: bool = False,
        only: Sequence[FieldName] | None = None,
        part: str | None = None,
    ) -> StatisticsJob:
        """What one run has to do; UsageError and InputError for what it cannot.

        every    the fields that there are; `only` names those that are wanted, keys of maps among them
        texts    those that hold text; `text` names those whose words are to be counted instead
        """
        fields = list(every)
        if only is not None:
            columns = {field[0] for field in every}
            fields = [field for field in dict.fromkeys(_named("fields", only)) if field[0] in columns]
        named = [field for field in texts if field in fields] if text is None else _named("text", text)
        for field in named:
            if field not in fields:
                raise UsageError(f"there is no field {path_text(field)!r} to count the words of")
        if part is not None and not isinstance(part, str):
            raise UsageError(f"the name of a part is a text, not {part!r}")
        there = check_folder(path)
        before = there if merge else None
        size = sketch if sketch is not None else SKETCH if before is None else before.sketch
        if not LEAST_SKETCH <= size <= LARGEST_SKETCH:
            raise UsageError(f"a sketch has from {LEAST_SKETCH} to {LARGEST_SKETCH:,} hashes, not {size}")
        if before is not None and before.sketch != size:
            raise UsageError(
                f"the sketches that are there have {before.sketch} hashes: {size} cannot be merged"
            )
        known = tuple(dict.fromkeys([*(before.fields if before is not None else ()), *fields]))
        number = {field: place for place, field in enumerate(known)}
        version = 1 if there is None else there.version + 1
        return StatisticsJob(
            FilePath(path).resolve(),
            known,
            tuple(fields),
            tuple(number[field] for field in named),
            size,
            version,
            before,
            part,
        )

    def partials(self, partition: int) -> Partials:
        """What notes the events of a part that is noted by itself."""
        return Partials(self.fields, self.text, self.sketch, self.version, partition)

    def run(self, count: Count) -> History:
        """Count, and make the result the one that the folder holds; the result is that, opened.

        A part that the folder holds already is not counted again, and a warning says so.
        """
        if self.before is not None and self.part in self.before.parts:
            said = f"{self.folder}: {self.part!r} is in it already, and not counted again"
            warnings.warn(said, TocsinWarning, 3)
            return History.open(self.folder)
        warm_up()
        unique = f"{self.version}-{uuid.uuid4().hex[:8]}"
        fields_file, words_folder = (
            self.folder / f"{FIELDS}{unique}.parquet",
            self.folder / f"{WORDS}{unique}",
        )
        draft = self.folder / f"{DRAFT}{unique}"
        self._make_folder()
        done = False
        try:
            words, facts = count(words_folder, draft)
            before = [] if self.before is None else [read_facts(self.folder, self.before)]
            whole = merge_facts([facts, *before])
            write_facts(fields_file, whole)
            self._check_not_overtaken()
            write_contents(self.folder, self._contents(words, whole, fields_file.name, words_folder.name))
            done = True
        except TocsinError:
            self._check_not_overtaken()  # else what it could not read is what another run has taken away
            raise
        finally:
            shutil.rmtree(draft, ignore_errors=True)
            if not done:
                shutil.rmtree(words_folder, ignore_errors=True)
                fields_file.unlink(missing_ok=True)
                with contextlib.suppress(OSError):
                    self.folder.rmdir()  # when this run made it, and so it is empty
        return History.open(self.folder)

    def _check_not_overtaken(self) -> None:
        """TocsinError when the folder holds another version than the one that this run goes by."""
        there = read_contents(self.folder)
        if (0 if there is None else there.version) != self.version - 1:
            raise TocsinError(f"{self.folder}: another run has written here meanwhile: try again")

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{self.folder}: cannot be made: {error.strerror}") from error

    def _contents(self, words: int, facts: pa.Table, fields_file: str, words_folder: str) -> Contents:
        about = facts.filter(pc.equal(facts.column("field"), ALL_FIELDS))
        said = dict(zip(about.column("fact").to_pylist(), about.column("number").to_pylist(), strict=True))
        before = self.before
        return Contents(
            version=self.version,
            rows=said.get("present", 0),
            rejects=said.get("rejects", 0),
            fields=self.fields,
            text=tuple(sorted({*self.text, *(before.text if before is not None else ())})),
            words=words,
            sketch=self.sketch,
            fields_file=fields_file,
            words_folder=words_folder,
            parts=(*(() if before is None else before.parts), *(() if self.part is None else [self.part])),
        )


def fields_of_schemas(schemas: Iterable[Schema]) -> tuple[list[Path], list[Path]]:
    """The fields of a history whose parts have these schemas, and those of them that hold text."""
    fields: set[Path] = set()
    texts: set[Path] = set()
    for schema in schemas:
        fields.update(schema.kinds)
        texts.update(
            path for path, kinds in schema.kinds.items() if Kind.STRING in kinds and kinds != ANY_KIND
        )
    return sorted(fields), sorted(texts)


def _named(option: str, named: Sequence[FieldName]) -> list[Path]:
    """The fields that the user names."""
    if isinstance(named, str):
        raise UsageError(f"{option} takes a list of fields")
    return [field_asked(field) if isinstance(field, str) else tuple(field) for field in named]
