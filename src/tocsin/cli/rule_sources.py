"""RULES_OR_INDEX: a saved index, or rule files that are built into one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.cli.console import nearest
from tocsin.cli.destinations import rule_line
from tocsin.errors import RuleError, UsageError, each_error, raise_all

if TYPE_CHECKING:
    from tocsin.conditions.live import Index, Preparation
    from tocsin.rules import Rules

ENGINE_HELP = "how to match: atree (default), interval, dewey, bop, bdd, dnf, scan or scan-conj"
ENGINES = ("atree", "interval", "dewey", "bop", "bdd", "dnf", "scan", "scan-conj")
_MOST_COMPARED = 20_000
RULES = (
    "rule files (.sql .csv .tsv .jsonl .json .parquet), folders or patterns of them, or - for standard input"
)
RULES_OR_INDEX = f"a saved index, or {RULES}"


def check_engine(arguments: argparse.Namespace) -> None:
    """UsageError for an engine that there is not."""
    if arguments.engine is not None and arguments.engine not in ENGINES:
        raise UsageError(
            f"there is no engine '{arguments.engine}'{nearest(arguments.engine, ENGINES)}"
            f" (choose one of {', '.join(ENGINES)})"
        )


def saved_index(paths: Sequence[str]) -> str | None:
    """The path of the saved index that is meant, whole or in shards, or None when rule files are."""
    from tocsin.saved import is_saved
    from tocsin.storage import files_at

    every = [each for path in paths for each in files_at(path)]
    indexes = [path for path in every if is_saved(path)]
    if indexes and len(every) > 1:
        raise UsageError(f"{indexes[0]} is a saved index, which is matched alone")
    return indexes[0] if indexes else None


def files_of(paths: Sequence[str]) -> list[str | Path]:
    """The files that are read for RULES_OR_INDEX: a folder stands for the rule files in it."""
    from tocsin.rules.rule_files import rule_files
    from tocsin.saved import is_saved
    from tocsin.storage import files_at

    every = [each for path in paths for each in files_at(path)]
    return [file for path in every for file in ([path] if is_saved(path) else rule_files(path))]


def read_and_build(
    paths: Sequence[str], engine: str, skip_bad: bool, preparation: Preparation
) -> tuple[Index, list[str]]:
    """The engine, and the bad rules as lines for a file of rejects.

    Without skip_bad, RuleErrors with every error of the files: those of statements and tables, and
    those within conditions.
    """
    from tocsin.engines import build_good, build_prepared
    from tocsin.rules import read_rules

    rules = read_rules(*paths, skip_bad=True)
    if skip_bad:
        built, errors = build_good(rules, engine, preparation)
        return built, reject_lines(rules, errors)
    try:
        built = build_prepared(rules, engine, preparation)
    except RuleError as error:
        raise_all([*rules.rejected, *each_error(error)])
    raise_all(rules.rejected)
    return built, []


def reject_lines(rules: Rules, errors: Sequence[RuleError]) -> list[str]:
    """The errors as lines; those after the reader's are about conditions, and show them whole."""
    of_reader = len(rules.rejected)
    bad = {error.rule for error in errors[of_reader:]}
    texts = {}
    if bad:
        rows = [row for row, rule in enumerate(rules.ids.to_pylist()) if rule in bad]
        texts = {rules.ids[row].as_py(): rules.whens[row].as_py() for row in rows}
    lines = [rule_line(error, error.excerpt or "") for error in errors[:of_reader]]
    return lines + [rule_line(error, texts[error.rule]) for error in errors[of_reader:]]


def no_such_rule(rule: str, ids: Sequence[str]) -> str:
    """What is said of an id that no rule has, with the one that is most like it."""
    if len(ids) > _MOST_COMPARED:  # only those of about the same length and beginning
        alike = [each for each in ids if abs(len(each) - len(rule)) <= 1 and each[:1] == rule[:1]]
        ids = alike[:_MOST_COMPARED]
    found = next((each for each in ids if each.lower() == rule.lower()), None)
    found = found or next(iter(get_close_matches(rule, ids, n=1, cutoff=0.5)), None)
    return f"there is no rule {rule!r}" + (f": did you mean {found!r}?" if found else "")
