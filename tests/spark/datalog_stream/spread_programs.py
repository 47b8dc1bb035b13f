"""Random programs whose rules can be spread over keys: parts of one large program."""

from __future__ import annotations

from hypothesis import strategies as st

from tocsin.datalog.engine.requests import Operation
from tocsin.datalog.language.conjunctions import Tuple

INPUTS = {"login": 2, "owns": 2, "friend": 2, "edge": 3, "ban": 1}
DERIVED = {
    "seen": 2,
    "twice": 2,
    "pair": 2,
    "alone": 1,
    "busy": 2,
    "total": 1,
    "known": 2,
    "inside": 3,
    "hot": 1,
    "alert": 2,
    "cross": 2,
    "mix": 1,
    "any": 0,
    "quiet": 0,
}
RULES = (
    "seen(u, d) :- login(u, d).",
    "seen(u, d) :- owns(d, u).",
    "twice(x, z) :- friend(x, y), friend(y, z).",
    "twice(y, y) :- friend(x, y), friend(y, x), !ban(y).",
    "pair(u, v) :- login(u, d), login(v, d), u != v.",
    "alone(u) :- login(u, d), !ban(u).",
    "alone(u) :- login(u, d), 1 = count : { login(_, d) }.",
    "busy(u, n) :- login(u, _), n = count : { login(u, _) }.",
    "total(n) :- n = count : { login(_, _) }.",
    "total(n) :- busy(u, n), !owns(_, u).",
    "known(x, y) :- friend(x, y).",
    "known(x, z) :- known(x, y), friend(y, z).",
    "inside(u, x, y) :- edge(u, x, y).",
    "inside(u, x, z) :- inside(u, x, y), edge(u, y, z), !ban(u).",
    "hot(u) :- busy(u, n), n > 1.",
    "hot(u) :- inside(u, x, x).",
    "hot(u) :- known(u, u); alone(u), ban(u + 1).",
    "hot(x) :- x = 2.",
    "alert(u, v) :- hot(u), pair(u, v), !ban(v).",
    "alert(u, u), seen(u, u) :- alone(u), hot(u).",
    "cross(u, d) :- hot(u), owns(d, _).",
    "cross(u, x) :- hot(u), x = sum n : { busy(u, n) }.",
    "mix(d) :- seen(_, d); owns(d, _).",
    "mix(d) :- cross(_, d), !seen(d, d).",
    "any() :- alert(_, _).",
    "quiet() :- !any().",
    "login(1, 1). login(1, 2).",
    "ban(2).",
    "edge(1, 1, 1). friend(1, 2). friend(2, 1).",
    "hot(3). alert(0, 0). inside(2, 2, 2).",
)


@st.composite
def spread_programs(draw: st.DrawFn) -> str:
    """The text of a program."""
    rules = draw(st.lists(st.sampled_from(RULES), min_size=1, max_size=14, unique=True))
    reported = draw(st.lists(st.sampled_from([*INPUTS, *DERIVED]), max_size=3, unique=True))
    return program_of(rules, reported)


def program_of(rules: list[str], reported: list[str]) -> str:
    """Rules with declarations."""
    lines = []
    for name, arity in {**INPUTS, **DERIVED}.items():
        columns = ", ".join(f"c{place}: number" for place in range(arity))
        lines.append(f".decl {name}({columns})")
    lines += [f".output {name}" for name in reported]
    return "\n".join([*lines, *rules]) + "\n"


@st.composite
def spread_operations(draw: st.DrawFn) -> Operation:
    """A change, seldom of a derived relation."""
    name = draw(st.sampled_from([*INPUTS, *INPUTS, *INPUTS, "hot", "alert", "inside", "twice"]))
    return draw(st.sampled_from("++-")), name, draw(spread_tuples(name))


@st.composite
def spread_tuples(draw: st.DrawFn, name: str) -> Tuple:
    arity = {**INPUTS, **DERIVED}[name]
    return tuple(draw(st.lists(st.integers(0, 3), min_size=arity, max_size=arity)))
