"""The options of free text, which several commands share: dictionaries, stop words, the threshold."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.errors import UsageError

if TYPE_CHECKING:
    from tocsin.conditions.live import Preparation
    from tocsin.text import TextSettings


def add_text_arguments(parser: argparse.ArgumentParser) -> None:
    """The options, in a group of their own."""
    group = parser.add_argument_group("free text")
    group.add_argument(
        "--history", metavar="FOLDER", help="dictionaries and estimates: what `tocsin statistics` wrote"
    )
    group.add_argument(
        "--dictionary",
        action="append",
        default=[],
        metavar="FIELD=FILE",
        help="the dictionary of one field; may be given several times",
    )
    group.add_argument("--stop-words", metavar="FILE", help="words that weigh nothing, one on each line")
    group.add_argument(
        "--text-threshold",
        type=float,
        metavar="SCORE",
        help="what a contains asks for that has neither a threshold nor boolean (default: 0)",
    )


def preparation_of(arguments: argparse.Namespace, organise: str = "auto") -> Preparation:
    """What an index is to be built with."""
    from tocsin.conditions.live import Preparation

    dictionaries = _dictionaries(arguments)
    threshold = arguments.text_threshold or 0.0
    return Preparation.of(
        arguments.history, dictionaries, _stop_words(arguments), threshold, organise=organise
    )


def has_dictionaries(arguments: argparse.Namespace) -> bool:
    """Whether options say what single words weigh."""
    return bool(arguments.history or _dictionaries(arguments))


def text_settings_of(arguments: argparse.Namespace) -> TextSettings:
    """The same for the evaluator, which without dictionaries needs nothing that is compiled."""
    from tocsin.text import TextSettings

    if has_dictionaries(arguments):
        return preparation_of(arguments).base.settings()
    return TextSettings(arguments.text_threshold or 0.0, frozenset(_stop_words(arguments)))


def _dictionaries(arguments: argparse.Namespace) -> dict[str, str]:
    """The files by their fields."""
    dictionaries: dict[str, str] = {}
    for given in arguments.dictionary:
        field, equals, file = given.rpartition("=")
        if not equals or not field or not file:
            raise UsageError(f"--dictionary takes FIELD=FILE, not {given!r}")
        dictionaries[field] = file
    return dictionaries


def _stop_words(arguments: argparse.Namespace) -> list[str]:
    """The words of the file, as words are in texts."""
    file = arguments.stop_words
    if file is None:
        return []
    from tocsin.text import words_of

    return [word for line in Path(file).read_text(encoding="utf-8").splitlines() for word in words_of(line)]


def refuse_for_index(arguments: argparse.Namespace, path: str) -> None:
    """UsageError when options are given beside a saved index, which has its own settings."""
    given = arguments.history, arguments.dictionary, arguments.stop_words
    if any(given) or arguments.text_threshold is not None:
        raise UsageError(
            f"{path} has the settings of free text that it was built with: give them to tocsin build"
        )
