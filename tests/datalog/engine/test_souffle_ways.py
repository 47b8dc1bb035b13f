"""What Soufflé's own programs rely on, done as Soufflé does it; batch, live and in the obvious evaluator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import pytest

from tocsin import Program
from tocsin.cli import main
from tocsin.datalog.engine.derivations import Derivation
from tocsin.datalog.meaning import evaluate
from tocsin.errors import DerivationError, InputError, RuleError, RuleErrors, TocsinWarning


def found(text: str, relation: str) -> Sequence[tuple[object, ...]]:
    """A relation of a program: the engine and the obvious evaluator must agree."""
    program = Program.parse(text)
    engine = program.start()
    assert sorted(evaluate(program.checked, {})[relation]) == engine.query(relation)
    return engine.query(relation)


def test_an_expression_that_is_none_matches_nothing() -> None:
    text = """
    .decl p(s: symbol) .decl q(s: symbol) .decl r(s: symbol)
    p("a.*"). p("b.*[").
    q(s) :- p(s), match(s, "abc").
    r(s) :- p(s), !match(s, "abc").
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TocsinWarning)
        assert found(text, "q") == [("a.*",)]
        assert found(text, "r") == [("b.*[",)]


def test_an_expression_that_only_souffle_takes_is_an_error() -> None:
    with pytest.raises(DerivationError, match="back-references"):
        found(r'.decl p(s: symbol) p("aa"). .decl q(s: symbol) q(s) :- p(s), match("(a)\\1", s).', "q")


def test_an_address_is_a_number_of_32_bits() -> None:
    assert found(".decl n(x: number) n(10.0.0.1). n(255.255.255.255). n(0.0.1.0 + 1).", "n") == [
        (-1,),
        (257,),
        (10 << 24 | 1,),
    ]
    with pytest.raises(RuleError, match=r"'1\.2\.3\.256' is not an IPv4 address"):
        Program.parse(".decl n(x: number) n(1.2.3.256).")


@pytest.mark.parametrize("word", ["__FILE__", "__LINE__", "__INCL__", "__ITERATION__()"])
def test_what_depends_on_places_is_refused_by_name(word: str) -> None:
    with pytest.raises(RuleError, match=f"{word[:6]}.*is not supported"):
        Program.parse(f".decl n(x: number) n(x) :- x = {word}.")


def test_values_behind_the_columns_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.facts").write_text("1\tx\tmore\tand more\n2\ty\n")
    program = Program.parse(".decl a(n: number, s: symbol)")
    assert program.start(facts={"a": tmp_path / "a.facts"}).query("a") == [(1, "x"), (2, "y")]
    (tmp_path / "a.facts").write_text("1\n")
    with pytest.raises(InputError, match="1 value, where a has 2 columns"):
        program.start(facts={"a": tmp_path / "a.facts"})


def test_rfc4180_in_and_out(tmp_path: Path) -> None:
    (tmp_path / "a.facts").write_text('x,1\n"a ""b"", c",2\n"two\nlines",3,more\n')
    (tmp_path / "p.dl").write_text(
        ".decl a(s: symbol, n: number) .input a(rfc4180=true)\n"
        '.output a(rfc4180=true, headers=true)\n.output a(rfc4180=true, delimiter=";", filename="b.csv")\n'
    )
    folder = str(tmp_path)
    assert main(["datalog", str(tmp_path / "p.dl"), "-F", folder, "-D", folder]) == 0
    assert (tmp_path / "a.csv").read_text() == 's,n\n"a ""b"", c",2\n"two\nlines",3\n"x",1\n'
    assert (tmp_path / "b.csv").read_text() == '"a ""b"", c";2\n"two\nlines";3\n"x";1\n'


def test_wrong_parameters_of_rfc4180() -> None:
    with pytest.raises(RuleError, match="rfc4180 is true or false"):
        Program.parse(".decl a(x: number) .input a(rfc4180=yes)")
    with pytest.raises(RuleError, match="one character"):
        Program.parse('.decl a(x: number) .input a(rfc4180=true, delimiter="::")')


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / "p.dl"


def test_included_files_are_one_program(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {
            "p.dl": '// .include "no"\n.include "sub/a.dl" .include "sub/a.dl"\nb(x + 1) :- a(x).\n',
            "sub/a.dl": '.once\n.include "../decl.dl"\na(1). // no end of the line',
            "decl.dl": ".decl a(x: number) .decl b(x: number)",
        },
    )
    program = Program.read(path)
    assert program.start().query("b") == [(2,)]
    assert program.files == tuple(str(tmp_path / name) for name in ("p.dl", "sub/a.dl", "decl.dl"))
    engine = program.start()
    path.unlink()  # the program has it all
    engine.add_rule("b(x + 2) :- a(x).")
    assert engine.query("b") == [(2,), (3,)]
    engine.save(tmp_path / "e.tocsin")
    assert main(["datalog", str(tmp_path / "p.dl")]) == 1


def test_errors_name_the_included_file(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"p.dl": '.decl a(x: number)\n.include "b.dl"\nc(1).\n', "b.dl": "\n.decl a(x: number)\n  b(1).\n"},
    )
    with pytest.raises(RuleError) as caught:
        Program.read(path)
    assert str(caught.value).split("\n")[1::3] == [
        f"{tmp_path}/b.dl:2:7: the relation 'a' is declared in line 1 already",
        f"{tmp_path}/b.dl:3:3: there is no relation 'b'",
        f"{tmp_path}/p.dl:3:1: there is no relation 'c'",
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('.include "none.dl"', "p.dl:1:1: .*none.dl: cannot be read: No such file"),
        ('\n .include "/etc/passwd"', "p.dl:2:2: .include names /etc/passwd, which leads out of"),
        ('.include "../secret.dl"', "p.dl:1:1: .include names .*secret.dl, which leads out of"),
        ('.include "link.dl"', "p.dl:1:1: .include names link.dl, a link that leads out of"),
        ('.include "p.dl"', "p.dl includes itself"),
        ('.include "loop.dl"', "loop.dl:1:1: .*p.dl includes itself"),
        (".include none", "expected a file's name"),
        ('.include "open.dl" */', "open.dl:1:1: this comment never ends"),
        ('.include "bomb0.dl"', "more than 1,000 files are included"),
        ('#include "loop.dl"', "a preprocessor is not supported"),
    ],
)
def test_what_cannot_be_included(text: str, reason: str, tmp_path: Path) -> None:
    files = {f"in/bomb{n}.dl": f'.include "bomb{n + 1}.dl"\n' * 2 for n in range(20)}
    files |= {"secret.dl": "SECRET", "in/loop.dl": '.include "p.dl"', "in/open.dl": "/* "}
    written(tmp_path, files | {"in/bomb20.dl": "", "in/p.dl": text})
    (tmp_path / "in/link.dl").symlink_to(tmp_path / "secret.dl")
    with pytest.raises(RuleError, match=reason) as caught:
        Program.read(tmp_path / "in/p.dl")
    assert "SECRET" not in str(caught.value)
    assert "root:" not in str(caught.value)


def test_a_text_includes_nothing() -> None:
    with pytest.raises(RuleError, match="read from a file"):
        Program.parse('.include "a.dl"', file="somewhere/p.dl")


RANGES = [
    ("p(x, 0) :- x = range(1, 4).", [(1, 0), (2, 0), (3, 0)]),
    ("p(x, 0) :- x = range(3, 0).", [(1, 0), (2, 0), (3, 0)]),
    ("p(x, 0) :- x = range(9, 0, -4).", [(1, 0), (5, 0), (9, 0)]),
    ("p(x, 0) :- x = range(1, 4, -1).", []),
    ("p(x, 0) :- x = range(1, 4, 0).", [(1, 0)]),
    ("p(x, 0) :- x = range(2, 2).", []),
    ("p(x, y) :- x = range(1, 3), y = range(1, 3).", [(1, 1), (1, 2), (2, 1), (2, 2)]),
    ("p(x, y) :- x = range(0, 4), y = range(0, 4), x < y, x + y = 3.", [(0, 3), (1, 2)]),
    ("p(a, x) :- e(a, b), x = range(a, b).", [(1, 1), (1, 2), (5, 5)]),
    ("p(a, b) :- e(a, b), b = range(0, 4).", [(1, 3)]),
    ("p(a, b) :- e(a, b), !e(range(0, 2), _), a > 1.", [(5, 6)]),
    ("p(range(0, 2), 10 * range(0, 2)).", [(0, 0), (0, 10), (1, 0), (1, 10)]),
    ("p(x, n) :- x = range(0, 2), n = count : { e(a, _), a > x }.", [(0, 2), (1, 1)]),
    ("p(0, n) :- n = sum x : { x = range(0, 5) }.", [(0, 10)]),
    ("p(n, x) :- n = count : { e(_, _) }, x = range(0, n).", [(2, 0), (2, 1)]),
    ("p(x, 6 / x) :- x = range(0, 4), x != 0.", [(1, 6), (2, 3), (3, 2)]),
    ("p(x, y) :- y = range(z, z + 2), z = v * 4, v = x, x = range(0, 2).", [(0, 0), (0, 1), (1, 4), (1, 5)]),
    ("p(x, n) :- e(_, b), x = range(0, b), n = strlen(to_string(x)), x > 4.", [(5, 1)]),
    ("p(x + 1, 0) :- p(x, 0), x < 2. p(range(0, 1), 0).", [(0, 0), (1, 0), (2, 0)]),
]


@pytest.mark.parametrize(("rules", "expected"), RANGES)
def test_ranges(rules: str, expected: list[tuple[int, int]]) -> None:
    text = f".decl e(a: number, b: number) e(1, 3). e(5, 6). .decl p(x: number, y: number) {rules}"
    assert found(text, "p") == expected
    engine = Program.parse(text).start()
    for values in ((1, 3), (5, 6)):  # and live: everything goes and comes again
        engine.delete("e", values)
    empty = Program.parse(text.replace("e(1, 3). e(5, 6).", ""))
    assert engine.query("p") == sorted(evaluate(empty.checked, {})["p"])
    for values in ((5, 6), (1, 3)):
        engine.insert("e", values)
    assert engine.query("p") == expected
    for values in expected:
        if rules.count(":-"):
            assert engine.why("p", values)


def test_ranges_are_bounded_and_count_other_numbers() -> None:
    with pytest.raises(DerivationError, match="more than 10,000,000"):
        Program.parse(".decl p(x: number) p(x) :- x = range(0, 1000000000000).").start()
    assert found(".decl p(x: float) p(x) :- x = range(0.0, 1.0, 0.5).", "p") == [(0.0,), (0.5,)]
    assert found(".decl p(x: unsigned) p(x) :- x = range(3u, 1u).", "p") == [(2,), (3,)]
    with pytest.raises(RuleError, match="takes 2 or 3 arguments"):
        Program.parse(".decl p(x: number) p(x) :- x = range(0, 1, 2, 3).")
    with pytest.raises(RuleError, match="at least 2"):
        Program.parse(".decl p(x: number) p(x) :- x = range(0).")


INLINE = [
    ("p(x, y) :- e(x, y), below(x, y).", [(1, 3)]),
    ("p(x, y) :- e(x, y), !below(x, y).", [(6, 5)]),
    ("p(x, y) :- e(x, _), next(x, y).", [(1, 2), (6, 7)]),
    ("p(x, n) :- e(x, _), n = count : { e(a, b), below(a, b) }.", [(1, 1), (6, 1)]),
    ("p(x, y) :- e(x, y), far(x, y).", [(1, 3)]),
    ("p(x, y) :- e(x, y), both(x, y).", [(1, 3), (6, 5)]),
    ("p(x, y) :- e(x, y), below(_, y), x = 1.", None),
]


@pytest.mark.parametrize(("rules", "expected"), INLINE)
def test_endless_inline_relations(rules: str, expected: list[tuple[int, int]] | None) -> None:
    text = f"""
    .decl e(a: number, b: number) e(1, 3). e(6, 5). .decl p(x: number, y: number)
    .decl below, far, next, both(x: number, y: number) inline
    below(x, y) :- x < y. far(x, y) :- below(x, z), z = y - 1. next(x, x + 1).
    both(x, y) :- below(x, y). both(x, y) :- below(y, x). {rules}
    """
    if expected is None:
        with pytest.raises(RuleError, match="'any' has no value"):
            Program.parse(text)
    else:
        assert found(text, "p") == expected


def test_what_cannot_be_inlined_is_refused_by_name() -> None:
    text = """
    .decl e(a: number) .decl p(x: number)
    .decl far(x: number, y: number) inline far(x, y) :- z = y - 1, x < z.
    p(x) :- e(x), !far(x, 3). p(n) :- n = count : { e(x), far(x, 3) }.
    """
    with pytest.raises(RuleError, match="'far' is inline and cannot be negated"):
        Program.parse(text)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("n = count : { i = range(0, 10), i % 2 = 0 }", [5]),
        ("e(x), n = count : { i = range(0, x) }", [2, 3, 4]),
        ("e(x), n = count : { e(y), i = range(0, y), i < x }", [6, 8, 9]),
        ("n = sum y : { e(y), range(0, y) = range(1, y) }", [20]),
        ("n = sum range(0, 4) : { e(_) }", [18]),
        ("n = count : { e(x), x = range(0, 4), i = range(x, 10), j = range(i, 10) }", [64]),
        ("n = max i : { i = range(0, 10), i < 5 }", [4]),
    ],
)
def test_each_number_of_a_range_counts_in_an_aggregate(body: str, expected: list[int]) -> None:
    text = f".decl e(x: number) e(3). e(4). e(2). .decl d(n: number) d(n) :- {body}."
    assert found(text, "d") == [(each,) for each in expected]


def test_what_is_not_here_is_named_without_errors_that_follow_from_it() -> None:
    text = """
    .functor f(x: symbol): symbol stateful
    .type Pair = [
        first: symbol,
        second: symbol
    ]
    .type Tree = Leaf {
        value: number
    } | Node { left: Tree,
        right: Tree }
    .decl p(x: Pair, t: Tree)
    p(["a", "b"], $Leaf(1)).
    p(x, t) <= p(y, t) :- x < y.
    .decl q(x: number) choice-domain x
    q(ord(x)) :- p([x, _], _).
    """
    with pytest.raises(RuleErrors) as caught:
        Program.parse(text)
    assert [error.line for error in caught.value.errors] == [2, 3, 7, 12, 13, 14, 15]


@pytest.mark.parametrize("body", ["true", "true, true", "(true ; false)", "!false", "1 = 1"])
def test_what_has_a_body_is_a_rule(body: str) -> None:
    """It is a literal to Soufflé, whose facts are clauses without any."""
    declared = ".decl d(x: number) .decl e(s: symbol)"
    rule = f'd(1), e("a") :- {body}.'
    assert found(f"{declared} {rule} d(2).", "d") == [(1,), (2,)]
    engine = Program.parse(f"{declared} d(1). {rule} d(2).").start()
    assert (engine.program.rules, set(engine.program.outputs)) == ([rule], {"d", "e"})
    engine.apply([("-", "d", (1,)), ("-", "d", (2,))])
    assert engine.query("d") == [(1,)]
    why = engine.why("d", (1,))
    assert isinstance(why, Derivation)
    assert why.rule == rule
    assert engine.remove_rule(rule).removed == {"d": {(1,)}, "e": {("a",)}}
    assert engine.add_rule(rule).added == {"d": {(1,)}, "e": {("a",)}}
    assert Program.parse(f"{declared} d(1).").rules == []


def test_what_has_the_body_false_gives_nothing() -> None:
    assert found(".decl d(x: number) d(1) :- false.", "d") == []
    assert found(".decl d(x: number) d(1) :- !true.", "d") == []
