"""The wheel without extras in an empty environment: how much comes, and that the core works with it."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COMES = {
    "tocsin",
    "google-re2",
    "llvmlite",
    "markdown-it-py",
    "mdurl",
    "numba",
    "numpy",
    "pyarrow",
    "pygments",
    "rich",
}
"""All that is installed. NumPy, PyArrow, Numba and its LLVM are 450 megabytes of it."""
MOST_MEGABYTES = 500

WATCH_AND_BACKTEST = """
import tocsin
watch = tocsin.watch(tocsin.read_rules("triggers.sql"))
assert [alert.rule for alert in watch.insert("t", {"a": 1})] == ["one"]
found = tocsin.backtest([("r", "a = 1")], [{"a": 1}, {"a": 2}])
assert found.summary.matches == 1
found.html("page.html")
program = tocsin.Program.parse(".decl p(x: number)\\n.decl q(x: number)\\nq(x) :- p(x).")
engine = program.start()
engine.insert("p", (1,))
assert list(engine.query("q")) == [(1,)]
"""


@pytest.mark.slow
def test_a_wheel_without_extras(tmp_path: Path) -> None:
    def run(*command: str | Path) -> str:
        ran = subprocess.run(
            list(map(str, command)), cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    before = {file for file in packages.rglob("*") if file.is_file()}
    run(environment / "bin/pip", "install", "--quiet", *tmp_path.glob("*.whl"))
    after = {file for file in packages.rglob("*") if file.is_file()}
    installed = {
        line.partition("==")[0].lower() for line in run(environment / "bin/pip", "freeze").split("\n")
    }
    assert {name.partition(" @ ")[0] for name in installed if name} == COMES
    assert sum(file.stat().st_size for file in after - before) < MOST_MEGABYTES << 20

    (tmp_path / "rules.csv").write_text("id,when\na,age > 3\n")
    (tmp_path / "events.jsonl").write_text('{"age": 5}\n{"age": 1}\n')
    (tmp_path / "triggers.sql").write_text("create trigger one from t when a = 1;\n")
    (tmp_path / "p.dl").write_text(
        ".decl p(x: number)\n.input p\n.decl q(x: number)\n.output q\nq(x) :- p(x).\n"
    )
    (tmp_path / "p.facts").write_text("1\n2\n")
    tocsin = environment / "bin/tocsin"
    for engine in ([], ["--engine", "atree"]):
        found = run(tocsin, "match", "rules.csv", "--events", "events.jsonl", *engine)
        assert found == '{"event": 0, "rule": "a", "score": null}\n'
    assert "a matches" in run(tocsin, "explain", "rules.csv", "--rule", "a", "--event", '{"age": 5}')
    assert "50.0%" in run(tocsin, "backtest", "rules.csv", "--events", "events.jsonl")
    assert "2" in run(tocsin, "datalog", "p.dl", "-D", "-")
    run(environment / "bin/python", "-c", WATCH_AND_BACKTEST)
