"""The loops over conditions: reading them, sharing their parts, and matching events.

Reading     skeleton.py (and, or, not), predicate_parser.py, constants.py
Sharing     predicate_rows.py, shared_graph.py, shared_nodes.py, planes.py
Matching    batch_lookup.py, leaf_planes.py (which leaves hold), event_block.py (a block of events),
            single_event.py (one event), match_lists.py (the rules that matched)
Patterns    automaton.py, pattern_search.py, like_match.py, case_folding.py

Begin with bitmap_store.py: it says how the truth of something over a block of events is stored.
"""
