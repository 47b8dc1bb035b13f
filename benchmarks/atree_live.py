"""Rules that come and go: changes a second, and changes with a match after each. By the clock."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.atree_workloads import Built, Sizes, asked_of, built_of
from benchmarks.folders import Row
from benchmarks.measuring import say

from tocsin.conditions.language import parse_condition
from tocsin.conditions.meaning import matches
from tocsin_lab import abe_gen

CHECKED_EVENTS = 3


def live_updates(sizes: Sizes) -> dict[str, Any]:
    """Rules that come and go in indexes of two sizes, each of the default setting."""
    return {str(count): _live(sizes, count) for count in (sizes.expressions, sizes.expressions // 10)}


def _live(sizes: Sizes, expressions: int) -> dict[str, Any]:
    """Insert new rules into an index, delete them, and do both while matching."""
    setting = abe_gen.Setting(expressions=expressions)
    built = built_of(setting)
    index: Any = built.index
    count = sizes.updates + sizes.updates_with_match
    texts = abe_gen.rules(replace(setting, expressions=count, seed=2))["when"].to_pylist()
    new = [(f"new{number}", text) for number, text in enumerate(texts)]
    rows = asked_of(abe_gen.events(setting, sizes.single_events), sizes.single_events).rows
    index.insert("first", texts[0])
    index.match(rows[0])
    index.delete("first")
    say("  rules are inserted and deleted")
    plain, mixed = new[: sizes.updates], new[sizes.updates :]
    inserted = _seconds(lambda pair: index.insert(*pair), plain)
    _check(built, dict(plain), rows[:CHECKED_EVENTS])
    deleted = _seconds(lambda pair: index.delete(pair[0]), plain)
    _check(built, {}, rows[:CHECKED_EVENTS])
    say("  and with a match after each")
    events = {pair: rows[number % len(rows)] for number, pair in enumerate(mixed)}

    def insert_and_match(pair: tuple[str, str]) -> None:
        index.insert(*pair)
        index.match(events[pair])

    def delete_and_match(pair: tuple[str, str]) -> None:
        index.delete(pair[0])
        index.match(events[pair])

    seconds = _seconds(insert_and_match, mixed)
    _check(built, dict(mixed), rows[:CHECKED_EVENTS])
    seconds += _seconds(delete_and_match, mixed)
    alone = _seconds(lambda pair: index.match(events[pair]), mixed)
    return {
        "rules": setting.expressions,
        "updates": len(plain),
        "inserts_a_second": len(plain) / inserted,
        "deletes_a_second": len(plain) / deleted,
        "updates_with_match": 2 * len(mixed),
        "with_match_a_second": 2 * len(mixed) / seconds,
        "match_alone": alone / len(mixed),
    }


def _seconds(work: Callable[[tuple[str, str]], None], pairs: Iterable[tuple[str, str]]) -> float:
    start = time.perf_counter()
    for pair in pairs:
        work(pair)
    return time.perf_counter() - start


def _check(built: Built, new: dict[str, str], rows: Sequence[Row]) -> None:
    """Of the new rules exactly those match that should."""
    conditions = {rule: parse_condition(text) for rule, text in new.items()}
    for row in rows:
        found = {match.rule for match in built.index.match(row) if match.rule.startswith("new")}
        if found != {rule for rule, condition in conditions.items() if matches(condition, row)}:
            sys.exit(f"the inserted rules do not match as they should: {row}")
