"""How often each conjunct of a plan really holds: counted over events."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tocsin.conditions.live.build_settings import Preparation
from tocsin.conditions.live.index import Index
from tocsin.conditions.planner.plan_report import RulePlan
from tocsin.engines.build import build_prepared
from tocsin.events.event_sources import EventSource


def analyzed(plans: Sequence[RulePlan], events: EventSource, preparation: Preparation) -> list[RulePlan]:
    """The plans with the share of events for which each conjunct holds; each different one is asked once."""
    texts = dict.fromkeys(conjunct.text for plan in plans for conjunct in plan.conjuncts)
    index = build_prepared([(str(number), text) for number, text in enumerate(texts)], "atree", preparation)
    if not isinstance(index, Index):
        raise TypeError(f"conjuncts are counted by {Index.engine}, not by {index.engine}")
    version = index.version
    held = np.zeros(len(texts), np.int64)
    total = 0
    for portion in events.portions(version.fields):
        version.count_cells(portion.events, held)
        total += portion.events.length
    share = dict(zip(texts, (held / max(1, total)).tolist(), strict=True))
    return [plan.with_truth([share[conjunct.text] for conjunct in plan.conjuncts]) for plan in plans]
