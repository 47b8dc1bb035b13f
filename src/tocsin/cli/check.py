"""`tocsin check`: every mistake in rule files, each at its place."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tocsin.cli.messages import say
from tocsin.errors import InputError, RuleError

if TYPE_CHECKING:
    from tocsin.events.schema import Schema
    from tocsin.grammar.rules import Rules
    from tocsin.index.reading import Reading

NAME = "check"
SUMMARY = "find every mistake in rule files"
DESCRIPTION = """\
Reads every rule and prints each mistake as file:line:column: reason, with the line that has it.
Against a schema, fields that do not exist and comparisons that are never true are mistakes too.
Exit code 0 when there is none, else 1."""
EXAMPLES = """\
examples:
  tocsin check rules/
  tocsin check campaigns.csv extra.sql --schema visits.parquet
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument(
        "rules", nargs="+", metavar="RULES", help="rule files (.sql .csv .jsonl .parquet) or folders of them"
    )
    parser.add_argument(
        "--schema",
        metavar="FILE",
        help="the fields that events have: a .json file that names them with their types, or event files",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the mistakes."""
    from tocsin.events.schema import Schema

    schema = None if arguments.schema is None else Schema.read(arguments.schema)
    rules, unreadable = _read(arguments.rules)
    errors = [] if rules is None else _errors(rules, schema)
    for failure in unreadable:
        print(failure)
    for error in errors:
        print(error)
    count = len(unreadable) + len(errors)
    read = 0 if rules is None else len(rules) + _distinct_rules(rules.rejected)
    say(_summary(count, _distinct_rules(errors), read))
    return 1 if count else 0


def _summary(count: int, bad: int, rules: int) -> str:
    if not count:
        return f"{rules:,} {'rule' if rules == 1 else 'rules'}, no mistakes"
    mistakes = f"{count:,} {'mistake' if count == 1 else 'mistakes'}"
    return f"{mistakes} in {bad:,} of {rules:,} rules" if bad else mistakes


def _distinct_rules(errors: Sequence[RuleError]) -> int:
    """How many rules have these errors: one at a column may be one of several of its rule."""
    several = {(error.file, error.rule) for error in errors if error.rule and error.column}
    alone = {(error.file, error.line) for error in errors if not (error.rule and error.column)}
    return len(several) + len(alone)


def _read(paths: Sequence[str]) -> tuple[Rules | None, list[InputError]]:
    """The rules of all files that can be read, and why the others cannot."""
    from tocsin.grammar.rule_files import read_rules
    from tocsin.grammar.rules import Rules

    parts: list[Rules] = []
    failures: list[InputError] = []
    for path in paths:
        try:
            parts.append(read_rules(path, skip_bad=True))
        except InputError as error:
            failures.append(error)
    return (Rules.concat(parts, skip_bad=True) if parts else None), failures


def _errors(rules: Rules, schema: Schema | None) -> list[RuleError]:
    """Every mistake, in the order of files and lines."""
    from tocsin.index.reading import read_conditions

    reading = read_conditions(rules.whens, rules.aliases)
    found = list(rules.rejected)
    found += [rules.error(row, error) for row, error in reading.errors]
    if schema is not None:
        found += _against_schema(rules, reading, schema)
    order = {file: place for place, file in enumerate(rules.files)}
    return sorted(found, key=lambda error: (order.get(error.file, -1), error.line or 0, error.column or 0))


def _against_schema(rules: Rules, reading: Reading, schema: Schema) -> Iterator[RuleError]:
    """Mistakes that only a schema shows; a predicate that many rules share is looked at once."""
    from tocsin.grammar.checking import Checker
    from tocsin.grammar.conditions import parse_condition
    from tocsin.grammar.places import errors_at

    checker = Checker(schema)
    bad = [checker.predicate(predicate) is not None for predicate in reading.predicates]
    for row in _rows_with(reading, bad):
        text = rules.whens[row].as_py()
        condition = parse_condition(text, rules.aliases.get(row))
        for error in errors_at(text, checker.condition(condition)):
            yield rules.error(row, error)


def _rows_with(reading: Reading, marked: list[bool]) -> list[int]:
    """The conditions that hold a marked predicate, which is leaf l where a reference is 2 * (l + 1) or
    one more (see index.reading)."""
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
