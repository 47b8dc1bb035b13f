"""Small scripts that Spark is given in the place of programs, kept in the user's cache.

    ~/.cache/tocsin/<purpose>/<digest of the script>/<name>

The digest is over the script, so a folder never changes once it is there, and several processes may
make it at once.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
import tempfile
from pathlib import Path

from tocsin.errors import TocsinError
from tocsin.storage import cache_folder, temporary_folder

PYTHON_SCRIPT = """\
#!/bin/sh
# Made by tocsin for Spark: becomes Python, without the chatter of transformWithState.
case " $* " in
  *" pyspark.sql.streaming.transform_with_state_driver_worker "*) exec {python} "$@" >/dev/null ;;
esac
exec {python} "$@"
"""


def placed_script(purpose: str, name: str, text: str) -> Path:
    """The path of an executable file that holds this text; made when not yet there.

    Where nothing can be written or run in the cache, it lives in a temporary folder of this process alone.
    """
    script = os.fsencode(text)
    place = cache_folder(purpose, hashlib.sha256(script).hexdigest()[:16]) / name
    if not _is_placed(place, script):
        place = temporary_folder(purpose) / name
        if not _is_placed(place, script):
            raise TocsinError(f"cannot make what Spark needs: the script {place} cannot be run")
    return place


def _is_placed(place: Path, script: bytes) -> bool:
    """Have a file hold the script and be executable; whether that worked.

    The file appears under its name complete or not at all: whoever runs it while another process
    writes it sees the whole of one or the whole of the other, and both are the same.
    """
    try:
        if place.read_bytes() == script and os.access(place, os.X_OK):
            return True
    except OSError:
        pass
    draft = None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}-")
        draft = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(script)
        draft.chmod(0o755)
        draft.replace(place)
    except OSError:
        if draft is not None:
            draft.unlink(missing_ok=True)
        return False
    return os.access(place, os.X_OK)


def worker_python(python: str = sys.executable) -> Path:
    """What to set PYSPARK_PYTHON to: a script that becomes this Python at once.

    A query with transformWithState starts a process of its own before its first batch, to look at the code.
    On its standard output, which Spark sends on to the terminal, it prints what it is doing, and cannot be
    told not to. For that process alone standard output is thrown away; errors go to standard error, and to
    the driver.
    """
    return placed_script("python", "python", PYTHON_SCRIPT.replace("{python}", shlex.quote(python)))
