"""Whether a wheel with machine code needs no compiler: `python -m tests.wheel FILE`, the end of `make wheel`.

The wheel is unpacked into a folder of its own and used from there with an empty home, beside the libraries of
this environment. Nothing may be compiled, from the first match to programs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile

FIRST_USE = """
import time
started = time.perf_counter()
from numba.core import event
import tocsin
compiled = []
class Listener(event.Listener):
    def on_start(self, event): compiled.append(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event): pass
event.register("numba:compile", Listener())
index = tocsin.build([("a", "x = 1")])
assert [match.rule for match in index.match({"x": 1})] == ["a"]
seconds = time.perf_counter() - started
from tocsin.warmup import warm_up_all
warm_up_all()
assert not compiled, compiled
print(f"{tocsin.__file__}: the first match after {seconds:.1f} s, nothing compiled")
"""


def main(wheel: str) -> int:
    """Use it as a newcomer does."""
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(f"{folder}/site")
        environment = {"PATH": os.environ["PATH"], "HOME": f"{folder}/home", "PYTHONPATH": f"{folder}/site"}
        command = [sys.executable, "-W", "ignore", "-c", FIRST_USE]
        return subprocess.run(command, env=environment, cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
