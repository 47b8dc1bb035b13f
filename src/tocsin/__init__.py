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
    from tocsin.conditions.live.explanation import Explanation
    from tocsin.conditions.live.index import Index
    from tocsin.conditions.matching.results import Counts, Match, Matches
    from tocsin.datalog.engine.changes import Changes
    from tocsin.datalog.engine.engine import Engine
    from tocsin.datalog.engine.program import Program
    from tocsin.engines.build import build, build_good
    from tocsin.history.backtest import backtest
    from tocsin.history.comparison import Comparison
    from tocsin.history.overview.overview_result import Overview
    from tocsin.history.statistics.history import History
    from tocsin.history.statistics.local_statistics import statistics
    from tocsin.history.trial.test_run import TestRun
    from tocsin.rules.rule_files import read_rules
    from tocsin.rules.rule_set import Rule, Rules
    from tocsin.saved import open_saved as open
    from tocsin.text.dictionary import Dictionary
    from tocsin.text.score import score, tm_score
    from tocsin.watches.alerts import Alert
    from tocsin.watches.watch import Watch, watch
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
