"""tocsin tells, the moment it happens, which of millions of rules an event satisfies.

    import tocsin

    index = tocsin.build([("adults", "age >= 18"), ("west", "state in ('CA', 'OR', 'WA')")])
    index.match({"age": 31, "state": "CA"})

Names are loaded when first used, so that `import tocsin` is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.door import door
from tocsin.errors import (
    DerivationError,
    EventError,
    IndexFileError,
    InputError,
    JournalError,
    LimitError,
    MissingExtraError,
    OutOfMemory,
    RuleError,
    RuleErrors,
    ServerAway,
    TocsinError,
    TocsinWarning,
    UnknownRuleError,
    UnsupportedError,
    UsageError,
)
from tocsin.version import VERSION

if TYPE_CHECKING:
    from tocsin.conditions.live import Explanation, Index
    from tocsin.conditions.matching import Counts, Match, Matches
    from tocsin.datalog.engine import Changes, Engine, Program
    from tocsin.engines import build_good
    from tocsin.engines.build import build
    from tocsin.history.backtest import backtest
    from tocsin.history.comparison import Comparison
    from tocsin.history.overview import Overview
    from tocsin.history.statistics import History, statistics
    from tocsin.history.trial import TestRun
    from tocsin.rules import Rule, Rules, read_rules
    from tocsin.saved import open_saved as open
    from tocsin.text import Dictionary, tm_score
    from tocsin.text.score import score
    from tocsin.watches import Alert, Watch
    from tocsin.watches.watch import watch
else:
    __getattr__ = door(__name__)

__version__ = VERSION

__all__ = [
    "Alert",
    "Changes",
    "Comparison",
    "Counts",
    "DerivationError",
    "Dictionary",
    "Engine",
    "EventError",
    "Explanation",
    "History",
    "Index",
    "IndexFileError",
    "InputError",
    "JournalError",
    "LimitError",
    "Match",
    "Matches",
    "MissingExtraError",
    "OutOfMemory",
    "Overview",
    "Program",
    "Rule",
    "RuleError",
    "RuleErrors",
    "Rules",
    "ServerAway",
    "TestRun",
    "TocsinError",
    "TocsinWarning",
    "UnknownRuleError",
    "UnsupportedError",
    "UsageError",
    "Watch",
    "__version__",
    "backtest",
    "build",
    "build_good",
    "open",
    "read_rules",
    "score",
    "statistics",
    "tm_score",
    "watch",
]


def __dir__() -> list[str]:
    return sorted(__all__)
