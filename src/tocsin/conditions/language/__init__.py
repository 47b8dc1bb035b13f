"""Conditions as text and as trees: reading, printing, checking against a schema.

One parser for a hand-written rule with good messages (parser.py, predicate_parser.py over tokens.py); the
fast accepting path of millions is kernels/skeleton.py, which hands here whatever it is not sure of.

Begin with tree.py (what a condition is once read), then parser.py. The small languages that stand
inside a condition's strings are files of their own, which say what they mean and what they refuse:

    like_patterns.py        like, ilike
    syntax/regexes.py       matches, and in required_literals.py what a text must have to match
    addresses.py            cidr
    syntax/timestamps.py    timestamp '...', and strings compared with one
"""

from __future__ import annotations
