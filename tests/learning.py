"""What a dictionary that learns must have learnt, by the obvious way: every document counted anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.cases import Event
from tests.text_rules import Settings

from tocsin import Dictionary
from tocsin.conditions.language import field_named
from tocsin.conditions.meaning import document_at


def learnt(given: Settings, events: Iterable[Mapping[str, Any]], fields: Sequence[str]) -> Settings:
    """The settings after these events, whose fields free text asks."""
    seen = list(events)
    dictionaries = dict(given.dictionaries)
    for name in fields:
        documents = [document_at(event, field_named(name)) for event in seen]
        if any(document is not None for document in documents):
            known = dictionaries.get(name, Dictionary())
            dictionaries[name] = known.merge(Dictionary.count(documents))
    return replace(given, dictionaries=dictionaries)


def has_documents(events: Iterable[Event], fields: Sequence[str]) -> bool:
    """Whether there is any document to learn from."""
    return any(document_at(event, field_named(name)) is not None for event in events for name in fields)
