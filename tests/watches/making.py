"""Makers of triggers and rows that meet often: few tables, few fields, few values."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

from tests.cases import Choices

TABLES = ("s", "t")
FIELDS = ("k", "m", "o.p")
ALIASES = ("a", "b", "c")
CHANGES = (
    *(
        "insert",
        "update",
        "update",
        "delete",
        "delete",
        "insert or update",
        "update of k",
        "delete or insert",
    ),
    *("update of o.p, m or delete", "insert or update of {}.k or delete", 'update of o, "note"'),
)
INSTANT = "2026-01-31T12:00:00Z"
COMMON = (1, 1, 1, 1.0, 2, "a", True)
SCALARS = (
    *(None, 2**70, float(2**70), False, "1", "b", float("nan"), 0.5, Decimal("0.5")),
    *(INSTANT, "2026-01-31T13:00:00+01:00", datetime(2026, 1, 31, 12, tzinfo=UTC), datetime(2026, 1, 31, 11)),
)
NOTES = ("a red fox", "red red wine", "fox", "")
SELECTIONS = (
    *("{} = 1", "{} != 1", "{} is null", "{} is not null", "{} in ('a', 'b')", "not {} < 2", "{} >= 1"),
    *("{} = true", f"{{}} = timestamp '{INSTANT}'", "{} like 'a%'", "{}", "true"),
)
SIGNS = ("=", "=", "=", "=", "=", "!=", "<", "<=", ">", ">=")
TEXTS = (
    "contains({}.note, 'red, fox', 0.5)",
    "contains({}.note, 'red')",
    "contains({}.note, 'fox', boolean)",
)


def make_row(chooser: Choices) -> dict[str, Any]:
    """A row with values of every kind, most of them few."""
    row: dict[str, Any] = {
        "k": _value(chooser),
        "m": _value(chooser),
        "o": {"p": _value(chooser)},
        "note": chooser.choice(NOTES),
    }
    if not chooser.randint(0, 4):
        del row[chooser.choice(["k", "m", "o", "note"])]
    return row


def _value(chooser: Choices) -> Any:
    kind = chooser.randint(0, 9)
    if kind < 6:
        return chooser.choice(COMMON)
    if kind == 6:
        return {"p": 1}
    if kind == 7:
        return [chooser.choice(chooser.choice([COMMON, SCALARS])) for _ in range(chooser.randint(0, 3))]
    return chooser.choice(SCALARS)


def make_trigger(chooser: Choices, name: str) -> str:
    """A statement over one to three tables; every alias has a selection or a join."""
    aliases = ALIASES[: chooser.choice([1, 1, 1, 2, 2, 3])]
    tables = ", ".join(f"{chooser.choice(TABLES)} as {alias}" for alias in aliases)
    event = chooser.choice(aliases) if chooser.randint(0, 2) else None
    kinds = chooser.choice(CHANGES).format(event)
    after = "" if event is None else f"after {kinds} to {event}"
    has_old = event is not None and ("update" in kinds or "delete" in kinds)
    conjuncts = []
    for alias, other in pairwise(aliases):
        if chooser.randint(0, 4):
            conjuncts.append(f"{_field(chooser, [alias])} {chooser.choice(SIGNS)} {_field(chooser, [other])}")
    conjuncts += [_selection(chooser, aliases) for _ in range(chooser.randint(0, 1))]
    joined = " ".join(conjuncts)
    conjuncts += [_filter(chooser, aliases, event) for _ in range(chooser.randint(0, 1))]
    if event is not None and chooser.randint(0, 1):
        conjuncts.append(chooser.choice(TEXTS).format(event))
    if event is not None and has_old and chooser.randint(0, 1):
        conjuncts.append(_old(chooser, aliases, event))
        if len(aliases) == 1 and chooser.randint(0, 2):
            del conjuncts[:-1]
            joined = conjuncts[0].replace("old.", "a.")
    conjuncts += [f"{alias}.k is not null" for alias in aliases if f"{alias}." not in joined]
    if sum(each.count("0.5)") for each in conjuncts) > 1:
        conjuncts = [each.replace("0.5)", "boolean)") for each in conjuncts]
    if chooser.randint(0, 1):
        conjuncts.reverse()
    condition = " and ".join(conjuncts)
    if len(aliases) == 1 and chooser.randint(0, 1):
        condition = condition.replace("a.", "")
    disabled = "with (enabled = false)" if not chooser.randint(0, 9) else ""
    return f"create trigger {name} {disabled} from {tables} {after} when {condition};"


def _old(chooser: Choices, aliases: Any, event: str) -> str:
    """A conjunct that asks of the row before the change."""
    kind = chooser.randint(0, 3)
    old = _field(chooser, ["old"])
    now = old.replace("old", event)
    compared = (
        f"{old} {chooser.choice(('=', '!=', '>='))} {chooser.choice([now, now, _field(chooser, ['old'])])}"
    )
    if kind == 0:
        return chooser.choice(SELECTIONS[:-1]).format(old)
    if kind == 1:
        return f"{_field(chooser, aliases)} {chooser.choice(SIGNS)} {old}"
    other = chooser.choice(SELECTIONS[:-1]).format(_field(chooser, ["old", *aliases]))
    return compared if kind == 2 else f"{chooser.choice(['', 'not '])}({compared} or {other})"


def _field(chooser: Choices, aliases: Any) -> str:
    return f"{chooser.choice(aliases)}.{chooser.choice(FIELDS)}"


def _selection(chooser: Choices, aliases: Any) -> str:
    chosen = chooser.choice(SELECTIONS)
    return chosen.format(_field(chooser, aliases)) if "{}" in chosen else f"{aliases[0]}.note is not null"


def _filter(chooser: Choices, aliases: Any, event: str | None) -> str:
    parts = []
    for _ in range(2):
        kind = chooser.randint(0, 2)
        if kind == 0 and event is not None:
            parts.append(chooser.choice(TEXTS).format(event))
        elif kind == 1 and len(aliases) > 1:
            parts.append(f"{_field(chooser, aliases)} {chooser.choice(SIGNS)} {_field(chooser, aliases)}")
        else:
            parts.append(_selection(chooser, aliases))
    connective = chooser.choice(["or", "or", "xor", "and"])
    return f"{chooser.choice(['', '', 'not '])}({parts[0]} {connective} {parts[1]})"
