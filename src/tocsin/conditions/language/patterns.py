"""The small languages that stand inside a condition's strings, behind one door.

    like_patterns.py        like, ilike
    syntax/regexes.py       matches, and in required_literals.py what a text must have to match
    addresses.py            cidr
    syntax/timestamps.py    timestamp '...', and strings compared with one

Each of those files says what its language means and what it refuses; here are the names to use.
"""

from __future__ import annotations

from tocsin.conditions.language.addresses import Network, parse_address, parse_network
from tocsin.conditions.language.like_patterns import (
    Like,
    Wildcard,
    compile_like,
    fold,
    like_matches,
    like_problem,
    like_tokens,
)
from tocsin.conditions.language.required_literals import Required, required_literals
from tocsin.syntax.regexes import Regex, compile_regex
from tocsin.syntax.timestamps import parse_timestamp, print_timestamp

__all__ = [
    "Like",
    "Network",
    "Regex",
    "Required",
    "Wildcard",
    "compile_like",
    "compile_regex",
    "fold",
    "like_matches",
    "like_problem",
    "like_tokens",
    "parse_address",
    "parse_network",
    "parse_timestamp",
    "print_timestamp",
    "required_literals",
]
