"""Events meet the compiled index: cells to leaves, leaves to rules.

resolver.py hands the cells of each field to the groups of leaves that ask about them; matcher.py runs the two
ways through the graph, a block of events at a time or one event with the least latency; results.py is what
comes back.

Begin with matcher.py. Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.conditions.matching.batch_matches import BatchMatches
    from tocsin.conditions.matching.learned_order import learned
    from tocsin.conditions.matching.matcher import LayerMatcher, Matcher
    from tocsin.conditions.matching.missing_fields import warn_of_missing_fields
    from tocsin.conditions.matching.portions import BYTES_OF_ROW, cuts, row_bytes
    from tocsin.conditions.matching.results import MATCH_SCHEMA, Counts, Match, Matches, Scores, match_batch
    from tocsin.conditions.matching.results import score_column
else:
    __getattr__ = door(__name__)
