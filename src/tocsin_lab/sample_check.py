"""Matches held against the obvious evaluator, on a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tocsin.conditions.language import parse_condition
from tocsin.conditions.live import Explanation, Index
from tocsin.conditions.meaning import Truth, matches

Event = Mapping[str, object]

FEWEST_PARTS = 5
"""A near miss is told of a rule with this many parts at least; with fewer, most rules nearly match."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many pairs of an event and a rule were checked, and those on which the answers differ."""

    checks: int
    true: int
    differences: tuple[tuple[int, str], ...]


def sample_rules(ids: Sequence[str], needed: set[str], size: int, seed: int) -> list[str]:
    """The needed rules, and random others up to `size` in all, in the order of `ids`."""
    others = [rule for rule in ids if rule not in needed]
    more = max(0, min(size - len(needed), len(others)))
    drawn = np.random.default_rng(seed).permutation(len(others))[:more]
    chosen = needed | {others[place] for place in drawn}
    return [rule for rule in ids if rule in chosen]


def verify(
    found: Mapping[int, set[str]], events: Mapping[int, Event], conditions: Mapping[str, str]
) -> Verdict:
    """Ask every condition of every event by the meaning of conditions, and compare with what was found.

    `found` gives an event's matches among all rules; only the rules of `conditions` are compared.
    """
    parsed = {rule: parse_condition(text) for rule, text in conditions.items()}
    true, differences = 0, []
    for number, event in events.items():
        claimed = found.get(number, set())
        for rule, condition in parsed.items():
            holds = matches(condition, event)
            true += holds
            if holds is not (rule in claimed):
                differences.append((number, rule))
    return Verdict(len(events) * len(parsed), true, tuple(differences))


def near_miss(index: Index, event: Event, rules: Sequence[str]) -> Explanation | None:
    """Of the rules that fail on the event for one single part of several, the shortest, explained."""
    shortest = None
    for rule in rules:
        told = index.explain(rule, event)
        truths = [part.truth for part in told.parts if part.depth == 1]
        failing = sum(truth is not Truth.TRUE for truth in truths)
        several = told.parts[0].text == "and" and len(truths) >= FEWEST_PARTS
        if several and failing == 1 and (shortest is None or len(told.parts) < len(shortest.parts)):
            shortest = told
    return shortest
