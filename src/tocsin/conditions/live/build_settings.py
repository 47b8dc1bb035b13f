"""What an index is built with besides its rules: dictionaries, settings of free text, estimates."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

from tocsin.conditions.language.field_names import field_named
from tocsin.conditions.language.tree import Path
from tocsin.conditions.planner.planner import Planner, Selectivity
from tocsin.errors import UsageError
from tocsin.text import Dictionary, TextBase

if TYPE_CHECKING:
    from tocsin.history.statistics import History

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Preparation:
    """Settings that every engine takes; the planner is the shared index's alone.

    dictionaries   those that `base` has the weights of, with what they counted
    """

    base: TextBase
    planner: Planner
    dictionaries: Mapping[Path, Dictionary] = field(default_factory=dict)

    @staticmethod
    def of(
        history: History | PathLike | None = None,
        dictionaries: Mapping[str, Dictionary | PathLike] | None = None,
        stop_words: Iterable[str] = (),
        text_threshold: float = 0.0,
        access: str = "auto",
        organise: str = "auto",
    ) -> Preparation:
        """What tocsin.build takes; UsageError when something makes no sense."""
        if isinstance(text_threshold, bool) or not isinstance(text_threshold, int | float):
            raise UsageError(f"a text threshold is a number from 0 on, not {text_threshold!r}")
        words, estimate = known_words(history, dictionaries)
        return Preparation(
            TextBase.of(words, stop_words, float(text_threshold)),
            Planner(access, estimate, organise=organise),
            words,
        )

    def digest(self) -> str:
        """Differs when the same rules can have other matches or scores; plans change neither."""
        base = self.base
        whole = blake2b(digest_size=16)
        whole.update(json.dumps([base.threshold, sorted(base.stop_words), base.fields]).encode())
        for array in base.words:
            whole.update(array.tobytes())
        return whole.hexdigest()


def known_words(
    history: History | PathLike | None, dictionaries: Mapping[str, Dictionary | PathLike] | None
) -> tuple[dict[Path, Dictionary], Selectivity | None]:
    """The dictionaries of fields, those given by name before those of history; and history's estimates."""
    words: dict[Path, Dictionary] = {}
    estimate: Selectivity | None = None
    if history is not None:
        words, estimate = _known(history)
    for name, dictionary in (dictionaries or {}).items():
        if not isinstance(dictionary, Dictionary):
            dictionary = Dictionary.open(_path(dictionary, f"the dictionary of {name}"))
        words[field_named(name)] = dictionary
    return words, estimate


def _known(history: History | PathLike) -> tuple[dict[Path, Dictionary], Selectivity]:
    """The dictionaries and the estimates that history gives."""
    from tocsin.history.statistics import History, HistorySelectivity

    known = history if isinstance(history, History) else History.open(_path(history, "history"))
    words = {path: known.dictionary(path) for path in known.text_fields}
    return words, HistorySelectivity(known)


def _path(given: object, what: str) -> PathLike:
    if not isinstance(given, str | os.PathLike):
        raise UsageError(f"{what} cannot be of type {type(given).__name__}: give it, or its path")
    return given
