"""The engines, each of which has to pass every test that asks for one."""

from __future__ import annotations

import pytest

from tocsin.engines import ENGINES


@pytest.fixture(params=list(ENGINES))
def engine(request: pytest.FixtureRequest) -> str:
    """The name of an engine."""
    return str(request.param)
