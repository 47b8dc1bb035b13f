"""The Python that Spark's workers run in: this one, by way of a script.

A query with transformWithState starts a process of its own before its first batch, to look at the code. On
its standard output, which Spark sends on to the terminal, it prints what it is doing, and cannot be told not
to. The script becomes Python at once, and for that process alone throws standard output away; errors go to
standard error, and to the driver.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from tocsin.spark.launch_scripts import placed_script

SCRIPT = """\
#!/bin/sh
# Made by tocsin for Spark: becomes Python, without the chatter of transformWithState.
case " $* " in
  *" pyspark.sql.streaming.transform_with_state_driver_worker "*) exec {python} "$@" >/dev/null ;;
esac
exec {python} "$@"
"""


def worker_python(python: str = sys.executable) -> Path:
    """What to set PYSPARK_PYTHON to."""
    return placed_script("python", "python", SCRIPT.replace("{python}", shlex.quote(python)))
