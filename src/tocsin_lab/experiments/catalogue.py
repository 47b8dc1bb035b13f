"""Every experiment by its name."""

from __future__ import annotations

from difflib import get_close_matches

from tocsin.errors import UsageError
from tocsin_lab.experiments import (
    atree_ads,
    atree_designs,
    atree_sharing,
    atree_sweeps,
    dewey_delta,
    dewey_depth,
    dewey_expansion,
    dewey_growth,
    yield_activation,
    yield_building,
    yield_recursion,
)
from tocsin_lab.experiments.experiment import Experiment
from tocsin_lab.experiments.outcome import Column, Table

EXPERIMENTS: dict[str, Experiment] = {
    each.name: each
    for each in (
        dewey_depth.TABLE_2,
        dewey_depth.TABLE_3,
        dewey_growth.TABLE_4,
        dewey_expansion.FIGURE_7,
        dewey_depth.FIGURE_8,
        dewey_depth.FIGURE_9,
        dewey_depth.FIGURE_10,
        dewey_depth.FIGURE_11,
        dewey_growth.FIGURE_12,
        dewey_growth.FIGURE_13,
        dewey_growth.FIGURE_14,
        dewey_delta.DELTA,
        atree_sharing.FIGURE_7,
        atree_designs.FIGURE_8,
        atree_designs.FIGURE_9,
        atree_designs.FIGURE_10,
        atree_sweeps.FIGURE_11,
        atree_sweeps.FIGURE_12,
        atree_sweeps.FIGURE_13,
        atree_ads.TABLE,
        yield_activation.TABLE_1,
        yield_activation.FIGURE_12,
        yield_activation.FIGURE_13,
        yield_activation.FIGURE_14,
        yield_activation.FIGURE_15,
        yield_building.FIGURE_16,
        yield_building.FIGURE_17,
        yield_recursion.FIGURE_18,
        yield_recursion.FIGURE_19,
    )
}
"""In the order of the papers."""

ALL = "all"


def chosen(names: list[str]) -> list[Experiment]:
    """The experiments of these names, each once; `all` is every one. UsageError names the nearest."""
    if ALL in names:
        return list(EXPERIMENTS.values())
    for name in names:
        if name not in EXPERIMENTS:
            nearest = get_close_matches(name, EXPERIMENTS, n=3, cutoff=0.5)
            meant = f"did you mean {' or '.join(nearest)}?" if nearest else "tocsin bench --list names them"
            raise UsageError(f"there is no experiment '{name}': {meant}")
    return [EXPERIMENTS[name] for name in dict.fromkeys(names)]


def listing() -> Table:
    """What `tocsin bench --list` shows."""
    titles = ("name", "paper", "shows", "at scale 1", "scale", "takes")
    return Table(
        "Experiments",
        [Column(title) for title in titles],
        [
            [
                each.name,
                f"{each.paper.value}, {each.place}",
                each.shows,
                each.size,
                f"{each.scale:g}",
                each.lasts,
            ]
            for each in EXPERIMENTS.values()
        ],
        ["scale and takes: of a run that says nothing of the scale; on two cores."],
    )
