"""The loops over conditions: reading them, sharing their parts, and matching events.

Reading     skeleton.py (and, or, not), predicate_parser.py, constants.py
Sharing     predicate_rows.py, shared_graph.py, shared_nodes.py, planes.py
Matching    batch_lookup.py, leaf_planes.py (which leaves hold), event_block.py (a block of events),
            single_event.py (one event), match_lists.py (the rules that matched)
Patterns    automaton.py, pattern_search.py, like_match.py, case_folding.py

Begin with bitmap_store.py: it says how the truth of something over a block of events is stored.
Other rooms come in by the names below, their loops by the files (arrays/jit.py).
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.conditions.kernels.leaves import OneEvent
    from tocsin.conditions.kernels.literal_bitmap import SPARE, Marks, no_marks
    from tocsin.conditions.kernels.match_counts import seldom_first
    from tocsin.conditions.kernels.node_references import FALSE_REF, TRUE_REF
    from tocsin.conditions.kernels.plane_links import Links
    from tocsin.conditions.kernels.planes import PlaneGraph
    from tocsin.conditions.kernels.skeleton import AND_BASE, FALSE, NOT, TRUE, XNOR, XOR
else:
    __getattr__ = door(__name__)
