"""Conditions as text and as trees: reading, printing, checking against a schema, the canonical form.

One parser for a hand-written rule with good messages (parser.py, predicate_parser.py over tokens.py); the
fast accepting path of millions is kernels/skeleton.py, which hands here whatever it is not sure of.

Begin with tree.py (what a condition is once read), then parser.py, then canonical/ (one pass a file).
"""

from __future__ import annotations
