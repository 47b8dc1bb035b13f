"""What types and functors are called in kernels."""

from __future__ import annotations

from tocsin.datalog.kernels import arithmetic
from tocsin.datalog.language.functors import KERNEL_NAMES
from tocsin.datalog.language.syntax import Type

KINDS = {
    Type.NUMBER: arithmetic.NUMBER,
    Type.SYMBOL: arithmetic.NUMBER,
    Type.UNSIGNED: arithmetic.UNSIGNED,
    Type.FLOAT: arithmetic.FLOAT,
}
"""Symbols are compared as the numbers they are known by: only whether they are equal."""

FUNCTORS: dict[str, int] = {name: getattr(arithmetic, kernel) for name, kernel in KERNEL_NAMES.items()}
"""The numbers of operations."""
