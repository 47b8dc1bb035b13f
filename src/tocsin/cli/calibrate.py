"""`tocsin calibrate`: measure the optimiser's constants on this machine."""

from __future__ import annotations

import argparse

from tocsin.cli.console import say, say_if_compiling

SUMMARY = "measure what finding and asking predicates costs here"
DESCRIPTION = """\
Measures the constants by which rules with free text choose their way in, and keeps them for this machine
and user. It takes some seconds. Results never depend on them, only how quickly they come."""
EXAMPLES = """\
examples:
  tocsin calibrate
  tocsin calibrate --dry-run
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("--dry-run", action="store_true", help="do not keep the constants")


def run(arguments: argparse.Namespace) -> int:
    """Measure, show and keep."""
    from tocsin.conditions.planner import Costs, keep_costs
    from tocsin_lab.calibration import calibrated, costs_of

    say_if_compiling()
    measured: dict[str, float] = {}
    usual = Costs()
    for name, value in calibrated():
        measured[name] = value
        print(f"{name:<18} {value:10.4f} ns   (otherwise taken as {getattr(usual, name):g} ns)")
    if not arguments.dry_run:
        say(f"kept in {keep_costs(costs_of(measured))}")
    return 0
