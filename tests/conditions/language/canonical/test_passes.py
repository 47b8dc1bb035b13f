"""Each pass by its golden file: a condition, and indented below it what the pass makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conditions.language.canonical.canonical_form import (
    PASSES,
    canonical,
    drop_repetitions,
    flatten_groups,
    fold_constants,
    push_negations,
    simplify_predicates,
    sort_operands,
)

from tocsin.conditions.language import parse_condition, print_condition

GOLDEN = Path(__file__).parent / "golden"
RUN = {
    "predicates": simplify_predicates,
    "constants": fold_constants,
    "negation": push_negations,
    "flatten": flatten_groups,
    "repetition": drop_repetitions,
    "order": sort_operands,
    "canonical": canonical,
}


def golden_cases() -> Iterator[tuple[str, str, str]]:
    for file in sorted(GOLDEN.glob("*.txt")):
        lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
        assert len(lines) % 2 == 0, file
        for written, expected in zip(lines[::2], lines[1::2], strict=True):
            assert not written.startswith(" "), f"{file}: {written}"
            assert expected.startswith("    "), f"{file}: {expected}"
            yield file.stem, written, expected.strip()


CASES = list(golden_cases())


@pytest.mark.parametrize(("name", "written", "expected"), CASES)
def test_golden(name: str, written: str, expected: str) -> None:
    assert print_condition(RUN[name](parse_condition(written))) == expected


@pytest.mark.parametrize(("name", "written", "expected"), CASES)
def test_a_pass_leaves_its_own_result_alone(name: str, written: str, expected: str) -> None:
    once = RUN[name](parse_condition(written))
    assert RUN[name](once) == once


def test_every_pass_has_a_golden_file() -> None:
    assert {file.stem for file in GOLDEN.glob("*.txt")} == set(RUN)
    assert [run for name, run in RUN.items() if name != "canonical"] == list(PASSES)
