"""What the small languages have in common: conditions, text queries, programs and trigger files.

Places in a text as lines and columns, steps in postfix order, timestamps, lengths of time, regular
expressions. Nothing here knows what a rule is.

Begin with places.py. Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.syntax.bad_tokens import HALF_PAIR, has_half_pair, shortened, stray
    from tocsin.syntax.durations import parse_duration
    from tocsin.syntax.places import Lines, Problem, error_of, errors_at
    from tocsin.syntax.postfix import first_steps, operands_of
    from tocsin.syntax.regexes import LONGEST_PATTERN, Regex, compile_regex
    from tocsin.syntax.timestamps import is_too_fine, parse_timestamp, print_timestamp
else:
    __getattr__ = door(__name__)
