"""Conditions over single events: their language, the index that shares what they have in common, matching.

language/     text to tree and back, checks against a schema, the canonical form
meaning.py    what a condition means: the slow, obvious evaluator that every engine is held to
graph/        rules become arrays: distinct predicates, the shared graph, the saved file
planner/      which conjunct of a rule is its way in, and what is asked only then
kernels/      the loops: reading a million conditions, and matching blocks of events or single ones
matching/     events meet the compiled index
live/         the index that users hold, and its changes
blocks/       rules read in blocks on many machines, put together into one index

Promised: unknown is kept apart from false; no complement law is ever applied; equal parts are found by hash
and confirmed by comparison; readers see one version of the rules or the next, never a mixture.

Begin with language/tree.py and meaning.py, then graph/compiled_index.py and matching/matcher.py.
"""
