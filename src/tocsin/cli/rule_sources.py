"""RULES_OR_INDEX: a saved index, or rule files that are built into one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.cli.destinations import rule_line
from tocsin.errors import RuleError, UsageError, each_error, raise_all

if TYPE_CHECKING:
    from tocsin.conditions.live import Index, Preparation
    from tocsin.rules import Rules

ENGINE_HELP = "how to match: atree (default), interval, dewey, bop, bdd, dnf, scan or scan-conj"
RULES_OR_INDEX = "a saved index, or rule files (.sql .csv .jsonl .parquet) or folders of them"


def saved_index(paths: Sequence[str]) -> str | None:
    """The path of the saved index that is meant, whole or in shards, or None when rule files are."""
    from tocsin.saved import is_saved

    indexes = [path for path in paths if is_saved(path)]
    if indexes and len(paths) > 1:
        raise UsageError(f"{indexes[0]} is a saved index, which is matched alone")
    return indexes[0] if indexes else None


def files_of(paths: Sequence[str]) -> list[str | Path]:
    """The files that are read for RULES_OR_INDEX: a folder stands for the rule files in it."""
    from tocsin.rules.rule_files import rule_files
    from tocsin.saved import is_saved

    folders = {path for path in paths if Path(path).is_dir() and not is_saved(path)}
    return [file for path in paths for file in (rule_files(path) if path in folders else [path])]


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
