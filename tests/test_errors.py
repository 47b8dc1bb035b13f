"""Every error survives a pickle: on Spark they come from other processes."""

from __future__ import annotations

import copy
import pickle

import pytest

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

RULE = RuleError("bad", rule="r", file="f.sql", line=3, column=7, excerpt="a >", caret=2)
EXAMPLES: list[Exception] = [
    TocsinError("reason"),
    TocsinWarning("odd"),
    RULE,
    RuleErrors([RULE, RuleError("worse"), RuleErrors([RULE, RULE])]),
    InputError("f.csv: empty"),
    LimitError("f.csv.gz: too much", setting="TOCSIN_MOST_UNPACKED"),
    MissingExtraError("tocsin.spark", "spark", "pyspark"),
    OutOfMemory("out of memory while matching"),
    DerivationError("division by zero", rule="p(x / y) :- q(x, y)."),
    EventError("no object", row=4, file="e.jsonl"),
    IndexFileError("damaged"),
    JournalError("is damaged", file="folder/journal", offset=48),
    ServerAway("no answer"),
    UnknownRuleError("r1"),
    UnsupportedError("no such operation"),
    UsageError("no such engine"),
]


def facts(error: object) -> object:
    """What an error is, for comparison: exceptions are equal only to themselves."""
    if not isinstance(error, Exception):
        return error
    held = {name: facts(value) for name, value in vars(error).items() if name != "errors"}
    errors = error.errors if isinstance(error, RuleErrors) else ()
    return type(error), str(error), error.args, held, [facts(each) for each in errors]


def test_there_is_an_example_of_each_class() -> None:
    found: list[type] = [TocsinError, TocsinWarning]
    for each in found:
        found.extend(each.__subclasses__())
    assert {type(example) for example in EXAMPLES} == set(found)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_errors_are_pickled_and_copied_whole(error: Exception) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert facts(pickle.loads(pickle.dumps(error, protocol))) == facts(error)
    assert facts(copy.copy(error)) == facts(error)
    assert facts(copy.deepcopy(error)) == facts(error)


def test_notes_are_kept() -> None:
    error = RuleErrors([RULE, RULE])
    error.add_note("while loading")
    assert pickle.loads(pickle.dumps(error)).__notes__ == ["while loading"]


def test_the_message_of_very_many_errors_is_short() -> None:
    message = str(RuleErrors([RULE] * 1_000))
    assert message.startswith("1000 errors\n")
    assert message.endswith("... and 980 more")
