"""The papers' experiments, written into the documents.

    python -m benchmarks.experiments                        every experiment, at its default scale
    python -m benchmarks.experiments atree-table4=0.2 ...   some of them, each at a scale of its own

Tables go to the places that documents in docs/ have for them, plots to docs/experiments/; at the end the
table of the papers' claims is made anew (benchmarks/claims/).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks.claims import write_claims
from benchmarks.spine import ROOT
from benchmarks.tables import write_into

from tocsin.errors import TocsinError
from tocsin.warmup import warm_up
from tocsin_lab.experiments.catalogue import EXPERIMENTS, chosen
from tocsin_lab.experiments.experiment_run import engines_for, run_experiment
from tocsin_lab.experiments.outcome import Outcome
from tocsin_lab.experiments.outcome_files import write_plots
from tocsin_lab.experiments.table_texts import markdown

DOCUMENTS = ROOT / "docs"
PLOTS = DOCUMENTS / "experiments"


def main(arguments: Sequence[str] | None = None) -> int:
    wanted = sys.argv[1:] if arguments is None else arguments
    warm_up()
    try:
        for name, scale in map(scaled, wanted or EXPERIMENTS):
            (experiment,) = chosen([name])
            outcome = run_experiment(experiment, scale, 1, engines_for(experiment, None))
            write_down(name, outcome)
        write_claims()
    except (TocsinError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def scaled(wanted: str) -> tuple[str, float | None]:
    """A name, and the scale behind it if there is one."""
    name, _, scale = wanted.partition("=")
    return name, float(scale) if scale else None


def write_down(name: str, outcome: Outcome) -> None:
    paths = write_plots(name, outcome, PLOTS)
    pictures = [
        f"![{plot.title}](experiments/{path.name})" for plot, path in zip(outcome.plots, paths, strict=True)
    ]
    text = "\n\n".join([" ".join(outcome.notes), *map(markdown, outcome.tables), *pictures])
    write_into(sorted(DOCUMENTS.glob("*.md")), {name: text})


if __name__ == "__main__":
    sys.exit(main())
