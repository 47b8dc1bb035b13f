"""`tocsin check`: every error in rule files, each at its place."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tocsin.cli.console import say, say_if_compiling, warn
from tocsin.cli.output import add_format_argument, painted, print_json
from tocsin.cli.rule_sources import RULES
from tocsin.errors import InputError, RuleError, TocsinError, each_error
from tocsin.printable import number_of
from tocsin.storage import files_at, shown

if TYPE_CHECKING:
    from tocsin.conditions.graph import Reading
    from tocsin.events import Schema
    from tocsin.rules import Rules

SUMMARY = "find every error in rule files"
DESCRIPTION = """\
Reads every rule and prints each error as file:line:column: reason, with the line that has it.
Against a schema, fields that do not exist and comparisons that are never true are errors too; it is the
schema of one table, and triggers that compare rows are not held to it.
Thresholds of free text that can never fail or never pass are warned of.
Exit code 0 when there is none, else 1."""
EXAMPLES = """\
examples:
  tocsin check rules/
  tocsin check paths.dl
  tocsin check campaigns.csv extra.sql --schema visits.parquet
"""

_PROGRAM = ".dl"
_FEW = 3_000
"""So many rules are parsed one by one in less time than it takes to load compiled loops."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument(
        "rules",
        nargs="+",
        metavar="RULES",
        help=f"{RULES}; or programs (.dl)",
    )
    parser.add_argument(
        "--schema",
        metavar="FILE",
        help="the fields that events have: a .json file that names them with their types, or event files",
    )
    add_format_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the errors."""
    schema = None
    if arguments.schema is not None:
        from tocsin.events import Schema

        schema = Schema.read(arguments.schema)
    paths, lost = _expanded(arguments.rules)
    programs = [path for path in paths if path.endswith(_PROGRAM)]
    in_programs, good = _program_errors(programs)
    rules, unreadable = _read([path for path in paths if not path.endswith(_PROGRAM)])
    errors: list[RuleError] = []
    odd: list[RuleError] = []
    disabled = 0
    if rules is not None:
        errors = _condition_errors(rules, schema)
        bad = {error.rule for error in errors}
        good += len(rules) - len(bad)
        disabled = sum(rules.ids[row].as_py() not in bad for row in rules.disabled.tolist())
        order = {file: place for place, file in enumerate(rules.files)}
        errors = sorted([*rules.rejected, *errors], key=lambda error: _place(error, order))
        odd = list(_odd_thresholds(rules, {error.rule for error in errors}))
    every = (*lost, *unreadable, *errors, *in_programs)
    if arguments.format == "json":
        members = {"rules": good, "disabled": disabled}
        print_json({**members, "errors": list(map(_members, every)), "warnings": list(map(_members, odd))})
    else:
        for error in every:
            _print(error)
        for each in odd:
            warn(each.summary())
    say(_summary(len(every), good, disabled))
    return 1 if every else 0


def _expanded(given: Sequence[str]) -> tuple[list[str], list[InputError]]:
    """The files and folders that are meant, and what stands for none."""
    paths: list[str] = []
    lost: list[InputError] = []
    for path in given:
        try:
            paths += files_at(path)
        except InputError as error:
            lost.append(error)
    return paths, lost


def _print(error: TocsinError) -> None:
    """An error, its place in colour where there is any."""
    place = f"{error.place}:" if isinstance(error, RuleError) and error.place else ""
    text = str(error)
    print(shown(painted(place, "bold") + text.removeprefix(place) if text.startswith(place) else text))


def _members(error: TocsinError) -> dict[str, object]:
    if not isinstance(error, RuleError):
        return {"reason": shown(str(error))}
    members = ("file", "line", "column", "rule", "reason", "excerpt")
    found = {name: getattr(error, name) for name in members}
    return {**found, "file": None if error.file is None else shown(error.file)}


def _program_errors(paths: Sequence[str]) -> tuple[list[TocsinError], int]:
    """Every error in programs over several relations, and how many rules the others have."""
    if not paths:
        return [], 0
    from tocsin.datalog.engine import Program

    errors: list[TocsinError] = []
    good = 0
    for path in paths:
        try:
            good += len(Program.read(path).rules)
        except RuleError as error:
            errors += each_error(error)
        except InputError as error:
            errors.append(error)
    return errors, good


def _place(error: RuleError, order: dict[str | None, int]) -> tuple[int, int, int]:
    return order.get(error.file, -1), error.line or 0, error.column or 0


def _summary(errors: int, good: int, disabled: int) -> str:
    failed = f"{number_of(errors, 'error')}; " if errors else ""
    off = f", {disabled:,} of them disabled" if disabled else ""
    return f"{failed}{number_of(good, 'rule')} OK{off}"


def _read(paths: Sequence[str]) -> tuple[Rules | None, list[InputError]]:
    """The rules of all files that can be read, and why the others cannot."""
    from tocsin.rules import Rules, read_rules
    from tocsin.rules.rule_files import rule_files

    parts: list[Rules] = []
    failures: list[InputError] = []
    for path in paths:
        try:
            files = rule_files(path)
        except InputError as error:
            failures.append(error)
            continue
        for file in files:
            try:
                parts.append(read_rules(file, skip_bad=True))
            except InputError as error:
                failures.append(error)
    return (Rules.concat(parts, skip_bad=True) if parts else None), failures


def _condition_errors(rules: Rules, schema: Schema | None) -> list[RuleError]:
    """Every error within a condition; those of triggers over several tables the rules have rejected."""
    if len(rules) <= _FEW:
        conditions, errors = rules.parsed()
        rows: Iterable[int] = conditions
    else:
        say_if_compiling()
        from tocsin.conditions.graph import read_conditions

        reading = read_conditions(rules.whens_for_index(), rules.aliases)
        errors = reading.errors
        rows = [] if schema is None else _suspicious(reading, schema)
    found = [rules.error(row, error) for row, error in errors]
    if schema is not None:
        found += _against_schema(rules, rows, schema)
    return found


def _suspicious(reading: Reading, schema: Schema) -> list[int]:
    """The rows with a predicate that a schema finds fault with; one that many share is looked at once."""
    from tocsin.conditions.language import Checker

    checker = Checker(schema)
    return _rows_with(reading, [checker.predicate(each) is not None for each in reading.predicates])


def _odd_thresholds(rules: Rules, bad: set[str | None]) -> Iterator[RuleError]:
    """Thresholds of free text that can never fail or never pass: odd, and no errors."""
    from tocsin.conditions.language import Predicate, Test, has_threshold, parse_condition
    from tocsin.syntax import errors_at
    from tocsin.text import parse_query, threshold_warning

    for row, (rule, text) in enumerate(zip(rules.ids.to_pylist(), rules.whens.to_pylist(), strict=True)):
        if rule in bad or "contains" not in text.lower():
            continue
        condition = (
            rules.triggers[row].joined()
            if rules.refusal(row)
            else parse_condition(text, rules.aliases.get(row))
        )
        found = []
        for step, place in zip(condition.steps, condition.places, strict=True):
            if isinstance(step, Predicate) and has_threshold(step):
                query = parse_query(str(step.operands[0].value), any_gap=step.test is Test.TM_CONTAINS)
                reason = threshold_warning(query, float(step.operands[1].value))
                if reason is not None:
                    found.append((place, reason))
        for error in errors_at(text, found):
            yield rules.error(row, error)


def _against_schema(rules: Rules, rows: Iterable[int], schema: Schema) -> Iterator[RuleError]:
    """Mistakes that only a schema shows."""
    from tocsin.conditions.language import Checker, parse_condition
    from tocsin.rules import of_one_row
    from tocsin.syntax import errors_at

    checker = Checker(schema)
    for row in rows:
        text = rules.whens[row].as_py()
        condition = parse_condition(text, rules.aliases.get(row))
        if row in rules.triggers and rules.triggers[row].old_of is not None:
            condition = of_one_row(condition)
        for error in errors_at(text, checker.condition(condition)):
            yield rules.error(row, error)


def _rows_with(reading: Reading, marked: list[bool]) -> list[int]:
    """The conditions that hold a marked predicate, which is leaf l where a reference is 2 * (l + 1) or
    one more (see conditions.graph.condition_reader)."""
    import numpy as np

    mark = np.array([False, *marked])
    rows: list[int] = []
    for part in reading.parts:
        refers = np.zeros(len(part.step), np.bool_)
        is_ref = part.step >= 0
        refers[is_ref] = mark[part.ref[part.step[is_ref]] >> 1]
        counts = np.concatenate([[0], np.cumsum(refers)])
        rows += part.number[counts[part.start[1:]] > counts[part.start[:-1]]].tolist()
    return sorted(rows)
