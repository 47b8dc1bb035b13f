"""What types and functors are called in kernels."""

from __future__ import annotations

from tocsin.datalog.kernels import arithmetic
from tocsin.datalog.language.syntax import Type

KINDS = {
    Type.NUMBER: arithmetic.NUMBER,
    Type.SYMBOL: arithmetic.NUMBER,
    Type.UNSIGNED: arithmetic.UNSIGNED,
    Type.FLOAT: arithmetic.FLOAT,
}
"""Symbols are compared as the numbers they are known by: only whether they are equal."""

FUNCTORS = {
    "+": arithmetic.ADD,
    "-": arithmetic.SUBTRACT,
    "*": arithmetic.MULTIPLY,
    "/": arithmetic.DIVIDE,
    "%": arithmetic.REMAINDER,
    "^": arithmetic.POWER,
    "min": arithmetic.LEAST,
    "max": arithmetic.GREATEST,
    "band": arithmetic.BIT_AND,
    "bor": arithmetic.BIT_OR,
    "bxor": arithmetic.BIT_XOR,
    "bshl": arithmetic.SHIFT_LEFT,
    "bshr": arithmetic.SHIFT_RIGHT,
    "bshru": arithmetic.SHIFT_RIGHT_ZEROS,
    "land": arithmetic.BOTH,
    "lor": arithmetic.EITHER,
    "lxor": arithmetic.ONE_OF,
    "=": arithmetic.EQUAL,
    "!=": arithmetic.DIFFERENT,
    "<": arithmetic.LESS,
    "<=": arithmetic.AT_MOST,
    ">": arithmetic.GREATER,
    ">=": arithmetic.AT_LEAST,
    "neg": arithmetic.NEGATE,
    "bnot": arithmetic.BIT_NOT,
    "lnot": arithmetic.NOT,
}
