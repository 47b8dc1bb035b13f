"""What one call of `index.match` costs, for events as they come one by one.

    python -m benchmarks.single_events                   the small workloads
    python -m benchmarks.single_events --abe FOLDER      and abe100k and abe1m, beside the C engine's times
    python -m benchmarks.single_events --quick           few calls: tries the script, keeps nothing

Every answer is held to that of the block way before times count. The table goes into docs/performance.md.
"""

from __future__ import annotations

import argparse
import random
import sys
import warnings
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.atree_matching import OTHER_ENGINE
from benchmarks.folders import events_in, rules_in
from benchmarks.measuring import machine_facts, say, timed
from benchmarks.spine import DOCUMENTS
from benchmarks.tables import machine_note, markdown, times, write_into

import tocsin
from tocsin.warmup import warm_up

Row = dict[str, Any]

_WORDS = [f"{first}{last}" for first in ("ba", "co", "di", "fu", "ge") for last in ("lo", "mar", "nit", "ps")]
_START = datetime(2026, 1, 1, tzinfo=UTC)
_ABE_EVENTS = 300


class Workload(NamedTuple):
    """Rules and events of one kind."""

    title: str
    rules: Callable[[], Any]
    events: Callable[[random.Random, int], list[Row]]
    other: float | None = None


def plain(source: random.Random, count: int) -> list[Row]:
    """Integers, floats, strings and a Boolean, more of them than rules name."""
    return [
        {
            "amount": source.randrange(1_000),
            "country": source.choice(["NO", "SE", "FI"]),
            "score": source.random(),
            "vip": source.random() < 0.5,
            "channel": source.choice(["web", "app"]),
            "session": number,
            "agent": "some client or other",
        }
        for number in range(count)
    ]


def with_(name: str, value: Callable[[random.Random], object]) -> Callable[[random.Random, int], list[Row]]:
    """The same, and another field."""
    return lambda source, count: [{**row, name: value(source)} for row in plain(source, count)]


def text_of(source: random.Random, words: int = 200) -> str:
    """Some words."""
    return " ".join(source.choice(_WORDS) + source.choice(["", "s", "ed"]) for _ in range(words))


def many_texts(source: random.Random, count: int) -> list[Row]:
    """A short text in each of 35 fields."""
    return [{f"t{field}": text_of(source, 12) for field in range(35)} for _ in range(count)]


PLAIN_RULES = [
    "amount > 900 and country = 'NO'",
    "amount between 10 and 400 and vip = true",
    "country in ('SE', 'FI') and score < 0.25",
    "channel = 'web' and not (country = 'NO')",
    "score >= 0.9 or amount < 5",
]
QUERY = "contains(body, 'balos & conit')"


def _rules(*more: str) -> list[tuple[str, str]]:
    return [(f"r{number}", when) for number, when in enumerate([*PLAIN_RULES, *more])]


def _instant(source: random.Random) -> datetime:
    return _START + timedelta(seconds=source.randrange(10**7), microseconds=source.randrange(10**6))


def workloads(folder: Path | None) -> list[Workload]:
    """All that are measured."""
    at = "at > timestamp '2026-02-01T00:00:00Z' and amount > 500"
    found = [
        Workload("few plain rules", _rules, plain),
        Workload("and a `datetime`", lambda: _rules(at), with_("at", _instant)),
        Workload(
            "and a timestamp as text",
            lambda: _rules(at),
            with_("at", lambda source: _instant(source).isoformat().replace("+00:00", "Z")),
        ),
        Workload(
            "and a `date`",
            lambda: _rules(at),
            with_("at", lambda source: date(2026, 1, 1) + timedelta(days=source.randrange(90))),
        ),
        Workload(
            "and a `Decimal`",
            lambda: _rules("price <= 19.99 and amount > 500"),
            with_("price", lambda source: Decimal(source.randrange(4_000)) / 100),
        ),
        Workload(
            "and `contains` over 200 words, with its score", lambda: _rules(QUERY), with_("body", text_of)
        ),
        Workload(
            "and one whose threshold is not reached",
            lambda: _rules(f"amount < 990 or {QUERY[:-1]}, 3)"),
            with_("body", text_of),
        ),
        Workload(
            "`contains` on 35 fields of 12 words",
            lambda: [(f"r{field}", QUERY.replace("body", f"t{field}")) for field in range(35)],
            many_texts,
        ),
    ]
    if folder is not None:
        found += [
            Workload(
                f"`{name}`",
                lambda name=name: rules_in(folder / name),
                lambda _, __, name=name: events_in(folder / name)[:_ABE_EVENTS],
                other,
            )
            for name, other in OTHER_ENGINE.items()
            if (folder / name).is_dir()
        ]
    return found


def measured(workload: Workload, calls: int, repeat: int) -> list[str]:
    """Rules, matches of an event, processor time of a call, how many times faster than the other engine."""
    say(workload.title)
    index = tocsin.build(workload.rules())
    rows = workload.events(random.Random(5), calls)
    found = [index.match(row) for row in rows]
    held_to_blocks(index, rows, found)
    match = index.match

    def all_of_them() -> None:
        for row in rows:
            match(row)

    taken = timed(all_of_them, repeat, len(rows)).best
    return [
        f"{len(index):,}",
        f"{sum(map(len, found)) / len(found):,.3g}",
        f"{taken * 1e6:,.3g} µs",
        "" if workload.other is None else times(workload.other, taken),
    ]


def held_to_blocks(index: tocsin.Index, rows: Sequence[Row], found: Sequence[Any]) -> None:
    """End the run when blocks give other matches or scores."""
    from tocsin.events import FieldPlan

    version = index.version
    blocks = version.match_cells(FieldPlan(version.fields).batch(rows))
    first = 0
    for row, matches, count in zip(rows, found, blocks.per_event.tolist(), strict=True):
        same = matches.numbers.tolist() == blocks.rule[first : first + count].tolist()
        if same and matches.scores is not None and blocks.score is not None:
            same = repr(matches.scores.tolist()) == repr(blocks.score[first : first + count].tolist())
        if not same:
            sys.exit(f"blocks and single events differ on {row}")
        first += count


def main() -> None:
    """Measure and write down."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--abe", type=Path, metavar="FOLDER", help="abe100k and abe1m are in it")
    parser.add_argument("--quick", action="store_true", help="few calls; nothing is written")
    options = parser.parse_args()
    warnings.simplefilter("ignore", tocsin.TocsinWarning)
    warm_up()
    calls, repeat = (200, 2) if options.quick else (2_000, 7)
    rows = [(each.title, measured(each, calls, repeat)) for each in workloads(options.abe)]
    head = ["", "rules", "matches an event", "a call of `index.match`", "faster than the C engine"]
    table = f"{markdown(head, rows)}\n\n{machine_note(machine_facts())}"
    print(table)
    if not options.quick:
        write_into(DOCUMENTS, {"single-events": table})


if __name__ == "__main__":
    main()
