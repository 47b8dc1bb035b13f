"""`tocsin build --spark`: the same on Spark, for rules by the million."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from tocsin.cli.console import say, start_spark, warn_of_rules_left_out
from tocsin.cli.destinations import workspace, write_rejects
from tocsin.cli.rule_sources import files_of
from tocsin.cli.text_options import preparation_of
from tocsin.errors import UsageError


def shards_of(arguments: argparse.Namespace) -> int | str | None:
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


def build_on_spark(arguments: argparse.Namespace, shards: int | str | None, rejects: Path) -> None:
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
