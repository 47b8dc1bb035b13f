"""What can be asked of the rules of an index that is in use: each request read and checked alone.

Whether an id is taken or unknown depends on the rules there are, and is checked by who changes them
(writer.py). Everything else is checked here, before anything is changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from tocsin.conditions.kernels.condition_precheck import is_condition
from tocsin.conditions.language.parser import parse_condition
from tocsin.errors import RuleError, RuleErrors, TocsinError, UsageError
from tocsin.rules import metadata_of_rows, misread_metadata, pair_problem

_EXPECTED = "expected ('insert', id, condition), ('replace', id, condition) or ('delete', id)"
_SIZES = {"insert": (3, 4), "replace": (3, 4), "delete": (2, 2)}


class Change(NamedTuple):
    """One checked request: `drops` a rule of this id that is there, and `adds` one.

    when        the condition, empty when nothing is added
    metadata    what the rule carries besides, without nulls
    """

    rule: str
    drops: bool
    adds: bool
    when: str = ""
    metadata: Mapping[str, Any] | None = None


def insertion(rule: object, when: object, metadata: Mapping[str, Any] | None = None) -> Change:
    """A rule that is to be added."""
    return _addition(rule, when, metadata, drops=False)


def replacement(rule: object, when: object, metadata: Mapping[str, Any] | None = None) -> Change:
    """A rule that is to take the place of the one with its id."""
    return _addition(rule, when, metadata, drops=True)


def deletion(rule: object) -> Change:
    """A rule that is to go."""
    return Change(_id(rule, "true"), drops=True, adds=False)


def read_changes(operations: Iterable[object]) -> list[Change]:
    """Operations as users write them: ("insert", id, condition), ("replace", id, condition), ("delete", id).

    The first two may have a mapping of metadata as fourth. Raises UsageError for anything else and
    RuleError for an id or condition that cannot be.
    """
    if isinstance(operations, str | bytes | Mapping) or not isinstance(operations, Iterable):
        raise UsageError(f"apply takes a list of operations: {_EXPECTED}")
    return [_read_change(operation) for operation in operations]


def _read_change(operation: object) -> Change:
    if not isinstance(operation, tuple | list) or not operation or str(operation[0]) not in _SIZES:
        raise UsageError(f"{operation!r:.200} is not an operation: {_EXPECTED}")
    kind, given = str(operation[0]), operation[1:]
    fewest, most = _SIZES[kind]
    if not fewest <= len(operation) <= most:
        raise UsageError(f"'{kind}' does not take {len(given)} arguments: {_EXPECTED}")
    if kind == "insert":
        return insertion(*given)
    return replacement(*given) if kind == "replace" else deletion(*given)


def _addition(rule: object, when: object, metadata: Mapping[str, Any] | None, *, drops: bool) -> Change:
    name = _id(rule, when)
    text = str(when)
    if not is_condition(np.frombuffer(text.encode(), np.uint8)):
        try:
            parse_condition(text)  # accepts what the kernel is not sure about, or says what is wrong
        except RuleError as error:
            raise _named(error, name) from None
    return Change(name, drops, True, text, None if metadata is None else _checked_metadata(name, metadata))


def _id(rule: Any, when: object) -> str:
    reason = pair_problem(rule, when)
    if reason is not None:
        raise RuleError(reason, rule=rule if isinstance(rule, str) and rule else None)
    return rule if isinstance(rule, str) else str(int(rule))


def _named(error: RuleError, rule: str) -> RuleError:
    """What the parser says, with the rule's id; the place is the one within the condition."""
    if isinstance(error, RuleErrors):
        return RuleErrors([_named(each, rule) for each in error.errors])
    return RuleError(
        error.reason,
        rule=rule,
        line=error.line,
        column=error.column,
        excerpt=error.excerpt,
        caret=error.caret,
    )


def _checked_metadata(rule: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata that a later compaction can put into columns, whatever other rules carry."""
    if not isinstance(metadata, Mapping) or not all(isinstance(name, str) for name in metadata):
        raise UsageError(f"the metadata of a rule is a mapping with names, not {metadata!r:.200}")
    for name in ("id", "when"):
        if name in metadata:
            raise RuleError(f"'{name}' cannot be the name of metadata: it is a column of its own", rule=rule)
    found = {name: value for name, value in metadata.items() if value is not None}
    try:
        columns = metadata_of_rows([found])
        json.dumps(found, default=str).encode()
        kept = deepcopy(found)
    except (TypeError, ValueError, RecursionError, TocsinError) as error:
        raise RuleError(f"the metadata cannot be kept: {error}", rule=rule) from error
    for reason in misread_metadata(columns, 1).values():
        raise RuleError(reason, rule=rule)
    return kept
