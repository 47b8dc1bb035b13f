"""The state of a bucket in Spark's store: a journal of what each batch changed.

A bucket maps facts to values. Whatever is asked of Spark's store is a message to Java and back, which takes
as long as the work on many changes; so a batch reads one value of a bucket and writes it, however many facts
it changes.

    head        token       another one after each batch that touched the bucket
                tail        what the last batches changed, and the token before each of them
                marks       the tokens before the last pieces
    pieces      what was changed before that, numbered in order

Whoever remembers the bucket as of some token reads what came since: from the tail, from marked pieces, or
else everything. A token is drawn at random: no two states of a bucket, not even those of a repeated batch,
have the same. What outgrows the tail is put into a piece, and when as much was written to pieces as they held
before, all of them are put together without what is gone.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

Fact = tuple[str, ...]
"""A relation, or the port that it goes through, and the texts of a tuple."""

Entries = dict[Fact, Any]
"""Facts with what is to be known of each, in JSON's types; None of a fact that is gone."""

START = "start"
"""The token of a bucket that has no state."""

TAIL = 20_000
"""So many characters the tail has at most, when a batch is written."""

PIECE = 20_000
"""So many facts stand in one piece at most."""

LOOSE = 200_000
"""So many characters are written to pieces at least before they are put together."""

MARKS = 16
"""Of so many pieces it is known which token was before them."""


class Head(NamedTuple):
    """What is read and written in every batch.

    token       of the state as it is
    first, end  the pieces there are: from `first` up to `end`
    kept        characters in pieces when they were last put together
    added       characters written to pieces since
    marks       the tokens before the last pieces, the last one's last; empty where there is none
    before      the token before each batch of the tail
    tail        what these batches changed
    """

    token: str
    first: int = 0
    end: int = 0
    kept: int = 0
    added: int = 0
    marks: Sequence[str] = ()
    before: Sequence[str] = ()
    tail: Sequence[str] = ()


class Store(Protocol):
    """Where a journal is kept: for the bucket at hand, in Spark's store or in a test's."""

    def head(self) -> Head | None:
        """The head; None of a bucket that has what the program gives it."""

    def set_head(self, head: Head) -> None:
        """Write the head."""

    def piece(self, number: int) -> str:
        """A piece."""

    def set_piece(self, number: int, text: str) -> None:
        """Write a piece."""

    def remove_piece(self, number: int) -> None:
        """Have a piece no more."""


def everything(store: Store, head: Head | None) -> Entries:
    """All entries of a bucket."""
    if head is None:
        return {}
    return _without_gone(_merged([*_pieces(store, head.first, head.end), *head.tail]))


def since(store: Store, head: Head, token: str) -> Entries | None:
    """What was changed after the state that had a token; None if nobody knows any more."""
    if token in head.before:
        return _merged(head.tail[head.before.index(token) :])
    if token in head.marks:
        first = head.end - len(head.marks) + head.marks.index(token)
        return _merged([*_pieces(store, first, head.end), *head.tail])
    return None


def append(store: Store, head: Head | None, changed: Entries) -> str:
    """Write what a batch changed; the new token."""
    if head is None:
        head = Head(START)
    before, tail = [*head.before, head.token], [*head.tail, _written(changed)]
    if _size(tail) > TAIL:
        while _size(tail) > TAIL // 2:
            count = _first_piece(tail)
            head = _with_pieces(store, head, before[0], tail[:count])
            before, tail = before[count:], tail[count:]
    token = secrets.token_hex(8)
    store.set_head(head._replace(token=token, before=before, tail=tail))
    return token


def _first_piece(tail: Sequence[str]) -> int:
    """How many batches go into a piece together: one, or as many as are small."""
    count = 1
    while count < len(tail) and _size(tail[: count + 1]) <= TAIL // 4:
        count += 1
    return count


def _size(texts: Iterable[str]) -> int:
    return sum(map(len, texts))


def _with_pieces(store: Store, head: Head, token: str, texts: Sequence[str]) -> Head:
    """The head with these texts of the tail in pieces behind the others; `token` was before them."""
    pieces = list(_in_pieces(_merged(texts)))
    marks = [*head.marks, token, *[""] * (len(pieces) - 1)][-MARKS:]
    added = head.added + _size(pieces)
    if added > head.kept + LOOSE:
        pieces = list(_in_pieces(_without_gone(_merged([*_pieces(store, head.first, head.end), *pieces]))))
        for number in range(head.first, head.end):
            store.remove_piece(number)
        head = head._replace(first=head.end, kept=_size(pieces))
        marks, added = [], 0
    for number, piece in enumerate(pieces, head.end):
        store.set_piece(number, piece)
    return head._replace(end=head.end + len(pieces), added=added, marks=marks)


def _pieces(store: Store, first: int, end: int) -> Iterator[str]:
    return map(store.piece, range(first, end))


def _in_pieces(entries: Entries) -> Iterator[str]:
    facts = list(entries.items())
    for first in range(0, len(facts), PIECE):
        yield _written(dict(facts[first : first + PIECE]))


def _merged(texts: Iterable[str]) -> Entries:
    """The entries of texts, later ones in the place of earlier ones."""
    found: Entries = {}
    for text in texts:
        for value, *fact in json.loads(text):
            found[tuple(fact)] = value
    return found


def _without_gone(entries: Entries) -> Entries:
    return {fact: value for fact, value in entries.items() if value is not None}


def _written(entries: Mapping[Fact, Any]) -> str:
    return json.dumps([[value, *fact] for fact, value in entries.items()], ensure_ascii=False)
