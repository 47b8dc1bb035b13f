"""Contracts of a wanted selectivity, in the manner of the paper's section 5.5: contracts that match none
of the visits stand beside those that were drawn.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tocsin.errors import UsageError
from tocsin_lab.contracts.contracts import Contracts, joined, make_contracts, more_contracts, taken
from tocsin_lab.contracts.settings import ContractSetting
from tocsin_lab.contracts.truth import match_counts
from tocsin_lab.contracts.visits import Visits

FEW_VISITS = 64
"""Most contracts match one of the first few visits, and need not be tried on all."""

FEWEST_FOUND = 1 / 2_000
"""When fewer of the candidates than this match nothing, it would take too long."""


def contracts_of_selectivity(
    setting: ContractSetting, visits: Visits, share: float, others: ContractSetting | None = None
) -> Contracts:
    """As many contracts as the setting says, of which `share` match a visit, on average.

    Contracts that match nothing are drawn by `others`, if given, else by the same setting, and mixed with
    the first ones. Raises UsageError when these match less than that by themselves, or if hardly any can be
    found that match nothing.
    """
    drawn = make_contracts(setting)
    matches = np.cumsum(match_counts(drawn, visits))
    pairs = setting.contracts * visits.size
    if share * pairs > matches[-1]:
        own = matches[-1] / pairs
        raise UsageError(f"contracts of this kind match {own:.1%} of the visits, so not {share:.1%}")
    kept = int(np.searchsorted(matches, share * pairs)) + 1
    parts = [taken(drawn, np.arange(kept)), *_unmatched(others or setting, visits, setting.contracts - kept)]
    order = np.random.default_rng([setting.seed, 0, 0]).permutation(setting.contracts)
    return taken(joined(parts), order)


def _unmatched(setting: ContractSetting, visits: Visits, wanted: int) -> Iterator[Contracts]:
    """So many contracts that match none of the visits, in portions."""
    few = Visits(visits.attributes, visits.value[:FEW_VISITS])
    portion = found = 0
    while found < wanted:
        portion += 1
        candidates = more_contracts(setting, portion)
        for tried in (few, visits):
            candidates = taken(candidates, np.flatnonzero(match_counts(candidates, tried) == 0))
        found += candidates[0].size
        if found < FEWEST_FOUND * portion * setting.contracts:
            raise UsageError(
                f"of {portion * setting.contracts:,} contracts only {found} match none of the visits"
            )
        yield taken(candidates, np.arange(candidates[0].size - max(0, found - wanted)))
