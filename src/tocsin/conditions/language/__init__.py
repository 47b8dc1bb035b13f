"""Conditions as text and as trees: reading, printing, checking against a schema.

One parser for a hand-written rule with good messages (parser.py, predicate_parser.py over tokens.py); the
fast accepting path of millions is kernels/skeleton.py, which hands here whatever it is not sure of. Other
rooms come in by the names below.

Begin with tree.py (what a condition is once read), then parser.py. The small languages that stand
inside a condition's strings are files of their own, which say what they mean and what they refuse:

    like_patterns.py        like, ilike
    syntax/regexes.py       matches, and in required_literals.py what a text must have to match
    addresses.py            cidr
    syntax/timestamps.py    timestamp '...', and strings compared with one
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.conditions.language.addresses import parse_address, parse_network
    from tocsin.conditions.language.cursor import Cursor
    from tocsin.conditions.language.field_names import field_asked, field_named
    from tocsin.conditions.language.like_patterns import Wildcard, fold, like_tokens
    from tocsin.conditions.language.parser import parse_condition, read_steps
    from tocsin.conditions.language.predicate_parser import at_call, at_comparison, ends_comparison
    from tocsin.conditions.language.predicate_parser import offset_within, read_call, read_compared
    from tocsin.conditions.language.predicate_parser import read_field, read_sign, read_test, read_value
    from tocsin.conditions.language.printer import print_condition, print_field, print_literal
    from tocsin.conditions.language.printer import print_predicate, print_steps
    from tocsin.conditions.language.schema_check import Checker
    from tocsin.conditions.language.threshold_edit import threshold_text, with_threshold
    from tocsin.conditions.language.tokens import TRIGGER_WORDS, Token, TokenKind, tokenize
    from tocsin.conditions.language.tree import TEXT_TESTS, Condition, Connective, Constant, Literal, Operator
    from tocsin.conditions.language.tree import Path, Predicate, Step, Test, conjuncts, has_threshold
else:
    __getattr__ = door(__name__)
