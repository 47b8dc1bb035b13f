"""A dictionary as a Parquet file, which any tool can read.

    word        string   ascending by its UTF-8 bytes, each once
    documents   int64    how many documents hold it
    given       double   the idf given by hand, null where none was

The file's metadata holds under `tocsin.dictionary` a JSON object: the version of this format, how many
documents were counted, the dictionary's version, and a checksum of all that. A file that is damaged, or
whose content no dictionary can have, is refused.
"""

from __future__ import annotations

import json
import os
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tocsin.arrays.packed import text_arrays
from tocsin.errors import InputError
from tocsin.storage import draft_of

if TYPE_CHECKING:
    from tocsin.text.dictionary import Dictionary, WordArrays

FORMAT = 1
_KEY = b"tocsin.dictionary"
_COLUMNS = ("word", "documents", "given")


def save_dictionary(dictionary: Dictionary, path: str | os.PathLike[str]) -> None:
    """Write a dictionary, whole or not at all; InputError when it cannot be written."""
    from tocsin.text.dictionary import table_of_words

    about: dict[str, Any] = {
        "format": FORMAT,
        "documents": dictionary.documents,
        "version": dictionary.version,
    }
    about["checksum"] = _checksum(dictionary.arrays, dictionary.documents, dictionary.version)
    table = table_of_words(dictionary.arrays).replace_schema_metadata({_KEY: json.dumps(about).encode()})
    try:
        with draft_of(Path(path)) as draft:
            pq.write_table(table, draft, compression="zstd")
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: cannot be written: {error.strerror or error}") from error


def open_dictionary(path: str | os.PathLike[str]) -> Dictionary:
    """Read a dictionary; InputError for what is none."""
    from tocsin.text.dictionary import Dictionary, words_of_table

    name = os.fspath(path)
    try:
        table = pq.read_table(path)
        table.validate(full=True)
    except (OSError, MemoryError, ValueError, pa.ArrowException) as error:  # a name may be no text
        raise InputError(f"{name}: cannot be read as a dictionary: {error}") from error
    about = _about(name, table)
    _check(name, table, about["documents"])
    arrays, documents, version = words_of_table(table), about["documents"], about["version"]
    if about["checksum"] != _checksum(arrays, documents, version):
        raise InputError(f"{name}: the dictionary is damaged: its checksum is wrong")
    return Dictionary(arrays, documents, version)


def _checksum(arrays: WordArrays, documents: int, version: int) -> str:
    digest = blake2b(f"{documents} {version}".encode(), digest_size=16)
    for part in (*text_arrays(arrays.word), arrays.documents, arrays.given):
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def _about(name: str, table: pa.Table) -> dict[str, Any]:
    """What the metadata says, checked."""
    metadata = table.schema.metadata or {}
    if _KEY not in metadata or tuple(table.column_names) != _COLUMNS:
        raise InputError(f"{name}: this Parquet file is not a tocsin dictionary")
    try:
        about: dict[str, Any] = json.loads(metadata[_KEY])
        form, documents, version = about["format"], about["documents"], about["version"]
        about["checksum"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{name}: the dictionary is damaged: its metadata cannot be read") from error
    if form != FORMAT:
        raise InputError(f"{name}: the dictionary has format {form}, and this release reads format {FORMAT}")
    if not all(type(number) is int and 0 <= number < 1 << 62 for number in (documents, version)):
        raise InputError(f"{name}: the dictionary is damaged: its metadata cannot be understood")
    return about


def _check(name: str, table: pa.Table, documents: int) -> None:
    """Refuse content that no dictionary can have."""
    from tocsin.text.dictionary import LARGEST_IDF, LEAST_IDF

    types = [pa.large_string(), pa.int64(), pa.float64()]
    if [field.type for field in table.schema] != types:
        raise InputError(f"{name}: the dictionary is damaged: its columns are of other types")
    word, counts, given = (table.column(column) for column in _COLUMNS)
    if word.null_count or counts.null_count:
        raise InputError(f"{name}: the dictionary is damaged: it has words or counts that are null")
    in_order = pc.less(word.slice(0, max(0, len(word) - 1)), word.slice(1)) if len(word) > 1 else None
    if in_order is not None and not pc.all(in_order).as_py():
        raise InputError(f"{name}: the dictionary is damaged: its words are not in order")
    count = counts.to_numpy()
    if np.any(count < 0) or np.any(count > documents):
        raise InputError(f"{name}: the dictionary is damaged: a word is in more documents than there are")
    idf = given.drop_null().to_numpy()
    if not np.all((idf == 0) | ((idf >= LEAST_IDF) & (idf <= LARGEST_IDF))):
        raise InputError(f"{name}: the dictionary is damaged: an idf given by hand is out of bounds")
