"""Write a workload to a folder: python -m tocsin_lab.abe_gen --out FOLDER."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tocsin.errors import TocsinError
from tocsin_lab.abe_gen.events import events, rows_of, table_of, thinned
from tocsin_lab.abe_gen.files import FORMATS, write_events, write_rules
from tocsin_lab.abe_gen.settings import AdsSetting, Setting, Workload
from tocsin_lab.abe_gen.shape import shape_of
from tocsin_lab.abe_gen.workloads import forest_of, rule_batches

EXAMPLE = """\
example:
  python -m tocsin_lab.abe_gen --expressions 100000 --events 3000 --thin 5 --out workload
      writes rules.parquet, rules.jsonl, events.parquet, events.jsonl and the events with five pairs
      each, thinned.parquet and thinned.jsonl; with them
  tocsin match workload/rules.parquet --events workload/events.jsonl --no-spark
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    options = _parser().parse_args(arguments)
    try:
        setting = _setting(options)
        options.out.mkdir(parents=True, exist_ok=True)
    except TocsinError as error:
        _say(str(error))
        return 2
    except OSError as error:
        _say(f"cannot make the folder {options.out}: {error.strerror}")
        return 2
    start = time.perf_counter()
    forest = forest_of(setting)
    _say(f"{shape_of(forest)}\nmade in {time.perf_counter() - start:.1f} s")
    formats = tuple(options.formats)
    write_rules(rule_batches(forest), options.out, formats, lambda count: _say(f"{count:,} rules written"))
    made = events(setting, options.events)
    write_events(table_of(made), rows_of(made), options.out, "events", formats)
    if options.thin is not None:
        few = thinned(made, options.thin)
        write_events(table_of(few), rows_of(few), options.out, "thinned", formats)
    _say(f"{options.events:,} events written; done in {time.perf_counter() - start:.1f} s")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m tocsin_lab.abe_gen",
        description="Write the rules and events of a workload of the A-Tree paper.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--ads", action="store_true", help="like the paper's advertisements (section 6.2)")
    parser.add_argument("--expressions", type=int, metavar="N", help="how many rules")
    parser.add_argument("--depth", type=int, metavar="N", help="levels of an expression, predicates included")
    parser.add_argument("--children", type=int, metavar="N", help="of and, or, on average (not with --ads)")
    parser.add_argument("--zipf", type=float, metavar="A", help="exponent of sharing")
    parser.add_argument("--dimensions", type=int, metavar="N", help="fields")
    parser.add_argument("--cardinality", type=int, metavar="N", help="values of a field")
    parser.add_argument("--event-size", type=int, metavar="N", help="pairs of an event")
    parser.add_argument("--events", type=_from_one, default=3_000, metavar="N", help="how many events")
    parser.add_argument("--thin", type=_from_one, metavar="N", help="also the same events with N pairs each")
    parser.add_argument("--seed", type=_from_zero, metavar="N")
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=FORMATS)
    return parser


def _from_one(text: str) -> int:
    return _at_least(1, text)


def _from_zero(text: str) -> int:
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    number = int(text)
    if number < least:
        raise argparse.ArgumentTypeError(f"must be at least {least}")
    return number


def _setting(options: argparse.Namespace) -> Workload:
    setting: Workload = AdsSetting() if options.ads else Setting()
    own = ("expressions", "depth", "zipf", "seed", *(() if options.ads else ("children",)))
    of_fields = {"count": "dimensions", "cardinality": "cardinality", "event_size": "event_size"}
    given = {name: getattr(options, name) for name in own if getattr(options, name) is not None}
    dimensions = {
        name: getattr(options, option)
        for name, option in of_fields.items()
        if getattr(options, option) is not None
    }
    return replace(setting, **given, dimensions=replace(setting.dimensions, **dimensions))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
