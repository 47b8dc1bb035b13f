"""The drawing is what the imports say, and the recipes lead to something that works."""

from __future__ import annotations

import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def test_the_drawing_is_up_to_date() -> None:
    drawn = architecture()["drawing"]()
    assert (ROOT / "docs" / "architecture.svg").read_text() == drawn, "run python docs/architecture.py"


def architecture() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs" / "architecture.py"))


def test_the_ways_are_those_that_are_taken(tmp_path: Path) -> None:
    script = str(Path(__file__).with_name("ways_taken.py"))
    arguments = f"import runpy, sys; sys.argv = ['', {str(tmp_path)!r}]"
    taken = json.loads(run(ROOT, f"{arguments}; runpy.run_path({script!r}, run_name='__main__')"))
    ways = architecture()["WAYS"]
    assert taken.keys() == ways.keys()
    drawn = {name: {station.file for station in stations} for name, stations in ways.items()}
    assert {name: sorted(drawn[name] - set(taken[name])) for name in ways} == {name: [] for name in ways}


def edit(tree: Path, file: str, old: str, new: str) -> None:
    path = tree / "src" / "tocsin" / file
    text = path.read_text()
    assert text.count(old) == 1, f"{file} has {text.count(old)} times: {old}"
    path.write_text(text.replace(old, new))


def run(tree: Path, program: str) -> str:
    """What a program prints that finds tocsin in a tree."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(tree / "src"), "HOME": str(tree), "NUMBA_DISABLE_JIT": "1", "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def copied(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_an_operator_by_the_recipe(tmp_path: Path) -> None:
    tree = copied(tmp_path)
    edit(
        tree,
        "conditions/language/tree.py",
        '    TM_CONTAINS = "tm_contains"\n',
        '    TM_CONTAINS = "tm_contains"\n    STARTSWITH = "startswith"\n',
    )
    edit(
        tree,
        "conditions/operators.py",
        '}\n"""Every operator, in the order of their codes."""',
        "    Test.STARTSWITH: _Row(Shape.CALL, None, _STRING, lambda _: None, _of_prefix, _starts),\n"
        '}\n"""Every operator, in the order of their codes."""',
    )
    edit(
        tree,
        "conditions/operators.py",
        "_Row = PredicateOperator\n",
        """def _of_prefix(predicate: Predicate) -> Predicate:
    pattern = _escaped(str(predicate.operands[0].value)) + "%"
    return Predicate(predicate.field, Test.LIKE, (Literal(Kind.STRING, pattern),))


def _starts(value: Any, operands: Sequence[Any]) -> bool:
    return value.startswith(operands[0])


_Row = PredicateOperator
""",
    )
    edit(
        tree,
        "conditions/kernels/predicate_parser.py",
        "TM_CONTAINS = 13\n",
        "TM_CONTAINS = 13\nSTARTSWITH = 14\n",
    )
    said = run(
        tree,
        """
import tocsin
rules = [("a", "startswith(s, '5%')"), ("b", "not startswith(s, 'x')"), ("c", "s = 'x'")]
for engine in ("atree", "interval", "scan"):
    index = tocsin.build(rules, engine=engine)
    for event in ({"s": "5% more"}, {"s": "5 more"}, {"s": "x"}, {}):
        print(engine, [match.rule for match in index.match(event)])
print(tocsin.build(rules).explain("a", {"s": "5%"}).matched)
print(tocsin.build(rules).rule("a").when)
""",
    )
    found = ["['a', 'b']", "['b']", "['c']", "[]"]
    assert said.splitlines() == [
        *(f"{engine} {each}" for engine in ("atree", "interval", "scan") for each in found),
        "True",
        "startswith(s, '5%')",
    ]


def test_an_engine_by_the_recipe(tmp_path: Path) -> None:
    tree = copied(tmp_path)
    (tree / "src/tocsin/engines/mine.py").write_text((tree / "src/tocsin/engines/scan.py").read_text())
    edit(
        tree,
        "engines/registry.py",
        '    "scan": "ScanEngine",\n',
        '    "scan": "ScanEngine",\n    "mine": "ScanEngine",\n',
    )
    program = """
import tocsin
index = tocsin.build([("a", "x = 1 or y = 2")], engine="mine")
print(index.engine, [match.rule for match in index.match({"y": 2})])
"""
    assert run(tree, program) == "mine ['a']\n"


def test_an_aggregate_by_the_recipe(tmp_path: Path) -> None:
    tree = copied(tmp_path)
    edit(
        tree,
        "datalog/language/functors.py",
        '    "mean": AggregateFunction(',
        '    "spread": AggregateFunction(Signature((_NUMERIC,)), lambda of, _: max(of) - min(of)),'
        '\n    "mean": AggregateFunction(',
    )
    edit(
        tree,
        "datalog/machine/group_values.py",
        '    if function in ("min", "max"):\n',
        '    if function == "spread":\n        return _Spread()\n    if function in ("min", "max"):\n',
    )
    path = tree / "src/tocsin/datalog/machine/group_values.py"
    path.write_text(
        path.read_text()
        + """

class _Spread:
    def __init__(self):
        self.count, self.word = 0, None
        self._ends = _Extreme(False), _Extreme(True)

    def change(self, value, by):
        self.count += by
        for end in self._ends:
            end.change(value, by)

    def result(self):
        least, greatest = self._ends
        return greatest.result() - least.result()
"""
    )
    program = """
import tocsin
from tocsin.datalog.language.checker import check_program
from tocsin.datalog.meaning import evaluate
text = '''.decl v(k: number, x: number)
.decl r(k: number, n: number)
r(k, n) :- v(k, _), n = spread x : { v(k, x) }.
'''
engine = tocsin.Program.parse(text).start()
for values in ((1, 5), (1, 9), (2, 7), (1, 6)):
    engine.insert("v", values)
engine.delete("v", (1, 9))
print(engine.query("r"))
print(sorted(evaluate(check_program(text + "v(1, 5). v(2, 7). v(1, 6)."), {})["r"]))
"""
    assert run(tree, program) == "[(1, 1), (2, 0)]\n" * 2


def test_a_sink_by_the_recipe(tmp_path: Path) -> None:
    tree = copied(tmp_path)
    (tree / "src/tocsin/spark/sinks/mine_sink.py").write_text(
        (tree / "src/tocsin/spark/sinks/console_sink.py")
        .read_text()
        .replace("ConsoleSink", "MineSink")
        .replace("console:", "mine:")
    )
    console = '    "console": "sinks.console_sink.ConsoleSink",\n'
    mine = console.replace("console", "mine").replace("ConsoleSink", "MineSink")
    edit(tree, "spark/stream/schemes.py", console, console + mine)
    program = "from tocsin.spark.stream.schemes import sink_of; print(type(sink_of('mine:')).__name__)"
    assert run(tree, program) == "MineSink\n"


def test_a_source_by_the_recipe(tmp_path: Path) -> None:
    tree = copied(tmp_path)
    (tree / "src/tocsin/spark/stream/mine_source.py").write_text(
        (tree / "src/tocsin/spark/stream/kafka_source.py").read_text().replace("KafkaSource", "MineSource")
    )
    kafka = '    "kafka": "stream.kafka_source.KafkaSource",\n'
    mine = kafka.replace("kafka", "mine").replace("KafkaSource", "MineSource")
    edit(tree, "spark/stream/schemes.py", kafka, kafka + mine)
    program = """
from tocsin.spark.stream.schemes import source_of
source = source_of("mine://host:1/topic")
print(type(source).__name__, source.name.endswith("//host:1/topic"))
"""
    assert run(tree, program) == "MineSource True\n"


def test_a_functor_by_the_recipe(tmp_path: Path) -> None:
    tree = copied(tmp_path)
    edit(
        tree,
        "datalog/language/functors.py",
        '    "strlen": Functor(',
        '    "reverse": Functor(Signature((_SYMBOL,), Type.SYMBOL), {Type.SYMBOL: lambda text: text[::-1]}),'
        '\n    "strlen": Functor(',
    )
    program = """
import tocsin
from tocsin.datalog.language.checker import check_program
from tocsin.datalog.meaning import evaluate
text = '''.decl word(w: symbol)
.decl palindrome(w: symbol)
palindrome(w) :- word(w), w = reverse(w).
.decl turned(w: symbol)
turned(reverse(w)) :- word(w), strlen(w) < 4.
'''
engine = tocsin.Program.parse(text).start()
for word in ("anna", "bob", "eve", "abc"):
    engine.insert("word", (word,))
engine.delete("word", ("eve",))
print(engine.query("palindrome"), engine.query("turned"))
meant = evaluate(check_program(text + 'word("anna"). word("bob"). word("abc").'), {})
print(sorted(meant["palindrome"]), sorted(meant["turned"]))
"""
    assert run(tree, program) == "[('anna',), ('bob',)] [('bob',), ('cba',)]\n" * 2


def test_a_format_of_rule_files_by_the_recipe(tmp_path: Path) -> None:
    tree = copied(tmp_path)
    edit(
        tree,
        "rules/rule_files.py",
        '".sql": _read_sql,\n',
        '".sql": _read_sql,\n    ".lines": _read_lines,\n',
    )
    edit(
        tree,
        "rules/rule_files.py",
        'PARQUET = ".parquet"\n',
        """def _read_lines(data: bytes, file: str) -> Rules:
    lines = [line.split(": ", 1) for line in _text(data, file).splitlines()]
    at = np.arange(1, len(lines) + 1)
    metadata = metadata_of_rows([{} for _ in lines], file)
    return Rules.of_columns(columns_of_pairs(lines, at, file), metadata, file=file, lines=at)


PARQUET = ".parquet"
""",
    )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "rules.lines").write_text("a: x = 1\nb: y = 2\n")
    (tmp_path / "mine" / "bad.lines").write_text("c: x = 1\nd: y ==== 2\n")
    program = f"""
import tocsin
index = tocsin.build(tocsin.read_rules({str(tmp_path / "mine" / "rules.lines")!r}))
print([match.rule for match in index.match({{"x": 1, "y": 3}})])
try:
    tocsin.build(tocsin.read_rules({str(tmp_path / "mine")!r}))
except tocsin.RuleError as error:
    print(error.rule, error.line, error.file.endswith("bad.lines"))
"""
    assert run(tree, program) == "['a']\nd 2 True\n"


def test_a_command_by_the_recipe(tmp_path: Path) -> None:
    tree = copied(tmp_path)
    (tree / "src/tocsin/cli/greet.py").write_text(
        '''"""`tocsin greet`: say hello."""

SUMMARY, DESCRIPTION = "say hello", "Says hello."
EXAMPLES = "examples:\\n  tocsin greet ada\\n"


def add_arguments(parser):
    parser.add_argument("who")


def run(arguments):
    print(f"hello {arguments.who}")
    return 0
'''
    )
    edit(tree, "cli/__init__.py", ' warm bench"\n', ' warm bench greet"\n')
    said = run(tree, "from tocsin.cli import main\nmain(['greet', 'ada'])\nmain(['greet', '--help'])")
    assert said.startswith("hello ada\nusage: tocsin greet")
    assert "examples:\n  tocsin greet ada" in said
