"""Random triggers, tables and changes: a watch tells what the judge tells, after every step."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.monitor.watching.judge import Judge, shown, told

import tocsin
from tocsin.grammar.rule_files import rules_of_triggers
from tocsin.monitor.watching.watch import Watch

TABLES = ("s", "t")
FIELDS = ("k", "m", "o.p")
ALIASES = ("a", "b", "c")
INSTANT = "2026-01-31T12:00:00Z"
SAME_INSTANT = "2026-01-31T13:00:00+01:00"
COMMON = st.sampled_from([1, 1.0, 2, "a", True])
SCALARS = st.sampled_from(
    [
        *(None, 2**70, float(2**70), False, "1", "b", float("nan"), 0.5, Decimal("0.5")),
        *(INSTANT, SAME_INSTANT, datetime(2026, 1, 31, 12, tzinfo=UTC), datetime(2026, 1, 31, 11)),
    ]
)
VALUES = st.one_of(
    COMMON, COMMON, COMMON, SCALARS, st.lists(st.one_of(COMMON, SCALARS), max_size=3), st.just({"p": 1})
)
NOTES = st.sampled_from(["a red fox", "red red wine", "blue", ""])
ROWS = st.fixed_dictionaries(
    {"k": VALUES, "m": VALUES, "o": st.fixed_dictionaries({"p": VALUES}), "note": NOTES}
)
SELECTIONS = st.sampled_from(
    [
        *("{} = 1", "{} != 1", "{} is null", "{} is not null", "{} in ('a', 'b')", "not {} < 2"),
        *("{} = true", f"{{}} = timestamp '{INSTANT}'", "{} like 'a%'", "{}", "true"),
    ]
)
SIGNS = st.sampled_from(["=", "=", "=", "=", "!=", "<", "<=", ">", ">="])
TEXT_CONDITIONS = st.sampled_from(
    ["contains({}.note, 'red, fox', 1.2)", "contains({}.note, 'red')", "contains({}.note, 'red', boolean)"]
)


@st.composite
def triggers(draw: st.DrawFn, name: str) -> str:
    """A statement over one to three tables; every alias has a selection or a join."""
    aliases = ALIASES[: draw(st.integers(1, 3))]
    tables = ", ".join(f"{draw(st.sampled_from(TABLES))} as {alias}" for alias in aliases)
    event = draw(st.sampled_from([None, *aliases]))
    after = (
        "" if event is None else f"after {draw(st.sampled_from(['insert', 'update', 'delete']))} to {event}"
    )
    field = st.builds("{}.{}".format, st.sampled_from(aliases), st.sampled_from(FIELDS))
    selection = st.builds(lambda text, field: text.format(field), SELECTIONS, field)
    leaves = [selection]
    if len(aliases) > 1:
        leaves.append(st.builds("{} {} {}".format, field, SIGNS, field))
        if event is not None:
            leaves.append(TEXT_CONDITIONS.map(lambda text: text.format(event)))
    filters = st.builds(
        "({} {} {})".format, st.one_of(leaves), st.sampled_from(["or", "xor", "and"]), st.one_of(leaves)
    )
    conjuncts = [f"{alias}.{draw(st.sampled_from(FIELDS))} is not null" for alias in aliases]
    if event is not None and draw(st.booleans()):
        conjuncts.append(draw(TEXT_CONDITIONS).format(event))
    for one, other in pairwise(aliases):
        fields = st.sampled_from(FIELDS)
        if draw(st.integers(0, 4)):
            conjuncts.append(f"{one}.{draw(fields)} {draw(SIGNS)} {other}.{draw(fields)}")
    conjuncts += draw(st.lists(st.one_of(*leaves, filters, filters.map("not {}".format)), max_size=3))
    conjuncts = draw(st.permutations(conjuncts))
    if sum("1.2" in each for each in conjuncts) + sum(each.count("1.2") > 1 for each in conjuncts) > 1:
        conjuncts = [each for each in conjuncts if "1.2" not in each]
    return f"create trigger {name} from {tables} {after} when {' and '.join(conjuncts)};"


KINDS = st.sampled_from(["insert"] * 6 + ["update", "update", "delete", "delete", "add", "remove"])


@settings(max_examples=60, deadline=None)
@given(st.data(), st.lists(ROWS, min_size=2, max_size=4), st.lists(KINDS, min_size=8, max_size=24))
def test_a_watch_tells_what_the_judge_tells(
    data: st.DataObject, pool: list[dict[str, Any]], kinds: list[str]
) -> None:
    watch, judge = tocsin.watch([]), Judge()
    rows, tables = st.sampled_from(pool), st.sampled_from(TABLES)
    added = 0
    for kind in ["add", "add", "add", *kinds]:
        if kind == "add":
            text = data.draw(triggers(f"r{added}"))
            added += 1
            watch.add(rules_of_triggers(text))
            judge.add(text)
        elif kind == "remove" and judge.triggers:
            name = data.draw(st.sampled_from(judge.triggers)).name
            watch.remove(name)
            judge.remove(name)
        elif kind != "remove":
            arguments = [data.draw(rows) for _ in range(2 if kind == "update" else 1)]
            _change(watch, judge, kind, data.draw(tables), *arguments)
    for table in TABLES:
        assert shown(watch.rows(table)) == shown(judge.tables.get(table, []))


def _change(watch: Watch, judge: Judge, kind: str, table: str, *rows: dict[str, Any]) -> None:
    """Make a change on both sides; one of a row that is not there is an error."""
    change: Callable[..., list[tocsin.Alert]] = getattr(watch, kind)
    expected = getattr(judge, kind)(table, *(dict(row) for row in rows))
    if expected is None:
        with pytest.raises(tocsin.EventError, match="no such row"):
            change(table, *rows)
    else:
        assert sorted(told(change(table, *rows)), key=repr) == sorted(expected, key=repr)
