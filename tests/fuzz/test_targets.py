"""Every target with a number of random inputs, the same ones each time, and with all it ever failed for."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.fuzz.mutation import mutated
from tests.fuzz.targets import CASES, TARGETS

pytestmark = pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning")
KEPT = sorted(path for path in CASES.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", TARGETS)
def test_random_inputs(name: str) -> None:
    target = TARGETS[name]
    rng = random.Random(name)
    for _ in range(target.inputs):
        data = mutated(rng, target.corpus, target.words)
        try:
            target.check(data)
        except BaseException:
            print(f"the input was {data!r}")
            raise


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus_is_good(name: str) -> None:
    target = TARGETS[name]
    assert len(target.corpus) > 5
    for data in target.corpus[:5]:
        target.check(data)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_failed_once(path: Path) -> None:
    TARGETS[path.parent.name].check(path.read_bytes())
