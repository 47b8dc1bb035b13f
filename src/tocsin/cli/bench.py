"""`tocsin bench`: the papers' tables and figures, measured again."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.cli.messages import say, say_if_compiling
from tocsin.errors import TocsinWarning, UsageError

if TYPE_CHECKING:
    from tocsin.lab.experiments.experiment import Experiment

NAME = "bench"
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
        help="how large, as a factor of the paper's own sizes (default: what takes about a minute)",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the workload (default: 1)")
    parser.add_argument(
        "--out", default="bench-results", metavar="DIR", help="where files go (default: bench-results)"
    )
    parser.add_argument("--engines", metavar="A,B", help="compare only these engines")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, write."""
    from tocsin.lab.experiments.catalogue import chosen, listing
    from tocsin.lab.experiments.showing import print_table

    if arguments.list:
        print_table(listing())
        return 0
    if not arguments.names:
        raise UsageError("which experiment? tocsin bench --list names them, tocsin bench all runs every one")
    if arguments.scale is not None and not 0 < arguments.scale < float("inf"):
        raise UsageError(f"--scale is a number above 0, not {arguments.scale:g}")
    if arguments.seed < 0:
        raise UsageError(f"--seed is 0 or more, not {arguments.seed}")
    experiments = chosen(arguments.names)
    engines = [_engines(each, arguments.engines, len(experiments) == 1) for each in experiments]
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    _compile()
    for experiment, compared in zip(experiments, engines, strict=True):
        _measure(experiment, compared, arguments, folder)
    return 0


def _compile() -> None:
    """What every command of this machine needs, if it is not there yet."""
    from tocsin.monitor.warming import is_warm, warm_up

    if not is_warm():
        say_if_compiling()
        warm_up()


def _engines(experiment: Experiment, wanted: str | None, alone: bool) -> tuple[str, ...]:
    """The engines that an experiment is to compare; UsageError when it cannot, unless it is one of many."""
    from tocsin.monitor.building import ENGINES

    if wanted is None:
        return tuple(each for each in experiment.engines if each in ENGINES)
    names = list(dict.fromkeys(wanted.split(",")))
    for name in names:
        if name not in ENGINES:
            raise UsageError(f"there is no engine '{name}': choose from {', '.join(ENGINES)}")
    if not experiment.engines:
        if alone:
            raise UsageError(f"{experiment.name} compares no engines: leave out --engines")
        return ()
    return tuple(names)


def _measure(
    experiment: Experiment, engines: Sequence[str], arguments: argparse.Namespace, folder: Path
) -> None:
    from tocsin.lab.experiments.experiment import Run
    from tocsin.lab.experiments.files import write_outcome
    from tocsin.lab.experiments.progress import progress
    from tocsin.lab.experiments.showing import print_notes, print_table

    scale = experiment.scale if arguments.scale is None else arguments.scale
    with progress(experiment.name) as told, warnings.catch_warnings():
        warnings.simplefilter("ignore", TocsinWarning)  # rules that name fields of no event are meant
        outcome = experiment.measure(Run(scale, arguments.seed, tuple(engines), told))
    for table in outcome.tables:
        print_table(table)
    print_notes([f"{experiment.name}, scale {scale:g} ({experiment.size} at scale 1).", *outcome.notes])
    say(f"written: {', '.join(map(str, write_outcome(experiment.name, outcome, folder)))}")
