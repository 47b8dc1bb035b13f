"""How every test runs: Hypothesis without chance and without a clock, so that a run can be repeated."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("TOCSIN_EXAMPLES", "100"))
"""Of each property that does not say; fewer where kernels are slow: with bounds checks, or not compiled."""


def examples(usual: int) -> int:
    """Of a property that says how many it usually takes: fewer or more, as of the others."""
    return max(1, usual * EXAMPLES // 100)


settings.register_profile(
    "tocsin",
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("tocsin")
