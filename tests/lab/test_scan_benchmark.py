"""The scan that indexes are compared with says what conditions mean, on the workloads it is for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pytest
from benchmarks.scan import Scan
from hypothesis import given
from hypothesis import strategies as st

from tocsin import Rules
from tocsin.conditions.graph import compile_rules
from tocsin.conditions.language import Path, parse_condition
from tocsin.conditions.meaning import matches
from tocsin.errors import UsageError
from tocsin_lab import abe_gen

PREDICATES = (
    "n = 2", "n != 2", "n < 2", "n <= 2", "n > 2", "n >= 2", "n in (1, 3)", "n not in (1, 3)",
    "n between 1 and 2", "m = 1", "m > 0", "s = 'a'", "s in ('a', 'b')", "s != 'b'", "f", "not f",
    "l = 1", "l in (1, 2)", "l not in (1, 2)", "l < 2", "not (l >= 2)",
)  # fmt: skip
VALUES: dict[str, st.SearchStrategy[object]] = {
    "n": st.integers(0, 4),
    "m": st.integers(-1, 2),
    "s": st.sampled_from(["a", "b", "c"]),
    "f": st.booleans(),
    "l": st.lists(st.integers(0, 3), max_size=3),
}
CONDITIONS = st.recursive(
    st.sampled_from(PREDICATES),
    lambda part: st.one_of(
        st.builds("not ({})".format, part),
        st.builds(
            lambda joint, parts: f" {joint} ".join(f"({each})" for each in parts),
            st.sampled_from(["and", "or"]),
            st.lists(part, min_size=2, max_size=4),
        ),
        st.builds("({}) {} ({})".format, part, st.sampled_from(["xor", "xnor"]), part),
    ),
    max_leaves=8,
)
EVENTS = st.fixed_dictionaries({}, optional=VALUES)


def scan_of(texts: Sequence[str], listed: Collection[Path], sample: Sequence[Mapping[str, object]]) -> Scan:
    return Scan(
        compile_rules(Rules.of((str(number), text) for number, text in enumerate(texts))), listed, sample
    )


@given(st.lists(CONDITIONS, min_size=1, max_size=8), st.lists(EVENTS, min_size=1, max_size=5))
def test_a_rule_is_found_when_its_condition_is_true(texts: list[str], events: list[dict[str, object]]):
    scan = scan_of(texts, {("l",)}, events)
    conditions = [parse_condition(text) for text in texts]
    for event in events:
        expected = [place for place, each in enumerate(conditions) if matches(each, event)]
        assert scan.match(scan.prepare(event)).tolist() == expected


@pytest.mark.parametrize("setting", [abe_gen.Setting(expressions=300), abe_gen.AdsSetting(expressions=300)])
def test_it_takes_the_workloads(setting: abe_gen.Workload):
    rules, events = abe_gen.rules(setting), abe_gen.rows_of(abe_gen.events(setting, 10))
    scan = scan_of(rules["when"].to_pylist(), abe_gen.listed_fields(setting), events)
    conditions = [parse_condition(text) for text in rules["when"].to_pylist()]
    for event in events:
        expected = [place for place, each in enumerate(conditions) if matches(each, event)]
        assert scan.match(scan.prepare(event)).tolist() == expected


@pytest.mark.parametrize("text", ["a.b = 1", "s like 'x%'", "s < 'x'", "n = 1.5", "true"])
def test_what_it_cannot_take_is_refused(text: str):
    with pytest.raises(UsageError):
        scan_of([text], (), [])
