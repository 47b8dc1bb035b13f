"""Contracts as rules in tocsin's language: a table for tocsin.build."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from tocsin.conditions.language import Literal, Predicate, Test, print_predicate
from tocsin.events import Kind
from tocsin_lab.abe_gen.texts import chosen, decimals, joined, side_by_side
from tocsin_lab.abe_gen.workloads import RULE_SCHEMA
from tocsin_lab.contracts.attributes import Attribute
from tocsin_lab.contracts.contracts import Contracts, is_and, parts_of, taken

CONTRACTS_AT_ONCE = 1 << 16


def rules_of(contracts: Contracts, attributes: tuple[Attribute, ...]) -> pa.Table:
    """The contracts' ids (c1, c2, ...) and conditions."""
    return pa.Table.from_batches(rule_batches(contracts, attributes), RULE_SCHEMA)


def rule_batches(contracts: Contracts, attributes: tuple[Attribute, ...]) -> Iterator[pa.RecordBatch]:
    """The rules in portions."""
    predicates = pa.array(_predicate_texts(attributes), pa.large_string())
    count = contracts[0].size
    for begin in range(0, count, CONTRACTS_AT_ONCE):
        rows = np.arange(begin, min(begin + CONTRACTS_AT_ONCE, count))
        texts = _texts(taken(contracts, rows), predicates)
        yield pa.record_batch([side_by_side("c", decimals(rows + 1)), texts], schema=RULE_SCHEMA)


def _texts(contracts: Contracts, predicates: pa.LargeStringArray) -> pa.LargeStringArray:
    """From the lowest level up; what has one part only needs no parentheses."""
    texts = predicates.slice(0, 0)
    for depth in reversed(range(len(contracts))):
        level = contracts[depth]
        start, part = parts_of(level, level.predicate, len(predicates))
        parts = pa.concat_arrays([predicates, texts]).take(pa.array(part))
        together = joined(parts, start, chosen((" or ", " and "), is_and(level, depth)))
        is_many = np.diff(start) > 1 if depth else np.zeros(level.size, np.bool_)
        texts = side_by_side(chosen(("", "("), is_many), together, chosen(("", ")"), is_many))
    return texts


def _predicate_texts(attributes: tuple[Attribute, ...]) -> list[str]:
    """By the numbers that contracts give them: each target, and behind it that it is not met."""
    texts = []
    for attribute in attributes:
        for target in attribute.targets:
            values = tuple(Literal(Kind.STRING, value) for value in target)
            predicate = Predicate((attribute.name,), Test.IN, values)
            texts += [print_predicate(predicate), print_predicate(predicate, negated=True)]
    return texts
