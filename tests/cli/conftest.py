"""The command in a temporary folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import Command


@pytest.fixture
def tocsin(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.chdir(tmp_path)
    return Command(tmp_path, capsys)
