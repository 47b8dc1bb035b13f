"""`tocsin build`: rules into one index file."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

from tocsin.cli.console import say, say_if_compiling, start_spark, warn_of_rules_left_out
from tocsin.cli.destinations import (
    STANDARD,
    check_destinations,
    publish,
    rejects_file,
    workspace,
    write_rejects,
)
from tocsin.cli.rule_sources import ENGINE_HELP, ENGINES, RULES, check_engine, files_of, read_and_build
from tocsin.cli.text_options import add_text_arguments, preparation_of
from tocsin.errors import UsageError
from tocsin.printable import printable

SUMMARY = "make an index of rules"
DESCRIPTION = """\
Reads rules and writes an index of them: one file, which `tocsin match` and tocsin.open load at once.
Bad rules stop it, each with its place, unless they are to be skipped. With --engine it is for another engine.

With --spark the rules are read, compared and shared by Spark's tasks, and the index has them in the order
of their ids. With --shards it is a folder of several files, each with some of the rules."""
EXAMPLES = """\
examples:
  tocsin build rules/ -o rules.tocsin
  tocsin build campaigns.parquet extra.sql -o rules.tocsin --skip-bad --rejects bad.jsonl
  tocsin build alerts.sql -o alerts.tocsin --history statistics/
  tocsin build alerts.sql -o alerts.tocsin --engine interval
  tocsin build campaigns.parquet -o rules.tocsin --organise full
  tocsin build campaigns/ -o rules.tocsin --spark --shards 4
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("rules", nargs="+", metavar="RULES", help=RULES)
    parser.add_argument(
        "-o", "--out", required=True, metavar="FILE", help="the index file to write; - is standard output"
    )
    parser.add_argument("--skip-bad", action="store_true", help="leave out rules that cannot be taken")
    parser.add_argument(
        "--rejects",
        metavar="FILE",
        help="where to write what --skip-bad leaves out (default: beside the index, NAME.rejects.jsonl)",
    )
    parser.add_argument("--engine", metavar="NAME", help=ENGINE_HELP)
    parser.add_argument("--spark", action="store_true", help="build on Spark: for millions of rules")
    parser.add_argument(
        "--shards",
        metavar="K",
        help="with --spark, write an index in K parts; auto: in as many as keep each below half a gibibyte",
    )
    parser.add_argument(
        "--organise",
        default="auto",
        choices=("auto", "unique", "full"),
        help="how rules that contain each other share parts: unique, each part once; full, larger parts too;"
        " auto (default), full if an estimate says that it pays",
    )
    add_text_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Build and save."""
    check_engine(arguments)
    shards = _shards_of(arguments)
    if arguments.spark and arguments.engine not in (None, ENGINES[0]):
        raise UsageError(f"Spark builds for the engine {ENGINES[0]}: give --engine without --spark")
    out = None if arguments.out == STANDARD else arguments.out
    rejects = rejects_file(arguments.rejects, out, arguments.skip_bad)
    if out is None and arguments.spark:
        raise UsageError("Spark writes an index to a file: name one with --out")
    destinations = [] if shards is not None or out is None else [arguments.out]
    destinations += [rejects] if arguments.skip_bad else []
    check_destinations(destinations, files_of(arguments.rules))
    started = time.perf_counter()
    say_if_compiling()
    if arguments.spark:
        _build_on_spark(arguments, shards, rejects)
        say(f"{printable(str(arguments.out))} written in {time.perf_counter() - started:.1f} s")
        return 0
    engine = arguments.engine or ENGINES[0]
    preparation = preparation_of(arguments, arguments.organise)
    index, bad = read_and_build(arguments.rules, engine, arguments.skip_bad, preparation)
    if out is None:
        with workspace(None) as folder:
            draft = Path(folder) / "index"
            index.save(draft)
            publish(draft, None)
    else:
        index.save(out)
    if bad or arguments.rejects is not None:
        write_rejects(rejects, bad)
    if bad:
        warn_of_rules_left_out(len(bad), rejects)
    say(str(index.stats()))
    say(f"{printable(out or 'standard output')} written in {time.perf_counter() - started:.1f} s")
    return 0


# ---- On Spark, for rules by the million


def _shards_of(arguments: argparse.Namespace) -> int | str | None:
    """What --shards says: a number, "auto", or None when it is not given."""
    given = arguments.shards
    if given is None or given == "auto":
        shards: int | str | None = given
    elif given.isascii() and given.isdigit() and int(given) > 0:
        shards = int(given)
    else:
        raise UsageError(f"--shards takes a number from 1 on or auto, not {given!r}")
    if shards is not None and not arguments.spark:
        raise UsageError("--shards is for an index that is built on Spark: give --spark too")
    return shards


def _build_on_spark(arguments: argparse.Namespace, shards: int | str | None, rejects: Path) -> None:
    """Build, write the index, and tell about it."""
    files = [Path(file) for file in files_of(arguments.rules)]
    preparation = preparation_of(arguments, arguments.organise)
    spark = start_spark("for less than a million rules, building without --spark is quicker")
    from tocsin.spark.index_build.build import build_index
    from tocsin.spark.index_build.rule_frames import rules_of_files
    from tocsin.spark.stage_progress import stages_shown

    with workspace(arguments.out) as folder, stages_shown(spark, "Reading rules") as name_step:
        left_out = Path(folder) / "rejects" if arguments.skip_bad else None
        built = build_index(
            rules_of_files(spark, files),
            arguments.out,
            preparation,
            shards=shards,
            rejects=left_out,
            say=name_step,
        )
        if left_out is not None and (built.rejects or arguments.rejects is not None):
            write_rejects(rejects, _lines(left_out))
    if built.rejects:
        warn_of_rules_left_out(built.rejects, rejects)
    say(str(built))


def _lines(folder: Path) -> Iterator[str]:
    """Rejects as the lines of a file of rejects (see destinations.py)."""
    from tocsin.spark.index_build.index_writer import refused_rows

    for refused in refused_rows(sorted(folder.glob("*.parquet"))):
        members = {**refused._asdict(), "text": refused.text or ""}
        yield json.dumps(members, ensure_ascii=False) + "\n"
