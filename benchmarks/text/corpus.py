"""A folder of documents, standing queries and the matches that are known to be right.

docs.txt.gz        one document a line, lower-cased words parted by single spaces
queries.jsonl.gz   {"id", "query"} a line, in the language of contains, Boolean
expected.txt.gz    line i: the ids of the queries that match document i
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Corpus:
    """Queries are numbered from 0; `expected` has for each document the numbers of its queries, ascending."""

    documents: list[str]
    queries: list[str]
    expected: list[list[int]]

    def document_frequencies(self) -> Counter[str]:
        """In how many documents each word is."""
        return Counter(word for document in self.documents for word in set(document.split()))


def corpus_in(folder: Path) -> Corpus:
    rows = [json.loads(line) for line in _lines(folder / "queries.jsonl.gz")]
    number_of = {row["id"]: number for number, row in enumerate(rows)}
    expected = [
        sorted(number_of[int(name)] for name in line.split()) for line in _lines(folder / "expected.txt.gz")
    ]
    return Corpus(_lines(folder / "docs.txt.gz"), [row["query"] for row in rows], expected)


def _lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n") for line in lines]
