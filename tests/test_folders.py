from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from tocsin.errors import TocsinError
from tocsin.folders import cache_folder, temporary_folder

SOURCE = str(Path(__file__).parents[1] / "src")


@pytest.fixture(autouse=True)
def temporary_files_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home, and a folder for temporary files, that are this test's alone."""
    (tmp_path / "home").mkdir()
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    return tmp_path


def no_such_user(_number: int) -> pwd.struct_passwd:
    raise KeyError


def test_cache_is_where_it_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = cache_folder("java", "abc")
    assert folder == tmp_path / "cache" / "tocsin" / "java" / "abc"
    assert list(folder.iterdir()) == []
    assert cache_folder("java", "abc") == folder


@pytest.mark.parametrize("named", [None, "", "cache", "./cache"])
def test_cache_is_in_the_home_unless_an_absolute_path_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    if named is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", named)
    assert cache_folder("java", "abc") == tmp_path / "home" / ".cache" / "tocsin" / "java" / "abc"
    assert not (tmp_path / "cache").exists()


def test_without_a_home_it_is_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", no_such_user)
    assert cache_folder("java", "abc").parent == tmp_path / "tmp"


def test_home_that_is_no_absolute_path_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "home")
    assert cache_folder("java", "abc").parent == tmp_path / "tmp"
    assert list((tmp_path / "home").iterdir()) == []


def test_cache_that_is_a_file_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "home" / ".cache").write_text("")
    folder = cache_folder("java", "abc")
    assert folder.parent == tmp_path / "tmp"
    assert folder.name.startswith("tocsin-java-")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="wants a folder that nobody can write to")
def test_cache_that_cannot_be_written_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home" / ".cache" / "tocsin").mkdir(parents=True)
    (tmp_path / "home" / ".cache" / "tocsin" / "java").symlink_to("/proc/self")
    assert cache_folder("java", "fd").parent == tmp_path / "tmp"


def test_nowhere_to_write_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(TocsinError, match="cannot make a temporary folder: No such file"):
        temporary_folder("java")


def test_temporary_folder_goes_with_its_process_and_not_with_a_forked_one(tmp_path: Path) -> None:
    program = """if True:
        import os
        import sys
        from tocsin.folders import temporary_folder

        folder = temporary_folder("test")
        (folder / "file").write_text("")
        child = os.fork()
        if child == 0:
            sys.exit()
        os.waitpid(child, 0)
        print((folder / "file").exists(), folder)
    """
    environment = os.environ | {"PYTHONPATH": SOURCE, "TMPDIR": str(tmp_path / "tmp")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    existed, folder = done.stdout.split()
    assert existed == "True"
    assert Path(folder).parent == tmp_path / "tmp"
    assert list((tmp_path / "tmp").iterdir()) == []
