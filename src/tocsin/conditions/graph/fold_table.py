"""The folding of `ilike` as a table for kernels, made of the grammar's own function."""

from __future__ import annotations

import sys
from functools import cache

import numpy as np

from tocsin.conditions.kernels.case_folding import PAGE, FoldTable
from tocsin.conditions.language.patterns import fold


@cache
def fold_table() -> FoldTable:
    """The folding of every code point; made once in a process, in some hundredths of a second."""
    page = np.zeros((sys.maxunicode + 1) // PAGE, np.int32)
    pages = [np.zeros(PAGE, np.int32)]
    for number in range(len(page)):
        codes = np.arange(number * PAGE, (number + 1) * PAGE, dtype=np.uint32)
        text = codes.tobytes().decode("utf-32-le", "surrogatepass")
        if text.casefold() != text:
            folded = np.frombuffer(fold(text).encode("utf-32-le", "surrogatepass"), np.uint32)
            fold_by = folded.astype(np.int32) - codes.astype(np.int32)
            if fold_by.any():
                page[number] = len(pages)
                pages.append(fold_by)
    return FoldTable(page, np.concatenate(pages))
