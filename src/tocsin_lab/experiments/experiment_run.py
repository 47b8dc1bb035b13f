"""One run of an experiment, from its name's defaults to its outcome."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace

from tocsin.engines import ENGINES
from tocsin.errors import TocsinWarning, UsageError
from tocsin_lab.experiments.experiment import Experiment, Run
from tocsin_lab.experiments.kept_outcomes import Kept, NotKept
from tocsin_lab.experiments.outcome import Outcome
from tocsin_lab.experiments.progress import TimeLeft, progress

WHOLE = "whole"


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
    experiment: Experiment,
    scale: float | None,
    seed: int,
    engines: tuple[str, ...],
    *,
    kept: Kept | None = None,
    shown: Callable[[Outcome], None] | None = None,
    left: TimeLeft | None = None,
    expected: float = 0.0,
) -> Outcome:
    """Measure, and tell standard error how far it is. The first note says what was run.

    What is in `kept` is not measured again, and what is measured is put there. `shown` is given what there is
    of the outcome, whenever a part is done. `left` and `expected` are for progress().
    """
    kept = kept or NotKept()
    factor = experiment.scale if scale is None else scale
    ran = f"`tocsin bench {experiment.name} --scale {factor:g} --seed {seed}`; scale 1 is {experiment.size}."

    def noted(outcome: Outcome) -> Outcome:
        return replace(outcome, notes=[ran, *outcome.notes])

    with progress(experiment.name, left, expected) as told, warnings.catch_warnings():
        warnings.simplefilter("ignore", TocsinWarning)  # rules that name fields of no event are meant
        outcome = kept.find(WHOLE)
        if outcome is None:
            run = Run(factor, seed, engines, told, kept, lambda part: shown and shown(noted(part)))
            outcome = experiment.measure(run)
            kept.put(WHOLE, outcome)
        else:
            told.steps(1)
            told.skip(1)
    return noted(outcome)
