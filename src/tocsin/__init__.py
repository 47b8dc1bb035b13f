"""tocsin tells, the moment it happens, which of millions of rules an event satisfies.

    import tocsin

    index = tocsin.build([("adults", "age >= 18"), ("west", "state in ('CA', 'OR', 'WA')")])
    index.match({"age": 31, "state": "CA"})

Names are loaded when first used, so that `import tocsin` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tocsin.errors import (
    DerivationError,
    EventError,
    IndexFileError,
    InputError,
    JournalError,
    LimitError,
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

_HOME = {
    "Alert": "tocsin.watches.alerts",
    "Changes": "tocsin.datalog.engine.changes",
    "Comparison": "tocsin.history.comparison",
    "Counts": "tocsin.conditions.matching.results",
    "Dictionary": "tocsin.text.dictionary",
    "Engine": "tocsin.datalog.engine.engine",
    "Explanation": "tocsin.conditions.live.explanation",
    "History": "tocsin.history.statistics.history",
    "Index": "tocsin.conditions.live.index",
    "Match": "tocsin.conditions.matching.results",
    "Matches": "tocsin.conditions.matching.results",
    "Overview": "tocsin.history.overview.overview_result",
    "Program": "tocsin.datalog.engine.program",
    "Rule": "tocsin.rules.rule_set",
    "Rules": "tocsin.rules.rule_set",
    "TestRun": "tocsin.history.trial.test_run",
    "Watch": "tocsin.watches.watch",
    "backtest": "tocsin.history.backtest",
    "build": "tocsin.engines.build",
    "build_good": "tocsin.engines.build",
    "open": "tocsin.saved:open_saved",
    "read_rules": "tocsin.rules.rule_files",
    "score": "tocsin.text.score",
    "statistics": "tocsin.history.statistics.local_statistics",
    "tm_score": "tocsin.text.score",
    "watch": "tocsin.watches.watch",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'tocsin' has no attribute '{name}'")
    home, _, inside = _HOME[name].partition(":")
    value = getattr(import_module(home), inside or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
