"""Conditions and text queries: read by two readers as one language, printed and read back, and matched."""

from __future__ import annotations

import random
import re
from zlib import crc32

from tests.cases import make_condition, make_event
from tests.conditions.graph.condition_readers import assert_one_language
from tests.conditions.graph.odd_texts import SNIPPETS
from tests.text_cases import make_document, make_query, make_query_text, make_text

from tocsin import build_good
from tocsin.conditions.language import parse_condition, print_condition
from tocsin.conditions.meaning import matches
from tocsin.errors import RuleError, TocsinError
from tocsin.text import QueryProblems, parse_query, print_query

WORDS = tuple(snippet.encode() for snippet in (*SNIPPETS, "tm_contains", "boolean", "'\u202e'", "\x1b[2J"))
QUERY_WORDS = tuple(
    word.encode()
    for word in ("&", "|", "!", "AND", "OR", "NOT", '"', "~2", "~*", "(", ")", ",", "*", "日", "é-b")
)
RAW_CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
"""What no message may hold; line feeds part its lines."""


def corpus() -> list[bytes]:
    """Conditions of every predicate, as the contract suite makes them."""
    rng = random.Random(1)
    return [print_condition(make_condition(rng))[:500].encode() for _ in range(300)]


def queries() -> list[bytes]:
    """Text queries in several spellings."""
    rng = random.Random(2)
    return [make_query_text(rng, make_query(rng)).encode() for _ in range(300)]


def check(data: bytes) -> None:
    """One condition as text."""
    text = data.decode(errors="ignore")
    assert_one_language([text])
    index, errors = build_good([("r", text)])
    for error in errors:
        check_message(error)
    try:
        condition = parse_condition(text)
    except RuleError as error:
        check_message(error)
        assert errors
        return
    assert not errors
    assert parse_condition(print_condition(condition)).steps == condition.steps
    rng = random.Random(crc32(data))
    for _ in range(4):
        event = make_event(rng)
        assert bool(index.match(event)) == matches(condition, event), event


def check_query(data: bytes) -> None:
    """One text query, in `contains` and in `tm_contains`."""
    text = data.decode(errors="ignore")
    rng = random.Random(crc32(data))
    document = rng.choice((text, make_text(rng), make_document(rng)))
    for word, any_gap in (("contains", False), ("tm_contains", True)):
        condition = f"{word}(s, '{text.replace(chr(39), chr(39) * 2)}')"
        index, errors = build_good([("r", condition)])
        try:
            query = parse_query(text, any_gap=any_gap)
        except QueryProblems:
            assert errors
            for error in errors:
                check_message(error)
            continue
        assert not errors
        assert parse_query(print_query(query, any_gap=any_gap), any_gap=any_gap) == query
        event: dict[str, object] = {"s": document}
        assert bool(index.match(event)) == matches(parse_condition(condition), event), event


def check_message(error: TocsinError) -> None:
    """An error's text is made for people: no raw control characters, and no longer than a page."""
    message = str(error)
    assert not RAW_CONTROL.search(message), repr(message)
    assert len(message) < 20_000
