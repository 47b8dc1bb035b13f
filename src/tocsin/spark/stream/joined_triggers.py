"""Triggers over several tables, which no index takes: a version of the rules has them in a file of their own.

    rules/00000003-51b0.triggers     JSON lines {"name": ..., "when": ..., "tables": [...], ...}

Only a source that knows the tables' contents can do anything with them. Importing this module loads neither
NumPy nor the kernels.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tocsin.rules.rule_set import Rules
    from tocsin.rules.triggers import Trigger


def set_aside(rules: Rules) -> tuple[Rules, list[Trigger]]:
    """The rules that an index takes, and the triggers over several tables."""
    import numpy as np

    several = [row for row in sorted(rules.triggers) if rules.has_several_tables(row)]
    if not several:
        return rules, []
    others = np.delete(np.arange(len(rules)), several)
    return rules.take(others), [rules.triggers[row] for row in several]


def triggers_text(triggers: Sequence[Trigger]) -> str:
    """What `read_triggers` reads."""
    return "".join(json.dumps(asdict(trigger), ensure_ascii=False) + "\n" for trigger in triggers)


def read_triggers(path: str | None) -> list[Trigger]:
    """The triggers of a file; none when there is no file."""
    if path is None:
        return []
    with Path(path).open(encoding="utf-8") as lines:
        return [_trigger(json.loads(line)) for line in lines]


def rules_of(triggers: Sequence[Trigger]) -> Rules:
    """Triggers as rules that can be watched."""
    import numpy as np
    import pyarrow as pa

    from tocsin.rules.rule_set import Rules

    return Rules(
        pa.array([trigger.name for trigger in triggers], pa.large_string()),
        pa.array([trigger.when for trigger in triggers], pa.large_string()),
        lines=np.array([trigger.line for trigger in triggers], np.int64),
        triggers=dict(enumerate(triggers)),
    )


def _trigger(members: dict[str, Any]) -> Trigger:
    from tocsin.rules.triggers import Change, Table, Trigger

    after = members["after"]
    return Trigger(
        **{
            **members,
            "tables": tuple(Table(**table) for table in members["tables"]),
            "after": None if after is None else Change(**after),
        }
    )
