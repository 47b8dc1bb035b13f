"""`tocsin backtest --compare`: what rules find and other rules do not, rule by rule."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tocsin.cli.backtest_rule import history_of, length_of
from tocsin.cli.console import progress, say, say_if_compiling, warn
from tocsin.cli.output import print_json
from tocsin.cli.rule_sources import files_of, saved_index
from tocsin.cli.text_options import preparation_of
from tocsin.errors import InputError, UnknownRuleError, raise_all
from tocsin.printable import number_of, one_line

if TYPE_CHECKING:
    from tocsin.history.comparison import Comparison

_WIDEST = 40


def run_comparison_command(arguments: argparse.Namespace) -> int:
    """Match both, and show what differs."""
    from tocsin.history.backtest import run_comparison
    from tocsin.history.overview import DEFAULT_SAMPLES

    events, _ = history_of(arguments.events)
    mine, other = (_rules_of(paths, arguments.rule) for paths in (arguments.rules, arguments.compare))
    preparation = preparation_of(arguments)
    say_if_compiling()
    try:
        with progress("Reading events", length_of(events)) as advance:
            found = run_comparison(
                mine,
                other,
                events,
                preparation,
                rule=arguments.rule,
                samples=DEFAULT_SAMPLES if arguments.samples is None else arguments.samples,
                advance=advance,
            )
    except UnknownRuleError as error:
        raise InputError(str(error)) from None
    others = "" if found.other_events == found.events else f"; {found.other_events:,} for the other rule"
    say(number_of(found.events, "event") + others)
    if found.rejects:
        warn(f"records that are not events, and were left out: {found.rejects:,}")
    if arguments.format == "json":
        _print_json(found, arguments.top)
    else:
        _show(found, arguments.top)
    return 0


def _rules_of(paths: list[str], rule: str | None) -> object:
    """The path of a saved index, or rules read; of one rule the mistakes of others do not matter."""
    from tocsin.rules import read_rules

    path = saved_index(paths)
    if path is not None:
        return path
    rules = read_rules(*files_of(paths), skip_bad=rule is not None)
    raise_all([error for error in rules.rejected if error.rule == rule])
    return rules


def _print_json(found: Comparison, top: int) -> None:
    changed = found.changed
    rows = changed.slice(0, top).to_pylist()
    names = {row["rule"] for row in rows}
    samples = [each for each in found.samples.to_pylist() if each["rule"] in names]
    numbers = {name: getattr(found, name) for name in ("events", "other_events", "rejects", "new", "lost")}
    print_json({**numbers, "rules": len(found.rules), "changed": rows, "samples": samples})


def _show(found: Comparison, top: int) -> None:
    changed = found.changed
    print(
        f"{number_of(found.new, 'new hit')} and {found.lost:,} lost of {number_of(len(found.rules), 'rule')};"
        f" {number_of(len(changed), 'rule')} with either"
    )
    rows = changed.slice(0, top).to_pylist()
    if not rows:
        return
    names = [one_line(row["rule"], _WIDEST) for row in rows]
    wide = max(len("rule"), *map(len, names))
    print(f"\n{'rule':<{wide}}    other     hits      new     lost   difference in rate")
    for name, row in zip(names, rows, strict=True):
        hits = ("-" if row[side] is None else f"{row[side]:,}" for side in ("other_hits", "hits"))
        numbers = " ".join(f"{each:>8}" for each in (*hits, f"{row['new']:,}", f"{row['lost']:,}"))
        print(f"{name:<{wide}} {numbers}   {row['difference']:+.2%} of events")
        for change in ("new", "lost"):
            events = [
                str(each["event"])
                for each in found.samples.to_pylist()
                if each["rule"] == row["rule"] and each["change"] == change
            ]
            more = ", ..." if len(events) < row[change] else ""
            if events:
                print(f"{'':<{wide}}   {change} on event {', '.join(events)}{more}")
    if len(changed) > len(rows):
        print(f"... and {number_of(len(changed) - len(rows), 'more rule')}")
