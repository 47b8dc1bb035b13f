"""Every door that takes what somebody else wrote, as a function of bytes.

A target's `check` returns when the input was taken and handled rightly, and when it was refused with a
TocsinError. Everything else that it raises is a failure: another error, an answer that meaning.py does not
give, two readers that differ, a text that does not come back from its printing. The same function is called
with random inputs by test_targets.py, and by a coverage-guided fuzzer where there is one (__main__.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.fuzz import condition_texts, event_files, programs, rule_tables

CASES = Path(__file__).parent / "cases"
"""What a target has ever failed for: cases/<target>/<any name>. None is taken away again."""


@dataclass(frozen=True)
class Target:
    """A door, what is valid there, words of its language, and how many random inputs a test run affords."""

    check: Callable[[bytes], None]
    make_corpus: Callable[[], list[bytes]]
    words: Sequence[bytes]
    inputs: int

    @cached_property
    def corpus(self) -> list[bytes]:
        """Valid inputs, made once."""
        return self.make_corpus()


TARGETS = {
    "condition": Target(condition_texts.check, condition_texts.corpus, condition_texts.WORDS, 300),
    "query": Target(condition_texts.check_query, condition_texts.queries, condition_texts.QUERY_WORDS, 300),
    "triggers": Target(rule_tables.check_triggers, rule_tables.trigger_files, rule_tables.WORDS, 100),
    "rules-csv": Target(rule_tables.check_csv, rule_tables.csv_files, rule_tables.WORDS, 100),
    "rules-jsonl": Target(rule_tables.check_jsonl, rule_tables.jsonl_files, rule_tables.WORDS, 100),
    "rules-parquet": Target(rule_tables.check_parquet, rule_tables.parquet_files, rule_tables.WORDS, 100),
    "events-dict": Target(event_files.check_dict, event_files.json_files, event_files.WORDS, 300),
    "events-jsonl": Target(event_files.check_jsonl, event_files.json_files, event_files.WORDS, 200),
    "events-csv": Target(event_files.check_csv, event_files.csv_files, event_files.WORDS, 200),
    "events-parquet": Target(event_files.check_parquet, event_files.parquet_files, event_files.WORDS, 100),
    "events-arrow": Target(event_files.check_arrow, event_files.arrow_streams, event_files.WORDS, 100),
    "program": Target(programs.check, programs.corpus, programs.WORDS, 200),
}
