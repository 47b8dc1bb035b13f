"""The options of free text, which several commands share: dictionaries, stop words, the threshold."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.errors import UsageError

if TYPE_CHECKING:
    from tocsin.conditions.live import Preparation


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
    from tocsin.text import words_of

    dictionaries: dict[str, str] = {}
    for given in arguments.dictionary:
        field, equals, file = given.rpartition("=")
        if not equals or not field or not file:
            raise UsageError(f"--dictionary takes FIELD=FILE, not {given!r}")
        dictionaries[field] = file
    file = arguments.stop_words
    lines = [] if file is None else Path(file).read_text(encoding="utf-8").splitlines()
    stop_words = [word for line in lines for word in words_of(line)]  # as words are in texts
    threshold = arguments.text_threshold or 0.0
    return Preparation.of(arguments.history, dictionaries, stop_words, threshold, organise=organise)


def refuse_for_index(arguments: argparse.Namespace, path: str) -> None:
    """UsageError when options are given beside a saved index, which has its own settings."""
    given = arguments.history, arguments.dictionary, arguments.stop_words
    if any(given) or arguments.text_threshold is not None:
        raise UsageError(
            f"{path} has the settings of free text that it was built with: give them to tocsin build"
        )
