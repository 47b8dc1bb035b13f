"""How every test runs: Hypothesis without chance and without a clock, so that a run can be repeated."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "tocsin",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("tocsin")
