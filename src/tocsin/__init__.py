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
    from tocsin.grammar.rule_files import read_rules
    from tocsin.grammar.rules import Rule, Rules
    from tocsin.index.statistics.history import History
    from tocsin.index.text.dictionary import Dictionary
    from tocsin.monitor.backtest import backtest
    from tocsin.monitor.backtest_result import TestRun
    from tocsin.monitor.building import build, build_good
    from tocsin.monitor.explaining import Explanation
    from tocsin.monitor.index import Index
    from tocsin.monitor.opening import open_saved as open
    from tocsin.monitor.overview.result import Overview
    from tocsin.monitor.programs.changes import Changes
    from tocsin.monitor.programs.engine import Engine
    from tocsin.monitor.programs.program import Program
    from tocsin.monitor.results import Counts, Match, Matches
    from tocsin.monitor.scoring import score, tm_score
    from tocsin.monitor.watching.alerts import Alert
    from tocsin.monitor.watching.watch import Watch, watch

__version__ = VERSION

__all__ = [
    "Alert",
    "Changes",
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
    "tm_score",
    "watch",
]

_HOME = {
    "Alert": "tocsin.monitor.watching.alerts",
    "Changes": "tocsin.monitor.programs.changes",
    "Counts": "tocsin.monitor.results",
    "Dictionary": "tocsin.index.text.dictionary",
    "Engine": "tocsin.monitor.programs.engine",
    "Explanation": "tocsin.monitor.explaining",
    "History": "tocsin.index.statistics.history",
    "Index": "tocsin.monitor.index",
    "Match": "tocsin.monitor.results",
    "Matches": "tocsin.monitor.results",
    "Overview": "tocsin.monitor.overview.result",
    "Program": "tocsin.monitor.programs.program",
    "Rule": "tocsin.grammar.rules",
    "Rules": "tocsin.grammar.rules",
    "TestRun": "tocsin.monitor.backtest_result",
    "Watch": "tocsin.monitor.watching.watch",
    "backtest": "tocsin.monitor.backtest",
    "build": "tocsin.monitor.building",
    "build_good": "tocsin.monitor.building",
    "open": "tocsin.monitor.opening:open_saved",
    "read_rules": "tocsin.grammar.rule_files",
    "score": "tocsin.monitor.scoring",
    "tm_score": "tocsin.monitor.scoring",
    "watch": "tocsin.monitor.watching.watch",
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
