"""`tocsin statistics`: what past events hold, counted here or on Spark."""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.cli.console import left_out, progress, say, say_if_compiling, start_spark, warn
from tocsin.cli.destinations import check_outside
from tocsin.cli.event_inputs import add_events_argument, add_place_arguments, is_for_spark, paths_of
from tocsin.errors import UsageError
from tocsin.printable import number_of, printable

if TYPE_CHECKING:
    from tocsin.events import Slice
    from tocsin.history.statistics import History, Plan

SUMMARY = "count what past events hold"
DESCRIPTION = """\
Counts what the events of some files, or of folders of part files, hold: of every field its values, of text
fields the words (the dictionary that scores are made of) and which go together. The folder that it writes
is what --history of other commands takes. Records that are no events are left out. Files of more than half
a gibibyte are counted on Spark, smaller ones in this process; the folder is the same."""
EXAMPLES = """\
examples:
  tocsin statistics --events visits/ -o history
  tocsin statistics --events news.jsonl -o history --text title body
  tocsin statistics --events today.jsonl -o history --merge --part 2026-11-16
  tocsin statistics --events visits/ -o history --spark
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    add_events_argument(parser)
    parser.add_argument("-o", "--out", required=True, metavar="FOLDER", help="the folder to write")
    parser.add_argument(
        "--text",
        nargs="+",
        action="extend",
        metavar="FIELD",
        help="fields whose words are counted (default: all that hold strings)",
    )
    parser.add_argument(
        "--sketch",
        type=int,
        metavar="N",
        help="documents in a word's sketch, at most (default: 64): more make estimates nearer to the truth",
    )
    parser.add_argument(
        "--merge", action="store_true", help="count the events with what the folder holds already"
    )
    parser.add_argument(
        "--part", metavar="NAME", help="a name for these events, such as their day: merged once only"
    )
    add_place_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Count all events, then write everything."""
    from tocsin.events import plan_slices
    from tocsin.history.statistics import check_folder

    started = time.perf_counter()
    check_folder(arguments.out)
    given = paths_of(arguments.events)
    for each in given:
        check_outside(Path(arguments.out), each)
    slices = plan_slices(given)
    if not slices:
        raise UsageError(f"{', '.join(arguments.events)}: there are no events to count")
    count = _count_on_spark if is_for_spark(arguments, slices) else _count_here
    say_if_compiling()
    history = count(arguments, slices)
    if history.rejects:
        warn(left_out(history.rejects, "event"))
    _tell(history)
    written = f"{printable(str(arguments.out))} written in {time.perf_counter() - started:.1f} s"
    say(f"{written} (version {history.version})")
    return 0


def _count_here(arguments: argparse.Namespace, slices: list[Slice]) -> History:
    from tocsin.history.statistics import statistics_of_slices

    with progress("Counting slices", len(slices)) as advance:
        return statistics_of_slices(slices, _plan(arguments), advance)


def _count_on_spark(arguments: argparse.Namespace, slices: list[Slice]) -> History:
    spark = start_spark()
    from tocsin.spark.stage_progress import stages_shown
    from tocsin.spark.statistics import statistics_of_slices

    say(f"Counting {number_of(len(slices), 'slice')} of events")
    with stages_shown(spark, "Counting events"):
        return statistics_of_slices(spark, slices, _plan(arguments))


def _plan(arguments: argparse.Namespace) -> Plan:
    from tocsin.history.statistics import StatisticsJob

    wanted = {name: getattr(arguments, name) for name in ("text", "sketch", "merge", "part")}
    return partial(StatisticsJob.plan, arguments.out, **wanted)


def _tell(history: History) -> None:
    """What was found, a line for each field."""
    from tocsin.events import path_text

    say(f"{number_of(history.rows, 'event')}, {number_of(len(history.fields), 'field')}")
    names = [path_text(path) for path in history.fields]
    width = max(map(len, names), default=0)
    for name, path in zip(names, history.fields, strict=True):
        field = history.field(path)
        said = [f"in {field.present / max(1, history.rows):.1%}"]
        for kind in field.kinds.values():
            said.append(number_of(kind.distinct, f"different {kind.kind.name.lower()}"))
        if path in history.text_fields:
            said.append(number_of(len(history.dictionary(path)), "word"))
        say(f"  {name:{width}}  {', '.join(said)}")
