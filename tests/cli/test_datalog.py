"""tocsin datalog: programs with outputs worked out by hand, as Soufflé writes them."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from tests.cli.running import Command
from tests.datalog_programs import Case, cases

from tocsin.cli import main
from tocsin.datalog.language.conjunctions import Tuple
from tocsin.datalog.meaning import evaluate
from tocsin.errors import DerivationError

PATHS = """\
.decl arc(x: number, y: number)
.decl path(x: number, y: number)
.input arc
path(x, y) :- arc(x, y).
path(x, y) :- arc(x, z), path(z, y).
.output path
"""


def test_from_files_to_files(tocsin: Command) -> None:
    tocsin.file("paths.dl", PATHS)
    tocsin.file("data/arc.facts", "1\t2\n10\t9\n2\t10\n")
    ran = tocsin("datalog", "paths.dl", "--facts", "data", "--out", "results/new")
    assert ran == (0, "", "")
    found = (tocsin.folder / "results/new/path.csv").read_text()
    assert found == "1\t2\n1\t9\n1\t10\n2\t9\n2\t10\n10\t9\n"


def test_this_folder_and_short_names(tocsin: Command) -> None:
    tocsin.file("paths.dl", PATHS)
    tocsin.file("arc.facts", "1\t2\n")
    assert tocsin("datalog", "paths.dl") == (0, "", "")
    assert (tocsin.folder / "path.csv").read_text() == "1\t2\n"
    ran = tocsin("datalog", "paths.dl", "-F", ".", "-D", "-")
    assert ran == (0, "---------------\npath\n===============\n1\t2\n===============\n", "")


def test_everything_that_directives_say(tocsin: Command) -> None:
    tocsin.file(
        "all.dl",
        """
        .type Name <: symbol
        .decl person(name: Name, age: unsigned)
        .input person(IO=file, filename="people.csv", delimiter=",", headers=true)
        .decl adults() .decl mean_age(m: float) .decl older(a: Name, b: Name)
        adults() :- person(_, a), a >= 18.
        mean_age(m) :- m = mean to_float(a) : { person(_, a) }.
        older(n, o) :- person(n, a), person(o, b), a > b.
        .output older(IO=stdout, headers=true)
        .output mean_age(filename="mean.txt")
        .output adults
        .printsize older
        .printsize person
        """,
    )
    tocsin.file("people.csv", "name,age\nada,36\nbob,7\neve,20\nno one,0\n")
    ran = tocsin("datalog", "all.dl")
    assert ran.err == ""
    pairs = "ada\tbob\nada\teve\nada\tno one\nbob\tno one\neve\tbob\neve\tno one\n"
    assert ran.out == (
        f"---------------\nolder\na\tb\n===============\n{pairs}===============\nolder\t6\nperson\t4\n"
    )
    assert (tocsin.folder / "mean.txt").read_text() == "15.75\n"
    assert (tocsin.folder / "adults.csv").read_text() == "()\n"


def test_negation_aggregates_and_components(tocsin: Command) -> None:
    tocsin.file(
        "graph.dl",
        """
        .comp Graph<T> {
            .decl edge(a: T, b: T)
            .decl reach(a: T, b: T)
            reach(a, b) :- edge(a, b).
            reach(a, c) :- reach(a, b), edge(b, c).
        }
        .init g = Graph<symbol>
        g.edge("a", "b"). g.edge("b", "c"). g.edge("d", "d").
        .decl node(n: symbol)
        node(n) :- g.edge(n, _) ; g.edge(_, n).
        .decl apart(a: symbol, b: symbol)
        apart(a, b) :- node(a), node(b), !g.reach(a, b), !g.reach(b, a), a < b.
        .decl degree(n: symbol, d: number, f: symbol)
        degree(n, d, cat(n, to_string(d))) :- node(n), d = count : { g.edge(n, _) }.
        .output apart, degree
        """,
    )
    assert tocsin("datalog", "graph.dl") == (0, "", "")
    assert (tocsin.folder / "apart.csv").read_text() == "a\td\nb\td\nc\td\n"
    assert (tocsin.folder / "degree.csv").read_text() == "a\t1\ta1\nb\t1\tb1\nc\t0\tc0\nd\t1\td1\n"


def test_a_bad_line_stops_it(tocsin: Command) -> None:
    tocsin.file("paths.dl", PATHS)
    tocsin.file("arc.facts", "1\t2\n2\tx\n3\n")
    ran = tocsin("datalog", "paths.dl", "--out", "results")
    assert ran == (1, "", "tocsin: arc.facts:2: y takes integers, not 'x'\n")
    assert not (tocsin.folder / "results").exists()


def test_bad_lines_are_left_out(tocsin: Command) -> None:
    tocsin.file("paths.dl", PATHS)
    tocsin.file("arc.facts", "1\t2\n2\tx\n3\n")
    ran = tocsin("datalog", "paths.dl", "--skip-bad", "--out", "results")
    assert ran == (0, "", "2 lines left out: see results/paths.rejects.jsonl\n")
    assert (tocsin.folder / "results/path.csv").read_text() == "1\t2\n"
    rejects = (tocsin.folder / "results/paths.rejects.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in rejects] == [
        {"file": "arc.facts", "line": 2, "reason": "y takes integers, not 'x'", "text": "2\tx"},
        {"file": "arc.facts", "line": 3, "reason": "1 value, where arc has 2 columns", "text": "3"},
    ]
    assert tocsin("datalog", "paths.dl", "--skip-bad", "--rejects", "r.jsonl").code == 0
    assert (tocsin.folder / "r.jsonl").exists()
    assert tocsin("datalog", "paths.dl", "--rejects", "r.jsonl").code == 2


def test_errors_of_the_program(tocsin: Command) -> None:
    tocsin.file("bad.dl", ".decl a(x: number)\na(x) :- b(x).\na(y) :- a(x).\n.output a(headers=perhaps)\n")
    ran = tocsin("datalog", "bad.dl")
    assert ran.code == 1
    assert ran.out == ""
    assert "bad.dl:2:9: " in ran.err
    assert "bad.dl:3:3: " in ran.err
    assert "bad.dl:4:9: headers is true or false, not 'perhaps'" in ran.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["none.dl"], 1, "tocsin: none.dl: cannot be read: No such file or directory\n"),
        (["paths.dl", "--facts", "nowhere"], 1, "tocsin: nowhere: there is no such folder\n"),
        (["paths.dl"], 1, "tocsin: arc.facts: cannot be read: No such file or directory\n"),
        (["paths.dl", "--limit", "-1"], 2, "tocsin: limit is a number of tuples, not -1\n"),
    ],
)
def test_what_is_missing(arguments: list[str], code: int, said: str, tocsin: Command) -> None:
    tocsin.file("paths.dl", PATHS)
    assert tocsin("datalog", *arguments) == (code, "", said)


def test_errors_of_rules(tocsin: Command) -> None:
    tocsin.file("ratio.dl", ".decl r(x: number)\nr(4 / x) :- r(x).\nr(0).\n.output r\n")
    ran = tocsin("datalog", "ratio.dl")
    assert ran == (1, "", "tocsin: division by zero, in the rule: r(4 / x) :- r(x).\n")
    tocsin.file("endless.dl", ".decl n(x: number)\nn(x + 1) :- n(x).\nn(0).\n.output n\n")
    ran = tocsin("datalog", "endless.dl", "--limit", "100")
    assert (ran.code, ran.out) == (1, "")
    assert "more than 100 tuples" in ran.err


def test_located_arguments(tocsin: Command) -> None:
    declared = ".decl l(a: symbol, b: symbol)\n.decl h(b: symbol)\n.output h\n"
    tocsin.file("hops.dl", declared + 'h(y) :- l(@x, y).\nl("a", "b"). l("b", "c").\n')
    assert tocsin("datalog", "hops.dl", "--local", "b", "--out", "-").out.splitlines()[3:4] == ["c"]
    tocsin.file("digits.dl", declared + 'h(y) :- l(@x, y).\nl("a", "b"). l("7", "c").\n')
    assert tocsin("datalog", "digits.dl", "--local", "7", "--out", "-").out.splitlines()[3:4] == ["c"]
    tocsin.file(
        "numbers.dl", ".decl l(a: number)\n.decl h(b: number)\n.output h\nh(x) :- l(@x).\nl(7). l(8).\n"
    )
    assert tocsin("datalog", "numbers.dl", "--local", "7", "--out", "-").out.splitlines()[3:4] == ["7"]
    assert "an integer" in tocsin("datalog", "numbers.dl", "--local", "b").err


def test_why(tocsin: Command) -> None:
    tocsin.file("paths.dl", PATHS)
    tocsin.file("arc.facts", "1\t2\n2\t3\n")
    ran = tocsin("datalog", "paths.dl", "--why", "path(1, 2 + 1)")
    assert ran.out.splitlines()[:2] == [
        "path(1, 3)  by  path(x, y) :- arc(x, z), path(z, y).",
        "  arc(1, 2)  given",
    ]
    assert tocsin("datalog", "paths.dl", "--why", "path(3, 1).").out.startswith("path(3, 1) is not there\n")
    assert tocsin("datalog", "paths.dl", "--why", "path(1, x)").code == 1
    assert tocsin("datalog", "paths.dl", "--why", "path(x, y) :- arc(x, y)").code == 2


def test_programs_are_checked(tocsin: Command) -> None:
    tocsin.file("paths.dl", PATHS)
    assert tocsin("check", "paths.dl") == (0, "", "2 rules OK\n")
    tocsin.file("bad.dl", ".decl a(x: number)\na(x) :- b(x).\na(y) :- a(_).\n")
    ran = tocsin("check", "bad.dl", "paths.dl", "none.dl")
    assert ran.code == 1
    assert [line.split(": ")[0] for line in ran.out.splitlines() if ": " in line] == [
        "bad.dl:2:9",
        "bad.dl:3:3",
        "none.dl",
    ]
    assert ran.err == "3 errors; 2 rules OK\n"


def line_of(values: Tuple) -> str:
    """A tuple as it stands in a file."""
    written = [f"{value:.17g}" if isinstance(value, float) else str(value) for value in values]
    return "\t".join(written) if written else "()"


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(cases(partial=True))
def test_random_programs_give_what_the_obvious_evaluator_says(case: Case) -> None:
    program = case.program()
    derived = [name for name in program.relations if name not in case.facts]
    with TemporaryDirectory() as name:
        folder = Path(name)
        directives = [f".input {each}" for each in case.facts] + [f".output {each}" for each in derived]
        (folder / "program.dl").write_text("\n".join([case.text, *directives]))
        for relation, tuples in case.facts.items():
            (folder / f"{relation}.facts").write_text("".join(f"{line_of(each)}\n" for each in tuples))
        code = main(["datalog", str(folder / "program.dl"), "-F", name, "-D", str(folder / "out")])
        try:
            wanted = evaluate(program, case.facts)
        except DerivationError:
            assert code != 0
            assert not (folder / "out").exists()
            return
        assert code == 0
        for relation in derived:
            found = (folder / "out" / f"{relation}.csv").read_text().splitlines()
            assert sorted(found) == sorted(map(line_of, wanted[relation]))
