"""Fields that rules name and a table does not have: they count as missing, and are warned about once."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import pyarrow as pa

from tocsin.conditions.language.tree import Path
from tocsin.errors import TocsinWarning
from tocsin.events import path_text
from tocsin.printable import first_few
from tocsin.tables import has_member


def warn_of_missing_fields(fields: Iterable[Path], schema: pa.Schema, stacklevel: int) -> None:
    """One warning that names them, or the first few, at the place of who called that many frames up."""
    types = dict(zip(schema.names, schema.types, strict=True))
    unknown = sorted(
        path_text(path) for path in fields if path[0] not in types or not has_member(types[path[0]], path[1:])
    )
    if unknown:
        warnings.warn(
            f"rules name fields that the events do not have, and that count as missing: {first_few(unknown)}",
            TocsinWarning,
            stacklevel=stacklevel,
        )
