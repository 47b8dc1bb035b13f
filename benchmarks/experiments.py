"""The papers' experiments, written into the documents.

    python -m benchmarks.experiments                        every experiment, as large as PLAN says
    python -m benchmarks.experiments atree-table4=0.2 ...   some of them, each at a scale of its own

Tables go to the places that documents in docs/ have for them, plots to docs/experiments/, when a panel
is done; at the end the table of the papers' claims is made anew (benchmarks/claims/). What is measured is
kept in build/experiments: stopped and started again, the command goes on where it was, as long as the source
that measures is the same. Without that folder it begins anew.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from benchmarks.claims import write_claims
from benchmarks.spine import ROOT
from benchmarks.tables import write_into

from tocsin.errors import TocsinError
from tocsin.warmup import warm_up
from tocsin_lab.experiments.catalogue import chosen
from tocsin_lab.experiments.experiment import Experiment
from tocsin_lab.experiments.experiment_run import engines_for, run_experiment
from tocsin_lab.experiments.kept_outcomes import KeptOutcomes, source_digest
from tocsin_lab.experiments.outcome import Outcome
from tocsin_lab.experiments.outcome_files import write_plots
from tocsin_lab.experiments.progress import TimeLeft
from tocsin_lab.experiments.table_texts import markdown

DOCUMENTS = ROOT / "docs"
PLOTS = DOCUMENTS / "experiments"
KEPT = ROOT / "build" / "experiments"
SEED = 1
USUAL = 60.0
"""Seconds that an experiment is expected to take at a scale that is not planned."""


class Planned(NamedTuple):
    """The scale of an experiment, and the seconds that it takes on two cores, about."""

    scale: float
    seconds: float


PLAN = {
    "dewey-table2": Planned(0.2, 50),
    "dewey-table3": Planned(1, 30),
    "dewey-table4": Planned(1, 30),
    "dewey-figure7": Planned(100, 5),
    "dewey-figure8": Planned(0.2, 50),
    "dewey-figure9": Planned(0.2, 30),
    "dewey-figure10": Planned(0.2, 40),
    "dewey-figure11": Planned(0.2, 40),
    "dewey-figure12": Planned(0.5, 80),
    "dewey-figure13": Planned(0.5, 80),
    "dewey-figure14": Planned(0.3, 120),
    "dewey-delta": Planned(0.3, 60),
    "atree-figure7": Planned(1, 60),
    "atree-figure8": Planned(0.1, 520),
    "atree-figure9": Planned(0.1, 310),
    "atree-figure10": Planned(0.1, 200),
    "atree-figure11": Planned(0.1, 950),
    "atree-figure12": Planned(0.1, 1_650),
    "atree-figure13": Planned(0.1, 1_750),
    "atree-table4": Planned(1, 550),
    **{f"yield-{name}": Planned(1, 10) for name in ("table1", *(f"figure{n}" for n in range(12, 20)))},
}
"""Of every experiment; all of it is to take less than two hours on two cores that have nothing else to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    wanted = sys.argv[1:] if arguments is None else arguments
    warm_up()
    try:
        runs = [planned(each) for each in wanted or PLAN]
        left = TimeLeft(sum(size.seconds for _, size in runs))
        for experiment, size in runs:
            outcome = run_experiment(
                experiment,
                size.scale,
                SEED,
                engines_for(experiment, None),
                kept=kept_of(experiment, size.scale),
                shown=partial(write_down, experiment.name),
                left=left,
                expected=size.seconds,
            )
            write_down(experiment.name, outcome)
        write_claims()
    except (TocsinError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def planned(wanted: str) -> tuple[Experiment, Planned]:
    """An experiment by its name; the scale behind it counts, if there is one."""
    name, _, scale = wanted.partition("=")
    (experiment,) = chosen([name])
    plan = PLAN.get(name, Planned(experiment.scale, USUAL))
    if not scale:
        return experiment, plan
    return experiment, Planned(float(scale), plan.seconds * float(scale) / plan.scale)


def kept_of(experiment: Experiment, scale: float) -> KeptOutcomes:
    """Where a run of this scale, by this source, has its outcomes."""
    measure = getattr(experiment.measure, "func", experiment.measure)
    digest = source_digest(measure.__module__, experiment.engines)
    return KeptOutcomes(KEPT / experiment.name / f"{scale:g}-{SEED}-{digest}")


def write_down(name: str, outcome: Outcome) -> None:
    paths = write_plots(name, outcome, PLOTS)
    pictures = [
        f"![{plot.title}](experiments/{path.name})" for plot, path in zip(outcome.plots, paths, strict=True)
    ]
    text = "\n\n".join([" ".join(outcome.notes), *map(markdown, outcome.tables), *pictures])
    write_into(sorted(DOCUMENTS.glob("*.md")), {name: text})


if __name__ == "__main__":
    sys.exit(main())
