"""`tocsin bench`: the papers' tables and figures, measured again."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.cli.console import say, say_if_compiling
from tocsin.cli.output import add_format_argument, print_json
from tocsin.errors import InputError, UsageError, need_extra

if TYPE_CHECKING:
    from tocsin_lab.experiments.outcome import Table

SUMMARY = "measure a table or figure of the papers again"
DESCRIPTION = """\
Measures tables and figures of the papers that tocsin follows, on this machine: prints a table with the
paper's own figure beside ours, and writes it as CSV, and a plot as PNG. Engines are held to one answer
before any time counts; exit code 1 when they differ."""
EXAMPLES = """\
examples:
  tocsin bench --list
  tocsin bench atree-table4
  tocsin bench atree-figure12 --scale 0.01 --engines atree,interval,scan --out results
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to measure; all is everything")
    parser.add_argument("--list", action="store_true", help="name every experiment, and stop")
    parser.add_argument(
        "--scale",
        type=float,
        metavar="X",
        help="how large, as a factor of the paper's own sizes (default: what takes a minute or a few)",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the workload (default: 1)")
    parser.add_argument(
        "--out", default="bench-results", metavar="DIR", help="where files go (default: bench-results)"
    )
    parser.add_argument("--engines", metavar="A,B", help="compare only these engines")
    add_format_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, write."""
    from tocsin_lab.experiments.catalogue import chosen, listing
    from tocsin_lab.experiments.experiment_run import engines_for, run_experiment
    from tocsin_lab.experiments.outcome_files import write_outcome
    from tocsin_lab.experiments.table_texts import print_notes, print_table

    show = _print_json if arguments.format == "json" else print_table
    if arguments.list:
        show(listing())
        return 0
    _check(arguments)
    need_extra("tocsin bench", "lab", "matplotlib")
    experiments = chosen(arguments.names)
    wanted = None if arguments.engines is None else arguments.engines.split(",")
    engines = {each.name: engines_for(each, wanted) for each in experiments}
    if wanted is not None and not any(engines.values()):
        raise UsageError(f"{experiments[0].name} compares no engines: leave out --engines")
    folder = Path(arguments.out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: results cannot be written: it is not a folder")
    folder.mkdir(parents=True, exist_ok=True)
    from tocsin.warmup import warm_up

    say_if_compiling()
    warm_up()  # what every command of this machine needs
    for experiment in experiments:
        outcome = run_experiment(experiment, arguments.scale, arguments.seed, engines[experiment.name])
        for table in outcome.tables:
            show(table)
        if arguments.format == "text":
            print_notes(outcome.notes)
        written = write_outcome(experiment.name, outcome, folder)
        say(f"written in {folder}: {', '.join(path.name for path in written)}")
    return 0


def _print_json(table: Table) -> None:
    """A document for each table: its rows as objects."""
    names = [column.heading for column in table.columns]
    rows = [dict(zip(names, row, strict=True)) for row in table.rows]
    print_json({"title": table.title, "rows": rows, "notes": list(table.notes)})


def _check(arguments: argparse.Namespace) -> None:
    if not arguments.names:
        raise UsageError("which experiment? tocsin bench --list names them, tocsin bench all runs every one")
    if arguments.scale is not None and not 0 < arguments.scale < float("inf"):
        raise UsageError(f"--scale is a number above 0, not {arguments.scale:g}")
    if arguments.seed < 0:
        raise UsageError(f"--seed is 0 or more, not {arguments.seed}")
