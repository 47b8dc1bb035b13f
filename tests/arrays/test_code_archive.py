"""Machine code in a file: what was exported is taken in, and nothing else is."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tocsin.arrays import code_archive
from tocsin.arrays.code_archive import FORMAT, import_code
from tocsin.arrays.code_levels import common_level, has_level
from tocsin.arrays.kernel_cache import CONTENTS, made_with
from tocsin.errors import InputError

needs_level = pytest.mark.skipif(not has_level(), reason="this processor has no level that others share")

SOURCE = str(Path(__file__).parents[2] / "src")
SORTS = """
import sys
from pathlib import Path
import numpy as np
from numba.core import event
from tocsin.arrays import code_archive
from tocsin.arrays.radix_sort import order_by
compiled = []
class Listener(event.Listener):
    def on_start(self, event): compiled.append(event)
    def on_end(self, event): pass
event.register("numba:compile", Listener())
if sys.argv[1] == "import":
    assert code_archive.import_code(Path(sys.argv[2])) == 1
assert order_by(np.array([2, 1], np.uint64)).tolist() == [1, 0]
if sys.argv[1] == "export":
    assert code_archive.export_code(Path(sys.argv[2])) == 1
print(len(compiled))
"""
NAME = "tocsin.arrays.lookup-0123456789abcdef/find-1.py311.nbi"


def sorts(way: str, archive: Path, cache: Path, **environment: str) -> int:
    """How many compilations a process needs to sort, which imports or exports its machine code."""
    done = subprocess.run(
        [sys.executable, "-c", SORTS, way, str(archive)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": SOURCE, "NUMBA_CACHE_DIR": str(cache)} | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@needs_level
def test_what_was_exported_is_taken_in_and_not_compiled_again(tmp_path: Path) -> None:
    level = common_level()
    assert level is not None
    named = {"NUMBA_CPU_NAME": level.name, "NUMBA_CPU_FEATURES": level.features}
    assert sorts("export", tmp_path / "code.zip", tmp_path / "one", **named) > 0
    assert sorts("import", tmp_path / "code.zip", tmp_path / "other") == 0
    assert sorts("neither", tmp_path / "code.zip", tmp_path / "other") == 0
    assert sorts("neither", tmp_path / "code.zip", tmp_path / "other", NUMBA_CPU_NAME="generic") > 0


def archive(path: Path, files: dict[str, bytes], /, **contents: Any) -> Path:
    """An archive as `export_code` would write it, but for what contents say."""
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    listed = {"format": FORMAT, "made_with": made_with(), "files": sums} | contents
    with zipfile.ZipFile(path, "w") as written:
        written.writestr(CONTENTS, json.dumps(listed))
        for name, data in files.items():
            written.writestr(name, data)
    return path


@needs_level
@pytest.mark.parametrize(
    ("files", "contents", "said"),
    [
        ({NAME: b"x"}, {}, "another version of tocsin"),
        ({NAME: b"x"}, {"files": {NAME: "0"}}, "damaged: a checksum is wrong"),
        ({NAME: b"x"}, {"files": {}}, "damaged: a checksum is wrong"),
        ({NAME: b"x"}, {"format": 99}, "of format 99"),
        ({NAME: b"x"}, {"made_with": made_with() | {"python": "2.7"}}, "is for python 2.7"),
        ({NAME: b"x"}, {"made_with": made_with() | {"numba": "0.1"}}, "numba 0.1"),
        ({NAME: b"x"}, {"made_with": ["\x1b[31m"]}, "nothing that it names"),
        ({"../evil-1.py311.nbi": b"x"}, {}, "files that `tocsin warm --export` does not write"),
        ({f"/{NAME}": b"x"}, {}, "does not write"),
        ({NAME.replace("find", "../../find"): b"x"}, {}, "does not write"),
    ],
)
def test_what_is_foreign_or_hostile_is_refused(
    tmp_path: Path,
    files: dict[str, bytes],
    contents: dict[str, Any],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(code_archive, "add_entries", pytest.fail)
    with pytest.raises(InputError, match=said):
        import_code(archive(tmp_path / "code.zip", files, **contents))


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04" + bytes(60)])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "code.zip").write_bytes(content)
    with pytest.raises(InputError, match="no file that `tocsin warm --export` wrote"):
        import_code(tmp_path / "code.zip")


def test_an_archive_without_a_list_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "code.zip", "w") as written:
        written.writestr(NAME, b"x")
    with pytest.raises(InputError, match="no list of what is in it"):
        import_code(tmp_path / "code.zip")


def test_what_unfolds_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_archive, "MOST_BYTES", 1 << 10)
    with pytest.raises(InputError, match="unfolds to more"):
        import_code(archive(tmp_path / "code.zip", {NAME: bytes(2000)}))
