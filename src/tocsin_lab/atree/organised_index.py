"""The product's index over a graph that the A-Tree's own algorithms put together.

tocsin.build finds equal parts and stops there: that is quickest, and parts that are only *contained* in
each other save memory and hardly any time. For rule sets that contain each other more than most, this
is tocsin.build with reorganisation and self-adjustment (sections 4.2.2 and 4.2.3 of the paper).
"""

from __future__ import annotations

from functools import partial

from tocsin.conditions.graph.compiled_index import compile_rules
from tocsin.conditions.live.index import Index
from tocsin.rules.rule_set import Rules
from tocsin_lab.atree.atree_graph import organise


def build_organised(rules: object, *, reorganise: bool = True, self_adjust: bool = True) -> Index:
    """Build an index of rules as tocsin.build does, but let expressions cover each other's parts."""
    put_together = partial(organise, reorganise=reorganise, self_adjust=self_adjust)
    return Index(compile_rules(Rules.of(rules), put_together))
