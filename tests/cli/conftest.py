"""The command in a temporary folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import Command

from tocsin.datalog.engine import warm_up as warm_up_programs
from tocsin.warmup import warm_up


@pytest.fixture(scope="session", autouse=True)
def _compiled() -> None:
    """A command that has to compile first says so, and these tests read what commands say."""
    warm_up()
    warm_up_programs()


@pytest.fixture
def tocsin(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.chdir(tmp_path)
    return Command(tmp_path, capsys)
