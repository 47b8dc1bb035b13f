"""Hypothesis strategies for conditions, rule sets, events and typed tables.

They are the makers of cases.py and typed_tables.py with Hypothesis choosing, so whatever fails shrinks
to few rules, few fields and small values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import pyarrow as pa
from hypothesis import strategies as st
from tests import cases
from tests.cases import Event
from tests.typed_tables import make_table

from tocsin.conditions.language import Condition, Predicate

T = TypeVar("T")


class Drawn:
    """Choices that Hypothesis makes."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def choice(self, options: Sequence[T], /) -> T:
        return self._draw(st.sampled_from(options))

    def randint(self, low: int, high: int, /) -> int:
        return self._draw(st.integers(low, high))


@st.composite
def predicates(draw: st.DrawFn) -> Predicate:
    """Single predicates of every test and kind."""
    return cases.make_predicate(Drawn(draw))


@st.composite
def conditions(draw: st.DrawFn) -> Condition:
    """Conditions of every operator, with shared and repeated parts, some of them deep."""
    return cases.make_condition(Drawn(draw))


@st.composite
def rule_sets(draw: st.DrawFn, most: int = 12) -> list[tuple[str, Condition]]:
    """Up to `most` rules, as id and condition, that share parts with one another."""
    return cases.make_rule_set(Drawn(draw), most)


@st.composite
def events(draw: st.DrawFn) -> Event:
    """Events as Python objects, of all kinds of value."""
    return cases.make_event(Drawn(draw))


@st.composite
def json_events(draw: st.DrawFn) -> Event:
    """Events that JSON can say (no NaN, no infinity, no decimals, no timestamps but as strings)."""
    return cases.make_json_event(Drawn(draw))


@st.composite
def typed_tables(draw: st.DrawFn, most_rows: int = 8) -> tuple[pa.Table, list[Event]]:
    """An Arrow table and the equal list of Python events."""
    return make_table(Drawn(draw), most_rows)
