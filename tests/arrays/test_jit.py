"""Where compiled kernels are kept, whatever the user's home is like."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tocsin.arrays import kernel_cache

SOURCE = str(Path(__file__).parents[2] / "src")
WHERE_KERNELS_ARE_KEPT = """
import os, pwd
from pathlib import Path
def no_such_user(number):
    raise KeyError(number)
pwd.getpwuid = no_such_user
from tocsin.arrays import jit, kernel_cache

@jit.kernel
def double(number: int) -> int:
    return 2 * number

print(double._cache.cache_path, kernel_cache.kernels_digest(Path(__file__).read_bytes()))
"""


def kept(tmp_path: Path, **environment: str) -> tuple[Path, str]:
    """Where a process keeps its kernels in this environment, with no home but what that says."""
    (tmp_path / "tmp").mkdir()
    (tmp_path / "kernel.py").write_text(WHERE_KERNELS_ARE_KEPT)
    done = subprocess.run(
        [sys.executable, "kernel.py"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": SOURCE, "TMPDIR": str(tmp_path / "tmp")} | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    folder, digest = done.stdout.split()
    return Path(folder), digest


def test_kernels_are_kept_in_the_cache(tmp_path: Path) -> None:
    folder, digest = kept(tmp_path, HOME=str(tmp_path / "home"))
    assert folder == tmp_path / "home" / ".cache" / "tocsin" / "kernels" / f"__main__-{digest}"
    assert folder.is_dir()


def test_variable_of_numba_says_where_they_are_kept(tmp_path: Path) -> None:
    folder, digest = kept(tmp_path, HOME=str(tmp_path / "home"), NUMBA_CACHE_DIR=str(tmp_path / "mine"))
    assert folder == tmp_path / "mine" / f"__main__-{digest}"
    assert not (tmp_path / "home").exists()


def test_machine_code_with_bounds_checks_is_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "checked").mkdir()
    _, plain = kept(tmp_path, HOME=str(tmp_path / "home"))
    _, checked = kept(tmp_path / "checked", HOME=str(tmp_path / "home"), NUMBA_BOUNDSCHECK="1")
    assert plain != checked


def test_copies_of_one_source_share_their_machine_code(tmp_path: Path) -> None:
    copies = []
    for name in ("one", "other"):
        copy = tmp_path / name / "src"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        said = "from tocsin.arrays.lookup import text_slot; print(text_slot._cache.cache_path)"
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(copy), "HOME": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", said], env=environment, capture_output=True, text=True, check=True
        )
        copies.append(done.stdout)
    assert copies[0] == copies[1]
    assert "tocsin.arrays.lookup-" in copies[0]


@pytest.mark.parametrize("variable", ["NUMBA_CACHE_DIR", "XDG_CACHE_HOME"])
def test_a_cache_that_others_may_write_to_is_not_used(tmp_path: Path, variable: str) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    folder, _ = kept(tmp_path, HOME=str(tmp_path / "home"), **{variable: str(tmp_path / "shared")})
    assert folder.parent == tmp_path / "tmp"


@pytest.mark.parametrize("environment", [{}, {"XDG_CACHE_HOME": "relative"}, {"HOME": "/dev/null"}])
def test_without_a_home_kernels_are_kept_while_the_process_lives(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    folder, _ = kept(tmp_path, **environment)
    assert folder.parent == tmp_path / "tmp"
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not (tmp_path / "relative").exists()


KERNELS = sorted(path for path in Path(SOURCE).rglob("*.py") if path.parent.name in ("kernels", "arrays"))


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_digest_goes_over_every_module_that_loops_come_from(path: Path) -> None:
    source = path.read_bytes()
    taken = set()
    for line in ast.parse(source).body:
        if (
            isinstance(line, ast.ImportFrom)
            and line.module
            and {"kernels", "arrays"} & {*line.module.split(".")}
        ):
            whole = line.module.endswith((".kernels", ".arrays"))
            taken |= {f"{line.module}.{name.name}" for name in line.names} if whole else {line.module}
    assert set(kernel_cache._kernel_modules(source)) == taken


@pytest.mark.parametrize(
    ("said", "taken"),
    [
        ("from tocsin.text.kernels.terms import a, b", ["tocsin.text.kernels.terms"]),
        (
            "from tocsin.text.kernels import terms, words as w",
            ["tocsin.text.kernels.terms", "tocsin.text.kernels.words"],
        ),
        (
            "from tocsin_lab.kernels import (\n    a,\n    b,\n)\nc = 1",
            ["tocsin_lab.kernels.a", "tocsin_lab.kernels.b"],
        ),
        ("from tocsin.arrays import bits\nfrom tocsin.errors import InputError", ["tocsin.arrays.bits"]),
    ],
)
def test_modules_that_a_source_takes_loops_from(said: str, taken: list[str]) -> None:
    assert kernel_cache._kernel_modules(said.encode()) == taken
