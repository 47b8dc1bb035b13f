"""Engines behind doors: what they refuse is counted, and what they answer is compared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from tocsin import Rules
from tocsin.conditions.live import Preparation
from tocsin.engines import ENGINES
from tocsin.errors import RuleError, TocsinError, UnsupportedError, raise_all
from tocsin_lab.experiments import doors
from tocsin_lab.experiments.doors import (
    Offer,
    hold_to_judge,
    open_door,
    open_door_if_it_takes,
    rebuilt,
    refusal_note,
)

RULES = pa.table({"id": [f"r{n}" for n in range(60)], "when": [f"x < {n}" for n in range(60)]})
OFFER = Offer.of(RULES)
EVENTS = [{"x": 10}, {"x": 58}, {"x": 99}, {}]


def refusing(refuses: Callable[[Rules, int], bool]) -> Callable[[Rules, Preparation], object]:
    """An engine that is atree, but refuses some rules."""

    def build(rules: Rules, preparation: Preparation) -> object:
        numbers = [int(rule[1:]) for rule in rules.ids.to_pylist()]
        raise_all([RuleError("too odd", rule=f"r{number}") for number in numbers if refuses(rules, number)])
        return ENGINES["atree"](rules, preparation)

    return build


@pytest.fixture
def picky(monkeypatch):
    """Refuses every tenth rule; with those gone, rule 7 too."""
    monkeypatch.setitem(
        ENGINES, "picky", refusing(lambda rules, n: n % 10 == 3 or (n == 7 and len(rules) < 60))
    )


def test_an_engine_is_built_without_the_rules_that_it_refuses(picky):
    door = open_door(OFFER, "picky")
    assert (door.offered, door.refused, len(door.index)) == (60, 7, 53)
    assert not np.isin([3, 7, 13, 53], door.taken).any()
    assert refusal_note(door) == "picky refused 7 of 60 rules (7: too odd)"


def test_answers_are_compared_on_the_rules_that_were_taken(picky):
    behind = {name: open_door(OFFER, name) for name in ("atree", "picky")}
    assert hold_to_judge(behind, EVENTS) == [49, 1, 0, 0]


def test_a_wrong_engine_is_found(monkeypatch):
    """It takes every rule, but gives the second rule's condition to the first."""
    swapped = RULES["when"].to_pylist()
    swapped[0], swapped[59] = swapped[59], swapped[0]
    wrong = Rules.of(pa.table({"id": RULES["id"], "when": swapped}))
    monkeypatch.setitem(ENGINES, "wrong", lambda _, preparation: ENGINES["atree"](wrong, preparation))
    behind = {name: open_door(OFFER, name) for name in ("atree", "wrong")}
    with pytest.raises(TocsinError, match=r"wrong and atree differ on event 0: 49 and 49 matches.*rule 0"):
        hold_to_judge(behind, EVENTS)


def test_an_engine_that_refuses_every_rule_has_no_index(monkeypatch):
    monkeypatch.setitem(ENGINES, "sulky", refusing(lambda rules, n: True))
    door = open_door(OFFER, "sulky")
    assert (door.index, door.refused, len(door.taken)) == (None, 60, 0)
    assert hold_to_judge({"atree": open_door(OFFER, "atree"), "sulky": door}, EVENTS) == [49, 1, 0, 0]


def test_an_engine_that_refuses_some_of_the_first_rules_is_not_built(picky, monkeypatch):
    monkeypatch.setattr(doors, "PROBED_RULES", (2, 20))
    door = open_door_if_it_takes(OFFER, "picky")
    assert (door.index, door.offered, door.refused) == (None, 20, 3)
    assert refusal_note(door) == "picky refused 3 of 20 rules (3: too odd), and was not built"
    monkeypatch.setattr(doors, "PROBED_RULES", (1, 2))
    assert open_door_if_it_takes(OFFER, "picky").refused == 7


def test_an_engine_that_can_take_nothing_so_large_refuses_all(monkeypatch):
    def too_large(rules: Rules, preparation: Preparation) -> object:
        raise UnsupportedError("the rules have too many nodes")

    monkeypatch.setitem(ENGINES, "narrow", too_large)
    door = open_door(OFFER, "narrow")
    assert (door.index, door.refusals) == (None, {"the rules have too many nodes": 60})


def test_doors_are_rebuilt_in_turns_of_the_rules_that_were_taken(picky, monkeypatch):
    behind = [open_door(OFFER, name) for name in ("atree", "picky")]
    built: list[tuple[str, int]] = []

    def build(rules: Rules, engine: str) -> None:
        built.append((engine, len(rules)))

    monkeypatch.setattr(doors, "build", build)
    again = rebuilt(behind, 2)
    assert built == [("atree", 60), ("picky", 53)] * 2
    assert all(new.index is old.index for new, old in zip(again, behind, strict=True))
    assert all(new.seconds.best <= old.seconds.best for new, old in zip(again, behind, strict=True))
    assert all(len(new.spent) == 3 for new in again)


@pytest.mark.parametrize("engine", ["atree", "scan"])
def test_engines_tell_memory_and_phases(engine):
    door = open_door(OFFER, engine)
    assert (door.bytes_matching or 0) > 0
    assert {"read", "share"} <= set(door.phases)
