"""One run of an experiment, from its name's defaults to its outcome."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

from tocsin.engines.build import ENGINES
from tocsin.errors import TocsinWarning, UsageError
from tocsin_lab.experiments.experiment import Experiment, Run
from tocsin_lab.experiments.outcome import Outcome
from tocsin_lab.experiments.progress import progress


def engines_for(experiment: Experiment, wanted: Sequence[str] | None) -> tuple[str, ...]:
    """The engines to compare: those wanted or, without a wish, the experiment's own.

    UsageError when there is no such engine. None when the experiment compares none.
    """
    if wanted is None or not experiment.engines:
        return experiment.engines
    for name in wanted:
        if name not in ENGINES:
            raise UsageError(f"there is no engine '{name}': choose from {', '.join(ENGINES)}")
    return tuple(dict.fromkeys(wanted))


def run_experiment(
    experiment: Experiment, scale: float | None, seed: int, engines: tuple[str, ...]
) -> Outcome:
    """Measure, and tell standard error how far it is. The first note says what was run."""
    factor = experiment.scale if scale is None else scale
    with progress(experiment.name) as told, warnings.catch_warnings():
        warnings.simplefilter("ignore", TocsinWarning)  # rules that name fields of no event are meant
        outcome = experiment.measure(Run(factor, seed, engines, told))
    ran = f"`tocsin bench {experiment.name} --scale {factor:g} --seed {seed}`; scale 1 is {experiment.size}."
    return replace(outcome, notes=[ran, *outcome.notes])
