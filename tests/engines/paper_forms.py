"""What engines hold, as the papers print it."""

from __future__ import annotations

import numpy as np

from tocsin.engines import Expressions
from tocsin.engines.bop import BopEngine
from tocsin.engines.dewey import DeweyEngine
from tocsin.engines.dnf import translated
from tocsin.engines.interval import IntervalEngine
from tocsin.engines.kernels.dewey_labels import WIDE
from tocsin.engines.kernels.interval_labels import NARROW
from tocsin.engines.kernels.unfolded_trees import is_and_code

CONJ, DISJ, LEAF = 1, 2, 4
"""The numbers that Figure 2 of the A-Tree paper has for operators and leaves."""


def labels_of(engine: DeweyEngine, rule: int) -> list[str]:
    """The labels of the places of a rule, such as 1*.3.1."""
    form, start, packed, number_start, number = engine._labels
    printed = []
    for i in range(int(start[rule]), int(start[rule]) + _places(engine, rule)):
        if form[rule] == WIDE:
            numbers = number[number_start[i] : number_start[i + 1]].tolist()
        else:
            width = 1 << int(form[rule])
            shifts = range(64 - width, -1, -width)
            numbers = [int(packed[i]) >> shift & (1 << width) - 1 for shift in shifts]
        printed.append(".".join(f"{each >> 1}{'*' * (each & 1)}" for each in numbers if each))
    return printed


def intervals_of(engine: IntervalEngine, rule: int) -> list[tuple[int, int]]:
    """Begin and end of the places of a rule, in order of begin."""
    count, intervals = _places(engine, rule), engine._intervals
    labels, half = (intervals.narrow, 16) if count <= NARROW else (intervals.wide, 32)
    start = int(intervals.start[rule])
    return [(label >> half, label & (1 << half) - 1) for label in labels[start : start + count].tolist()]


def _places(engine: DeweyEngine | IntervalEngine, rule: int) -> int:
    return int(np.diff(engine._places.rule_start)[rule])


def conjunctions_of(expressions: Expressions, rule: int) -> list[list[int]]:
    """The conjunctions of one rule, the short ones first."""
    alone = expressions._replace(root=expressions.root[rule : rule + 1])
    conjunctions, translations, _ = translated(alone)
    return [
        conjunctions.item[conjunctions.start[each] : conjunctions.start[each + 1]].tolist()
        for each in translations.item.tolist()
    ]


def encoding(engine: BopEngine, rule: int) -> list[int]:
    """The numbers of a rule: operator and count of children, or leaf and literal."""
    first, last = engine.bop.code_start[rule : rule + 2].tolist()
    code = engine.bop.code[first:last].tolist()
    written: list[int] = []
    for at, here in enumerate(code):
        if here >= 0:
            written += (LEAF, here)
        else:
            written += (CONJ if is_and_code(here) else DISJ, _children(code, at))
    return written


def _children(code: list[int], parent: int) -> int:
    """How many children an operator has."""
    count, at = 0, parent + 1
    end = at + (-code[parent] >> 1)
    while at < end:
        count += 1
        at += 1 if code[at] >= 0 else 1 + (-code[at] >> 1)
    return count


def least(engine: BopEngine, rule: int) -> int:
    """How many leaves of a rule must hold before it is evaluated."""
    return int(engine.bop.needed[rule])
