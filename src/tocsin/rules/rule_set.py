"""Rules as columns: ids and conditions by the million, with where each came from.

Nothing here reads a condition. `Rules.error` turns what the parser says about one condition's text
into an error that names the file, line and column where that text stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.conditions.language import Condition, parse_condition
from tocsin.display import SHOWN, Display, Displayed, Grid
from tocsin.errors import RuleError, RuleErrors, UsageError, each_error, raise_all
from tocsin.printable import described, first_few, number_of, one_line
from tocsin.rules.metadata_values import read_enabled
from tocsin.rules.rule_columns import RuleColumns, columns_of_pairs, columns_of_table
from tocsin.rules.rule_metadata import concat_metadata, metadata_of_rows, misread_metadata
from tocsin.rules.triggers import Trigger
from tocsin.tables import Frame, is_frame, table_of, table_without_views

_ITERATED_AT_ONCE = 10_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; `metadata` has only what is not null."""

    id: str
    when: str
    metadata: dict[str, Any] = field(default_factory=dict)
    file: str | None = None
    line: int | None = None


class Rules(Displayed):
    """A collection of rules with different ids.

    ids, whens      large_string[n], one chunk
    metadata        a table of n rows, or None
    file_of         int32[n]   a place in `files`
    lines           int64[n]   the condition's line in its file, or the row's line or number
    columns         int32[n]   where in that line the condition's text starts; 0 for a table's row,
                               whose errors give the place within the condition
    triggers        by row, for the rules that are triggers: the tables they watch, and what they do
    aliases         by row, for the rules that have one: the first name that is no part of a field
    rejected        what was left out, when the reader was told to skip it
    """

    def __init__(
        self,
        ids: pa.LargeStringArray,
        whens: pa.LargeStringArray,
        *,
        lines: Longs,
        columns: Ints | None = None,
        files: Sequence[str | None] = (None,),
        file_of: Ints | None = None,
        aliases: Mapping[int, str] | None = None,
        triggers: Mapping[int, Trigger] | None = None,
        metadata: pa.Table | None = None,
        rejected: Sequence[RuleError] = (),
    ) -> None:
        self.ids = ids
        self.whens = whens
        self.lines = lines
        self.columns = np.zeros(len(ids), np.int32) if columns is None else columns
        self.files = tuple(files)
        self.file_of = np.zeros(len(ids), np.int32) if file_of is None else file_of
        self.aliases = dict(aliases or {})
        self.triggers = dict(triggers or {})
        self.metadata = metadata
        self.rejected = list(rejected)

    @classmethod
    def of(cls, source: object, *, skip_bad: bool = False) -> Rules:
        """Rules from what a user has: RuleSource says what.

        A frame of any kind has the columns `id` and `when`, a dictionary has them as keys, and what else
        these have is metadata. Raises RuleError, or RuleErrors, for rows that cannot be rules; with skip_bad
        these are in `rejected`.
        """
        if isinstance(source, Rules):
            return source
        if is_frame(source):
            found = cls.of_table(table_of(source))
        elif isinstance(source, Mapping) and not {"id", "when"} <= source.keys():
            found = cls.of_columns(columns_of_pairs(source.items()))
        elif isinstance(source, Iterable) and not isinstance(source, _NO_RULES) and not _is_index(source):
            found = cls.of_rows(source)
        else:
            raise _no_rules(source)
        return cls.concat([found], skip_bad=skip_bad)

    @classmethod
    def of_rows(cls, rows: Iterable[object]) -> Rules:
        """The good ones of (id, condition) pairs and dictionaries; ids may still repeat."""
        others: dict[int, Mapping[str, Any]] = {}
        columns = columns_of_pairs(_pairs(rows, others))
        count = len(columns.rows) + len(columns.errors)
        metadata = metadata_of_rows([others.get(row, {}) for row in range(count)]) if others else None
        return cls.of_columns(columns, metadata)

    @classmethod
    def of_table(cls, table: pa.Table, *, file: str | None = None, lines: Longs | None = None) -> Rules:
        """The good rows of a table; ids may still repeat. Without lines, rows count from 1."""
        numbers = np.arange(1, table.num_rows + 1, dtype=np.int64) if lines is None else lines
        columns = columns_of_table(table, numbers, file)
        metadata = table_without_views(table.drop_columns(["id", "when"]))
        return cls.of_columns(columns, metadata if metadata.num_columns else None, file=file, lines=numbers)

    @classmethod
    def of_columns(
        cls,
        columns: RuleColumns,
        metadata: pa.Table | None = None,
        *,
        file: str | None = None,
        lines: Longs | None = None,
    ) -> Rules:
        """Rules from checked columns; `metadata` and `lines` are over all rows of their source."""
        if metadata is not None and metadata.num_rows > len(columns.rows):
            metadata = metadata.take(pa.array(columns.rows))
        return cls(
            columns.ids,
            columns.whens,
            lines=columns.rows + 1 if lines is None else lines[columns.rows],
            files=(file,),
            metadata=metadata,
            rejected=columns.errors,
        )

    @classmethod
    def concat(cls, parts: Sequence[Rules], *, skip_bad: bool = False) -> Rules:
        """All rules of the parts, in order.

        An id that an earlier rule has is an error that names both places, and so is metadata that
        cannot be read. The errors, with those that the parts rejected, are raised together; with skip_bad
        they are in `rejected`.
        """
        whole = parts[0] if len(parts) == 1 else cls._joined(parts)
        errors = [error for part in parts for error in part.rejected]
        repeated, repeats = whole._repeated_ids()
        misread, wrong = whole._metadata_errors()
        errors += [*repeats, *wrong]
        if not skip_bad:
            raise_all(errors)
        bad = [*repeated, *misread]
        good = whole if not bad else whole.take(np.delete(np.arange(len(whole)), bad))
        good.rejected = errors
        return good

    @classmethod
    def _joined(cls, parts: Sequence[Rules]) -> Rules:
        starts = np.cumsum([0, *(len(part) for part in parts)]).tolist()
        files: list[str | None] = []
        file_of = [np.zeros(0, np.int32)]
        for part in parts:
            file_of.append(part.file_of + np.int32(len(files)))
            files.extend(part.files)
        return cls(
            pa.concat_arrays([pa.array([], pa.large_string()), *(part.ids for part in parts)]),
            pa.concat_arrays([pa.array([], pa.large_string()), *(part.whens for part in parts)]),
            lines=np.concatenate([np.zeros(0, np.int64), *(part.lines for part in parts)]),
            columns=np.concatenate([np.zeros(0, np.int32), *(part.columns for part in parts)]),
            files=files,
            file_of=np.concatenate(file_of),
            aliases=_moved(starts, [part.aliases for part in parts]),
            triggers=_moved(starts, [part.triggers for part in parts]),
            metadata=concat_metadata([(part.metadata, len(part)) for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, row: int) -> Rule:
        place = range(len(self))[row]
        return next(self._slice(place, 1))

    def __iter__(self) -> Iterator[Rule]:
        for start in range(0, len(self), _ITERATED_AT_ONCE):
            yield from self._slice(start, _ITERATED_AT_ONCE)

    def __repr__(self) -> str:
        files = [file for file in dict.fromkeys(self.files) if file is not None]
        came = f" from {one_line(first_few(files, 1), 80)}" if files else ""
        rest = f", {number_of(len(self.rejected), 'error')}" if self.rejected else ""
        return f"<tocsin.Rules: {number_of(len(self), 'rule')}{came}{rest}>"

    def _display(self) -> Display:
        return Display(repr(self)[1:-1], [("", rules_grid(self._slice(0, SHOWN), len(self)))])

    def take(self, rows: NDArray[np.integer[Any]]) -> Rules:
        """The rules of these rows, in this order; what was rejected stays known."""
        taken = pa.array(rows, pa.int64())
        aliases = {}
        triggers = {}
        if self.triggers or self.aliases:
            places = list(enumerate(rows.tolist()))
            aliases = {at: self.aliases[row] for at, row in places if row in self.aliases}
            triggers = {at: self.triggers[row] for at, row in places if row in self.triggers}
        return Rules(
            self.ids.take(taken),
            self.whens.take(taken),
            lines=self.lines[rows],
            columns=self.columns[rows],
            files=self.files,
            file_of=self.file_of[rows],
            aliases=aliases,
            triggers=triggers,
            metadata=None if self.metadata is None else self.metadata.take(taken),
            rejected=self.rejected,
        )

    def file(self, row: int) -> str | None:
        """The file that the rule of this row came from."""
        return self.files[int(self.file_of[row])]

    @property
    def disabled(self) -> Longs:
        """The rows of the rules that never match: `enabled = false` is among their metadata."""
        return read_enabled(self.metadata)[0]

    def has_several_tables(self, row: int) -> bool:
        """Whether the rule is a trigger over several tables."""
        return row in self.triggers and len(self.triggers[row].tables) > 1

    def refusal(self, row: int) -> str | None:
        """Why no index can take the rule, a trigger whose condition is one of rules.joins; else None."""
        return self.triggers[row].refusal if row in self.triggers else None

    def whens_for_index(self) -> pa.LargeStringArray:
        """The conditions, with `true` for those that no index can take: they were read with their statements,
        and reading them as others are would cost an error for each."""
        refused = np.zeros(len(self), np.bool_)
        refused[[row for row, trigger in self.triggers.items() if trigger.refusal]] = True
        return pc.if_else(pa.array(refused), "true", self.whens) if refused.any() else self.whens

    def condition(self, row: int) -> Condition:
        """The condition of the rule of this row, without its table's alias.

        RuleError, or RuleErrors, with the place in the rule's file when it cannot be read, and when the rule
        is a trigger that no index can take.
        """
        refusal = self.refusal(row)
        if refusal is not None:
            raise self.error(row, RuleError(refusal))
        try:
            return parse_condition(self.whens[row].as_py(), self.aliases.get(row))
        except RuleError as error:
            raise self.error(row, error) from None

    def parsed(self) -> tuple[dict[int, Condition], list[tuple[int, RuleError]]]:
        """The conditions by row, read one by one, and what is wrong with others; those that no index can take
        are in neither. For a few rules: an index reads a million in its own way."""
        conditions: dict[int, Condition] = {}
        errors: list[tuple[int, RuleError]] = []
        for row, text in enumerate(self.whens.to_pylist()):
            if self.refusal(row) is None:
                try:
                    conditions[row] = parse_condition(text, self.aliases.get(row))
                except RuleError as error:
                    errors += [(row, each) for each in each_error(error)]
        return conditions, errors

    def index_errors(self, found: Iterable[tuple[int, RuleError]]) -> list[RuleError]:
        """Why some rules cannot be in an index, by row, given what a reader of conditions found.

        A trigger that no index can take is refused whatever was found in it.
        """
        refused = {row: trigger.refusal for row, trigger in self.triggers.items() if trigger.refusal}
        reasons = [(row, error) for row, error in found if row not in refused]
        reasons += [(row, RuleError(reason)) for row, reason in refused.items()]
        return [self.error(row, error) for row, error in sorted(reasons, key=lambda reason: reason[0])]

    def error(self, row: int, error: RuleError) -> RuleError:
        """What the parser says of a condition's text, placed in the rule's file.

        A condition in a trigger file has lines and columns of that file. In a table, the line is the
        row's and the column the place within the condition.
        """
        if isinstance(error, RuleErrors):
            return RuleErrors([self.error(row, each) for each in error.errors])
        line, column = int(self.lines[row]), error.column
        if column is not None and error.line is not None:
            if self.columns[row]:
                column += int(self.columns[row]) - 1 if error.line == 1 else 0
                line += error.line - 1
            elif error.line > 1:
                before = self.whens[row].as_py().split("\n")[: error.line - 1]
                column += sum(len(each) + 1 for each in before)
        return RuleError(
            error.reason,
            rule=self.ids[row].as_py(),
            file=self.file(row),
            line=line,
            column=column,
            excerpt=error.excerpt,
            caret=error.caret,
        )

    def _slice(self, start: int, length: int) -> Iterator[Rule]:
        ids = self.ids.slice(start, length).to_pylist()
        whens = self.whens.slice(start, length).to_pylist()
        metadata: list[dict[str, Any]] = [{}] * len(ids)
        if self.metadata is not None:
            metadata = self.metadata.slice(start, length).to_pylist()
        for at, (name, when, values) in enumerate(zip(ids, whens, metadata, strict=True)):
            known = {key: value for key, value in values.items() if value is not None}
            yield Rule(name, when, known, self.file(start + at), int(self.lines[start + at]))

    def _metadata_errors(self) -> tuple[list[int], list[RuleError]]:
        """The rows whose throttle, dedup, alert, enabled or after cannot be read, and an error for each."""
        wrong = misread_metadata(self.metadata, len(self))
        return list(wrong), [self.error(row, RuleError(wrong[row])) for row in sorted(wrong)]

    def _repeated_ids(self) -> tuple[list[int], list[RuleError]]:
        """The rows whose id an earlier row has, and an error for each."""
        encoded = pc.dictionary_encode(self.ids)
        if len(encoded.dictionary) == len(self):
            return [], []
        codes = encoded.indices.to_numpy()
        first = np.full(len(encoded.dictionary), -1, np.int64)
        first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
        rows = np.flatnonzero(first[codes] != np.arange(len(codes))).tolist()
        return rows, [self._repeated(row, int(first[codes[row]])) for row in rows]

    def _repeated(self, row: int, first: int) -> RuleError:
        file, line = self.file(first), int(self.lines[first])
        place = f"in row {line}" if file is None else f"at {file}:{line}"
        name = self.ids[row].as_py()
        return RuleError(
            f"the id '{name}' is already taken {place}",
            rule=name,
            file=self.file(row),
            line=int(self.lines[row]),
        )


def _moved(starts: Sequence[int], parts: Sequence[Mapping[int, T]]) -> dict[int, T]:
    """What parts have by row, by the rows of the whole."""
    return {
        start + row: value for start, part in zip(starts, parts, strict=False) for row, value in part.items()
    }


def rules_grid(rules: Iterable[Rule], count: int) -> Grid:
    """The first of so many rules, to be looked at."""
    rows = [
        (rule.id, rule.when, ", ".join(f"{name}: {value}" for name, value in rule.metadata.items()))
        for rule in rules
    ]
    if not any(besides for _, _, besides in rows):
        return Grid.of(("rule", "condition"), [row[:2] for row in rows], count)
    return Grid.of(("rule", "condition", "besides"), rows, count)


RuleSource: TypeAlias = (
    Rules
    | Frame
    | Mapping[str, str]
    | Mapping[int, str]
    | Iterable[tuple[Any, Any] | list[Any] | Mapping[str, Any] | Rule]
)
"""What rules may be given as: what read_rules gave, a frame of any kind with the columns `id` and `when`, a
mapping from id to condition, or an iterable of (id, condition) pairs, of dictionaries or of Rule."""

_NO_RULES = (str, bytes, bytearray, Mapping)


def _is_index(given: object) -> bool:
    """Whether it is an index of rules, which goes through their ids; that room is above this one."""
    return hasattr(given, "match_table")


def _no_rules(given: object) -> UsageError:
    """What is said of something that holds no rules."""
    what, hint = described(given), ""
    if isinstance(given, Mapping):
        what, hint = "one rule as a dictionary", ": put it into a list"
    elif isinstance(given, str):
        hint = ": read_rules reads files and folders, and a condition needs an id, [('r1', 'age > 18')]"
    elif hasattr(given, "__fspath__"):
        hint = ": read_rules reads files and folders"
    elif _is_index(given):
        hint = ": it is built already"
    return UsageError(
        f"rules cannot be {what}{hint}. Expected are (id, condition) pairs, a list of dictionaries with id"
        " and when, a table with these columns (Arrow, pandas, polars, DuckDB), or what read_rules gives"
    )


def _pairs(rows: Iterable[object], others: dict[int, Mapping[str, Any]]) -> Iterator[object]:
    """Each row with a dictionary or a Rule as a pair; what it holds besides goes to `others`, by row."""
    for number, row in enumerate(rows):
        if isinstance(row, Rule):
            row = {**row.metadata, "id": row.id, "when": row.when}
        if not isinstance(row, Mapping):
            yield row
            continue
        besides = {str(name): value for name, value in row.items() if name not in ("id", "when")}
        if besides:
            others[number] = besides
        yield row.get("id"), row.get("when")
