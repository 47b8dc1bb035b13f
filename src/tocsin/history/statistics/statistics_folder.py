"""The folder that holds the statistics of a history.

    statistics.json       what is where: the version of this format, the version of the content, rows,
                          fields, the size of sketches, and the names of the two below
    fields-3.parquet      facts of every field's values (field_facts.py)
    words-3/*.parquet     field, word, documents, sketch (word_counts.py), in any order

A new version is written under names of its own beside the old one; it counts from the moment that
statistics.json is replaced, in one step, and the old parts go then, with what killed runs left days ago. So
the folder holds one version or the next, whatever happens meanwhile.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path as FilePath
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from tocsin.errors import InputError
from tocsin.events import Path
from tocsin.history.statistics.field_facts import FACTS
from tocsin.storage import draft_of, mode_within

FORMAT = 1
NAME = "statistics.json"
FIELDS, WORDS, DRAFT = PARTS = ("fields-", "words-", "partials-")
"""How the names of a version's files start, and of what a run notes before it has them."""
LEFT_BEHIND = 86_400
"""Seconds after which what no version needs is taken for what a killed run has left."""

WORD_FILES = pa.schema(
    [
        ("field", pa.int32()),
        ("word", pa.string()),
        ("documents", pa.int64()),
        ("sketch", pa.list_(pa.int64())),
    ]
)


@dataclass(frozen=True, slots=True)
class Contents:
    """What statistics.json says.

    version     grows with every run that is written here
    rejects     records that were no events
    fields      every field that was looked at; its place is its number in the other files
    text        the numbers of the fields whose words were counted
    words       how many words of all fields there are
    sketch      hashes in a sketch, at most
    parts       the names of the parts of the history that are in it, as far as they have one
    """

    version: int
    rows: int
    rejects: int
    fields: tuple[Path, ...]
    text: tuple[int, ...]
    words: int
    sketch: int
    fields_file: str
    words_folder: str
    parts: tuple[str, ...] = ()


def check_folder(path: str | os.PathLike[str]) -> Contents | None:
    """What is in a folder that statistics are to be written to; InputError when they cannot go there."""
    folder = FilePath(path)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{path}: statistics go to a folder, and this is a file")
    there = read_contents(folder)
    if there is None and folder.is_dir() and not all(_is_part(each.name) for each in folder.iterdir()):
        raise InputError(f"{path}: this folder holds something else: name an empty one, or a new one")
    return there


def read_contents(folder: FilePath) -> Contents | None:
    """What the folder holds, None when it holds no statistics; InputError when they cannot be read."""
    path = folder / NAME
    try:
        said: dict[str, Any] = json.loads(path.read_bytes())
        if said["format"] != FORMAT:
            raise InputError(f"{path}: has format {said['format']}, and this release reads format {FORMAT}")
        contents = Contents(
            version=int(said["version"]),
            rows=int(said["rows"]),
            rejects=int(said["rejects"]),
            fields=tuple(tuple(map(str, field)) for field in said["fields"]),
            text=tuple(map(int, said["text"])),
            words=int(said["words"]),
            sketch=int(said["sketch"]),
            fields_file=FilePath(said["fields_file"]).name,
            words_folder=FilePath(said["words_folder"]).name,
            parts=tuple(map(str, said.get("parts", ()))),
        )
        fields = said["fields"]
        paths = isinstance(fields, list) and all(isinstance(field, list) and field for field in fields)
        named = (
            paths
            and isinstance(said["text"], list)
            and contents.fields_file.startswith(FIELDS)
            and contents.words_folder.startswith(WORDS)
        )
        numbers = (contents.version, contents.rows, contents.rejects, contents.words, contents.sketch)
        known = all(0 <= number < len(contents.fields) for number in contents.text)
        if not (named and known and all(0 <= number < 1 << 62 for number in numbers)):
            raise ValueError
        return contents
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise InputError(f"{path}: is damaged or no statistics of tocsin") from error


def write_contents(folder: FilePath, contents: Contents) -> None:
    """Make this version the one that the folder holds, and take away what is of no other use."""
    before = read_contents(folder)
    with draft_of(folder / NAME, mode_within(folder)) as draft:
        draft.write_text(json.dumps({"format": FORMAT, **asdict(contents)}, indent=2) + "\n")
    old = () if before is None else (before.fields_file, before.words_folder)
    for other in folder.iterdir():
        is_ours = other.name in (contents.fields_file, contents.words_folder)
        if _is_part(other.name) and not is_ours and (other.name in old or _is_left_behind(other)):
            shutil.rmtree(other, ignore_errors=True) if other.is_dir() else other.unlink(missing_ok=True)


def _is_left_behind(path: FilePath) -> bool:
    """Whether nobody can be at work on it any more."""
    try:
        return time.time() - path.stat().st_mtime > LEFT_BEHIND
    except OSError:
        return False


def _is_part(name: str) -> bool:
    """Whether a name is that of a part of some version, or of one that was never finished."""
    return name.startswith(PARTS)


def write_facts(path: FilePath, facts: pa.Table) -> None:
    """The facts of all fields as a file."""
    pq.write_table(facts, path, compression="zstd", write_page_checksum=True)


def read_facts(folder: FilePath, contents: Contents) -> pa.Table:
    """The facts of all fields; InputError when they are not there or damaged."""
    path = folder / contents.fields_file
    try:
        facts = pq.read_table(path, page_checksum_verification=True, schema=FACTS)
        facts.validate(full=True)
        return facts
    except (OSError, MemoryError, ValueError, pa.ArrowException) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def read_words(folder: FilePath, contents: Contents, field: int | None = None) -> pa.Table:
    """The words of one field, or of all, as WORD_FILES; InputError when they are not there or damaged."""
    path = folder / contents.words_folder
    try:
        options = ds.ParquetFragmentScanOptions(page_checksum_verification=True)
        form = ds.ParquetFileFormat(default_fragment_scan_options=options)
        files = ds.dataset(path, schema=WORD_FILES, format=form)
        if files.count_rows() != contents.words:
            raise InputError(f"{path}: is damaged: words are missing")
        words = files.to_table(filter=None if field is None else ds.field("field") == field)
        words.validate(full=True)
        return words
    except (OSError, MemoryError, ValueError, pa.ArrowException) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
