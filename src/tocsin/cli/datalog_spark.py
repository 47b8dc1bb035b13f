"""`tocsin datalog --spark`: the same files in and out, worked out on Spark."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.cli.console import progress, start_spark
from tocsin.cli.destinations import workspace
from tocsin.errors import InputError

if TYPE_CHECKING:
    from tocsin.datalog.engine import BadLine, Program
    from tocsin.datalog.language import Transfer


def run_on_spark(
    arguments: argparse.Namespace,
    program: Program,
    sources: Sequence[Transfer],
    targets: Sequence[Transfer],
    text_limit: int,
    unpacked_limit: int,
    on_bad: Callable[[BadLine], None],
    on_facts_read: Callable[[], None],
) -> None:
    """Read the facts of the sources, work out the program, write the targets, print the sizes."""
    spark = start_spark("small programs are worked out sooner without --spark", programs=True)
    from tocsin.datalog.language import printed_sizes
    from tocsin.datalog.spark.batch.evaluate import AIM, LIMIT, prepared
    from tocsin.datalog.spark.batch.fact_frames import read_fact_file
    from tocsin.datalog.spark.batch.result_frames import write_relation
    from tocsin.spark.failures import spark_failures

    local = None if arguments.local is None else program.read_local(arguments.local)
    limit = LIMIT if arguments.limit is None else arguments.limit
    sizes = printed_sizes(program.checked)
    wanted = [*(target.relation for target in targets), *sizes]
    run = prepared(spark, program, wanted, local=local, limit=limit, text_limit=text_limit)
    with spark_failures(AIM):
        with progress("Reading facts", len(sources)) as advance:
            for done, source in enumerate(sources, 1):
                relation = program.relations[source.relation]
                facts = read_fact_file(
                    spark, run.storage, source, Path(arguments.facts), relation, on_bad, unpacked_limit
                )
                run.give(relation.name, facts)
                advance(done)
        on_facts_read()
        with progress("Working out components", run.components) as advance:
            found = run.finish(advance)
        results = Path(arguments.out)
        beside = None if all(target.stream for target in targets) else str(_made(results) / "results")
        with progress("Writing results", len(targets)) as advance, workspace(beside) as folder:
            for done, target in enumerate(targets, 1):
                relation = program.relations[target.relation]
                write_relation(target, results, relation, found[relation.name], Path(folder), sys.stdout)
                advance(done)
    for name in sizes:
        print(f"{name}\t{found[name].rows}")


def _made(folder: Path) -> Path:
    """A folder that is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from error
    return folder
