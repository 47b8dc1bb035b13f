"""Files of rules: each rule is taken and matches as meaning.py says, or is refused by name."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

import pyarrow as pa
import pyarrow.parquet as pq
from tests.cases import make_condition, make_event
from tests.fuzz.condition_texts import WORDS as CONDITION_WORDS
from tests.fuzz.condition_texts import check_message

from tocsin import build_good, read_rules
from tocsin.conditions.language import print_condition
from tocsin.conditions.meaning import matches
from tocsin.errors import RuleError, TocsinError

EXAMPLES = Path(__file__).parents[2] / "examples"
WORDS = (
    *CONDITION_WORDS,
    *(b"create trigger", b"create or replace trigger", b"when", b"from", b"as", b"after insert on", b"alert"),
    *(
        b"with (",
        b"throttle = '1 hour'",
        b"severity = 'high'",
        b";",
        b"id,when\r\n",
        b"a,b\n",
        b'{"id": 1, "when": ',
    ),
    *(b"}\n", b"null", b"[[", b"\\u0000", b"\\ud800", b"\xef\xbb\xbf", b"\r", b'"', b'""', b"1e999", b"NaN"),
)


def trigger_files() -> list[bytes]:
    """The examples' trigger files, whole and by statement."""
    whole = [path.read_bytes() for path in sorted(EXAMPLES.rglob("*.sql"))]
    return [*whole, *(statement + b";" for text in whole for statement in text.split(b";"))]


def csv_files() -> list[bytes]:
    """Tables of rules with and without metadata."""
    made = []
    for rows in _tables():
        text = io.StringIO()
        csv.DictWriter(text, list(rows[0])).writeheader()
        csv.DictWriter(text, list(rows[0])).writerows(rows)
        made.append(text.getvalue().encode())
    return made


def jsonl_files() -> list[bytes]:
    """The same as lines of JSON."""
    return [b"".join(json.dumps(row).encode() + b"\n" for row in rows) for rows in _tables()]


def parquet_files() -> list[bytes]:
    """The same as Parquet, not compressed, so that a changed byte is a changed value now and then."""
    made: list[bytes] = []
    for rows in _tables():
        sink = io.BytesIO()
        pq.write_table(
            pa.Table.from_pylist(rows), sink, compression="none", use_dictionary=len(made) % 2 == 0
        )
        made.append(sink.getvalue())
    return made


def _tables() -> list[list[dict[str, object]]]:
    rng = random.Random(3)
    return [
        [
            {
                "id": f"r{number}",
                "when": print_condition(make_condition(rng))[:120],
                "severity": number,
                "é": "x",
            }
            for number in range(rng.randint(1, 4))
        ]
        for _ in range(40)
    ]


def check_triggers(data: bytes) -> None:
    """A file of triggers."""
    _check(data, "rules.sql")


def check_csv(data: bytes) -> None:
    """A CSV file of rules."""
    _check(data, "rules.csv")


def check_jsonl(data: bytes) -> None:
    """A JSON-lines file of rules."""
    _check(data, "rules.jsonl")


def check_parquet(data: bytes) -> None:
    """A Parquet file of rules."""
    _check(data, "rules.parquet")


def _check(data: bytes, name: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        try:
            rules = read_rules(path, skip_bad=True)
            index, errors = build_good(rules)
        except TocsinError as error:
            check_message(error)
            return
    for each in (*rules.rejected, *errors):
        check_message(each)
    refused = {error.rule for error in errors}
    event = make_event(random.Random(crc32(data)))
    found = {match.rule for match in index.match(event)}
    for row, rule in enumerate(rules):
        try:
            condition = rules.condition(row)
        except RuleError:
            assert rule.id in refused
            continue
        if rule.id not in refused:
            assert (rule.id in found) == matches(condition, event), rule.id
