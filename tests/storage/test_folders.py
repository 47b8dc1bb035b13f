from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from tocsin.errors import TocsinError, TocsinWarning
from tocsin.storage import cache_folder, temporary_folder
from tocsin.storage.folders import whoever_could_write

SOURCE = str(Path(__file__).parents[2] / "src")


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


def test_folders_are_made_for_this_user_alone(tmp_path: Path) -> None:
    folder = cache_folder("kernels", "abc")
    home = tmp_path / "home"
    assert [each.stat().st_mode & 0o777 for each in (folder, *folder.parents) if each.is_relative_to(home)][
        :-1
    ] == [0o700] * 4
    assert whoever_could_write(folder) is None


@pytest.mark.parametrize(
    "part", [".cache", ".cache/tocsin", ".cache/tocsin/kernels", ".cache/tocsin/kernels/x"]
)
def test_cache_that_others_may_write_to_is_not_used(tmp_path: Path, part: str) -> None:
    cache_folder("kernels", "x")
    (tmp_path / "home" / part).chmod(0o707)
    with pytest.warns(
        TocsinWarning, match=f"not used, for others may write to .*/{part}: kernels are made anew"
    ):
        folder = cache_folder("kernels", "x")
    assert folder.parent == tmp_path / "tmp"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert cache_folder("kernels", "x").parent == tmp_path / "tmp"  # and is not said twice
    (tmp_path / "home" / part).chmod(0o700)
    assert cache_folder("kernels", "x") == tmp_path / "home" / ".cache" / "tocsin" / "kernels" / "x"


def test_cache_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = cache_folder("kernels", "y")
    assert whoever_could_write(folder) is None
    monkeypatch.setattr(os, "getuid", lambda: 4_242)
    assert whoever_could_write(folder) == f"{folder} belongs to another user"
    with pytest.warns(TocsinWarning, match="y belongs to another user"):
        assert cache_folder("kernels", "y").parent == tmp_path / "tmp"


def test_link_on_the_way_counts_with_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "open" / "inner").mkdir(parents=True)
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "open" / "inner")
    assert whoever_could_write(tmp_path / "link") == f"others may write to {tmp_path / 'open'}"
    (tmp_path / "open").chmod(0o1777)  # like /tmp: others cannot take away what is ours
    assert whoever_could_write(tmp_path / "link") is None
    (tmp_path / "open" / "inner").chmod(0o1777)  # but the folder itself has to be ours alone
    assert whoever_could_write(tmp_path / "link") == f"others may write to {tmp_path / 'link'}"


def test_nowhere_to_write_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(TocsinError, match="cannot make a temporary folder: No such file"):
        temporary_folder("java")


def test_temporary_folder_goes_with_its_process_and_not_with_a_forked_one(tmp_path: Path) -> None:
    program = """if True:
        import os
        import sys
        from tocsin.storage import temporary_folder

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
