"""What a sample of events says about the rules: which part of each AND seldom holds.

One event matched alone asks an AND only when its access child holds, the one that is least likely to.
Without a sample that is a guess (conditions/graph/likelihood.py). With one, every part of every condition is
counted over the sample, whole subexpressions too, so parts that depend on each other are no problem.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tocsin.conditions.graph.compiled_index import CompiledIndex
from tocsin.conditions.graph.shared_graph import links_of
from tocsin.conditions.kernels.match_counts import seldom_first
from tocsin.conditions.matching.matcher import Matcher
from tocsin.errors import UsageError
from tocsin.events import EventBatch, FieldPlan, batch_of_table
from tocsin.printable import described
from tocsin.tables import is_frame, table_of

MOST_EVENTS = 16_384
"""Events of a sample that are looked at."""


def learned(index: CompiledIndex, sample: object) -> CompiledIndex:
    """The same index, its ANDs put in order by a sample: a table of events, or dictionaries."""
    matcher = Matcher(index)
    held = matcher.frequencies(_cells(sample, matcher))
    graph = index.graph._replace(child=seldom_first(index.graph, held))
    return index._replace(graph=graph, links=links_of(graph, index.links.group_of, len(index.group_path)))


def _cells(sample: object, matcher: Matcher) -> EventBatch:
    if is_frame(sample):
        return batch_of_table(table_of(sample).slice(0, MOST_EVENTS), matcher.fields)
    if isinstance(sample, Iterable) and not isinstance(sample, str | bytes | Mapping):
        events = [event for event, _ in zip(sample, range(MOST_EVENTS), strict=False)]
        if all(isinstance(event, Mapping) for event in events):
            return FieldPlan(matcher.fields).batch(events)
    raise UsageError(f"a sample is a table or a list of dictionaries, not {described(sample)}")
