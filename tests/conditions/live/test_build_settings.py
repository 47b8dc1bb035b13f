"""What tocsin.build is given for free text, when it makes no sense."""

from __future__ import annotations

from typing import Any

import pytest

import tocsin
from tocsin.errors import InputError, UsageError


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"history": 5}, "history cannot be of type int"),
        ({"dictionaries": {"t": 5}}, "the dictionary of t cannot be of type int"),
        ({"dictionaries": {"1": tocsin.Dictionary()}}, "'1' is not a field"),
        ({"stop_words": "the"}, "stop words are a list of words, not 'the'"),
        ({"stop_words": 3}, "stop words are a list of words, not 3"),
        ({"stop_words": [3]}, "the stop word 3 is not one word"),
        ({"stop_words": ["The"]}, "the stop word 'The' is not one word in lower case"),
        ({"text_threshold": -1}, "a number from 0 on, not -1"),
        ({"text_threshold": float("nan")}, "a number from 0 on, not nan"),
        ({"text_threshold": "1"}, "a number from 0 on, not '1'"),
        ({"access": "best"}, "there is no access 'best'"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        tocsin.build([("r", "contains(t, 'a')")], **given)


def test_what_is_not_there_is_an_input_error() -> None:
    for given in ({"history": "/nowhere"}, {"dictionaries": {"t": "/nowhere"}}):
        kwargs: dict[str, Any] = given
        with pytest.raises(InputError, match="/nowhere"):
            tocsin.build([("r", "contains(t, 'a')")], **kwargs)


@pytest.mark.parametrize("texts", ["one text", ["a", 5], [["a", 5]]])
def test_a_dictionary_counts_documents_and_nothing_else(texts: Any) -> None:
    with pytest.raises(UsageError, match="text"):
        tocsin.Dictionary.count(texts)
