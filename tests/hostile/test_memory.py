"""Memory that runs out, in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

OUT_OF_MEMORY = """
import resource
import pyarrow as pa
import tocsin

index = tocsin.build([("r", "contains(d, 'golf & trophy')")])
small = {"d": "a golf trophy"}
assert index.match(small)
document = "golf trophy " * 4_100_000
taken = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (taken + (60 << 20), resource.RLIM_INFINITY))
for doing, go in [
    ("matching an event", lambda: index.match({"d": document})),
    ("matching a table", lambda: index.match_table(pa.table({"d": [document] * 2}), threads=1)),
    ("building an index", lambda: tocsin.build([("r", f"d = '{document}'")])),
]:
    try:
        go()
    except tocsin.OutOfMemory as error:
        assert isinstance(error, MemoryError)
        assert str(error) == f"out of memory while {doing}", error
        print(doing)
    except MemoryError:
        print("its argument did not fit")
assert index.match(small)
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_a_document_that_does_not_fit() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", OUT_OF_MEMORY], capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.endswith("done\n")
    assert "matching an event\n" in ended.stdout
