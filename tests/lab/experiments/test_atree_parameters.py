"""Table 3's parameters, and the model of sharing behind its alpha."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tocsin_lab import abe_gen
from tocsin_lab.abe_gen.draws import zipf
from tocsin_lab.experiments.atree_parameters import DEFAULT, SWEEPS, candidates, drawn, skewed
from tocsin_lab.experiments.experiment import Run

RUN = Run(0.0005, seed=7)


def test_the_default_stands_in_every_panel():
    default = SWEEPS["b"].settings(RUN)[3]
    assert (default.expressions, default.seed) == (500, 7)
    for letter, value in zip("acdefgh", (500, 4, 0.6, 1_000, 100, 0.6, 20), strict=True):
        assert SWEEPS[letter].settings(RUN)[value] == default, letter


def test_sizes_follow_the_scale_and_nothing_else_does():
    assert list(SWEEPS["a"].settings(Run(0.01))) == [1_000, 3_000, 10_000, 30_000, 100_000, 300_000]
    assert list(SWEEPS["e"].settings(Run(0.01))) == [30, 100, 300, 1_000, 3_000, 10_000]


@pytest.mark.parametrize("letter", SWEEPS)
def test_every_workload_can_be_made(letter):
    for value, setting in SWEEPS[letter].settings(RUN).items():
        shape = abe_gen.shape_of(abe_gen.forest_of(setting))
        assert shape.depth == {"b": value, "i": 2}.get(letter, 3)
        assert shape.rules == setting.expressions


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_how_many_are_drawn(alpha):
    rng = np.random.default_rng(5)
    found = np.mean([len(np.unique(zipf(rng, 300, alpha, 500))) for _ in range(200)])
    assert drawn(300, 500, alpha) == pytest.approx(found, rel=0.02)


def test_candidates_are_as_few_as_give_so_many():
    pool = candidates(1_000, 230, 0.6)
    assert drawn(pool, 1_000, 0.6) >= 230 > drawn(pool - 1, 1_000, 0.6)


def test_parts_are_used_more_as_alpha_grows():
    few = replace(DEFAULT, expressions=10_000)
    uses = [
        (each.uses_of_subexpression, each.uses_of_predicate)
        for each in (skewed(few, alpha) for alpha in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0))
    ]
    assert uses == sorted(uses)
    assert uses[0][0] == 1
    assert uses[3] == (4.33, 18.35)
