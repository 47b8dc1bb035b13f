from __future__ import annotations

import json
import pickle
import warnings

import pytest

from tocsin.errors import (
    DerivationError,
    EventError,
    InputError,
    RuleError,
    RuleErrors,
    TocsinError,
    TocsinWarning,
    UnknownRuleError,
)
from tocsin.printable import one_line, printable, printable_json, printable_lines

HOSTILE = "a\x1b[2J\x9b1m\x7f\x00\b\r\u202e\u200b\u2028\u2066\ufeff\u061c\xad\ud800\U000e0041z"
UNSHOWN = set(HOSTILE) - set("a[2J1mz")


@pytest.mark.parametrize(
    "text", ["", "plain", "it's ☃ é 日本 😀", "no\u00a0break", "C:\\x1b", "e\u0301", "العربية"]
)
def test_what_can_be_shown_stays(text: str) -> None:
    assert printable(text) == printable_lines(text) == printable_json(text) == text


def test_escapes() -> None:
    assert printable("a\x1b[0m\tb\n\u202e\U000e0041\ud800") == r"a\x1b[0m\tb\n\u202e\U000e0041\ud800"
    assert printable_lines("a\n\tb\r") == "a\n\tb\\r"
    assert not UNSHOWN & set(printable(HOSTILE))
    line = json.dumps({"rule": HOSTILE.replace("\ud800", "")}, ensure_ascii=False)
    assert not UNSHOWN & set(printable_json(line))
    assert json.loads(printable_json(line)) == json.loads(line)


@pytest.mark.parametrize(
    "error",
    [
        TocsinError(HOSTILE),
        InputError(HOSTILE),
        EventError(HOSTILE, row=1, file=HOSTILE),
        DerivationError(HOSTILE, rule=HOSTILE),
        UnknownRuleError(HOSTILE),
        RuleError(HOSTILE, rule=HOSTILE, file=HOSTILE, line=1, column=3, excerpt=HOSTILE),
        RuleErrors([RuleError(HOSTILE, excerpt=HOSTILE, column=1), RuleError(HOSTILE, rule=HOSTILE)]),
        TocsinWarning(HOSTILE),
    ],
    ids=lambda error: type(error).__name__,
)
def test_every_error_is_printable(error: Exception) -> None:
    assert not UNSHOWN & set(str(error))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_warning_is_printable() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(HOSTILE, TocsinWarning, stacklevel=1)
    shown = warnings.formatwarning(caught[0].message, caught[0].category, "f", 1)
    assert not UNSHOWN & set(shown)


def test_the_caret_stands_under_what_it_means() -> None:
    error = RuleError("odd\nreason", rule="r\n1", column=4, excerpt="\x1b\tb\x9b = 1")
    assert str(error) == "4: odd\\nreason (rule r\\n1)\n    \\x1b b\\x9b = 1\n          ^"


def test_one_line() -> None:
    assert one_line("a\n\tb\x1b[0m\u202e", 50) == r"a b\x1b[0m\u202e"
    assert one_line("x" * 20, 10) == "xxxxxxx..."
