"""What mypy --strict says of a user's program: its mistakes, by line, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROGRAM = """\
import pyarrow as pa

import tocsin

index = tocsin.build([("adults", "age >= 18"), ("west", "state in ('CA', 'OR')")])
index = tocsin.build([{"id": "adults", "when": "age >= 18", "severity": 3}])
index = tocsin.build({"adults": "age >= 18"})
index = tocsin.build(tocsin.read_rules("rules"), engine="scan")
matches: tocsin.Matches = index.match({"age": 31})
names: list[str] = [match.rule for match in matches]
names = list(index) + list(index.ids) + index.ids[1:]
name: str = index.ids[0]
score: float | None = matches[0].score
counts: tocsin.Counts = index.match_table(pa.table({"age": [31]}), count=True)
explanation: tocsin.Explanation = index.explain("adults", {"age": 31})
overview: tocsin.Overview = tocsin.backtest([("r", "x = 1")], [{"x": 1}])
run: tocsin.TestRun = tocsin.backtest("rules.csv", "events.csv", rule="r")
comparison: tocsin.Comparison = tocsin.backtest("rules", "events", compare=[("r", "x = 2")])
history: tocsin.History = tocsin.statistics("events.jsonl", "history")
watch: tocsin.Watch = tocsin.watch("rules.sql")
alerts: list[tocsin.Alert] = watch.insert("orders", {"total": 12})
engine: tocsin.Engine = tocsin.Program.read("paths.dl").start(facts={"arc": [(1, 2)]})
changes: tocsin.Changes = engine.load("arc", [(1, 2)])
number: float = tocsin.score("a text", "text")

tocsin.build(5)  # error: arg-type
tocsin.build("rules.csv")  # error: arg-type
tocsin.build([5])  # error: list-item
tocsin.build([("a", "x = 1")], engine=None)  # error: arg-type
tocsin.build([("a", "x = 1")], sample="events.csv")  # error: arg-type
tocsin.build_good(5)  # error: arg-type
tocsin.read_rules(5)  # error: arg-type
index.match(5)  # error: arg-type
index.match("{}")  # error: arg-type
index.match([{"age": 31}])  # error: arg-type
index.match_table("x")  # error: call-overload
index.match_table({"age": 31})  # error: call-overload
index.explain(5, {"age": 31})  # error: arg-type
index.explain("adults", 5)  # error: arg-type
index.insert("a", 5)  # error: arg-type
index.apply(5)  # error: arg-type
index.save(5)  # error: arg-type
index.matches({})  # error: attr-defined
tocsin.watch(3)  # error: arg-type
watch.insert("orders", 5)  # error: arg-type
tocsin.backtest([("r", "x = 1")], 5)  # error: call-overload
tocsin.backtest(5, "events.csv")  # error: call-overload
tocsin.statistics(5, "history")  # error: arg-type
tocsin.score(5, "text")  # error: arg-type
tocsin.Program.parse(5)  # error: arg-type
tocsin.Program.read(5)  # error: arg-type
engine.load("arc", 5)  # error: arg-type
engine.insert("arc", 5)  # error: arg-type
engine.query(5)  # error: arg-type
"""


def test_mypy_finds_the_mistakes_of_users(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    # with the settings of the project, which are strict, so that what `make check` has read is not read again
    asked = [sys.executable, "-m", "mypy", "--strict", "--no-pretty", "--hide-error-context", str(program)]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    found = re.findall(r"^.*program\.py:(\d+): error: .* \[([a-z-]+)\]$", done.stdout, re.MULTILINE)
    lines = enumerate(PROGRAM.splitlines(), 1)
    wanted = [(str(number), line.partition("# error: ")[2]) for number, line in lines if "# error: " in line]
    assert found == wanted, done.stdout + done.stderr


def test_the_package_says_that_it_is_typed() -> None:
    assert files("tocsin").joinpath("py.typed").is_file()
