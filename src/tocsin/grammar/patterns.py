"""The small languages that stand inside a condition's strings, behind one door.

    likes      like, ilike
    regexes    matches, and in required.py what a text must have to match
    addresses  cidr
    instants   timestamp '...', and strings compared with one

Each of those files says what its language means and what it refuses; here are the names to use.
"""

from __future__ import annotations

from tocsin.grammar.addresses import Network, parse_address, parse_network
from tocsin.grammar.instants import parse_timestamp, print_timestamp
from tocsin.grammar.likes import Like, Wildcard, compile_like, fold, like_matches, like_problem, like_tokens
from tocsin.grammar.regexes import Regex, compile_regex
from tocsin.grammar.required import Required, required_literals

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
