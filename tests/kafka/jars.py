"""The jars of Kafka for tests, fetched once by Maven into the user's cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from tocsin.storage import cache_folder

POM = Path(__file__).with_name("pom.xml")


class NoKafka(Exception):
    """Kafka cannot be had here."""


def jars(profile: str) -> list[Path]:
    """Those of a profile of pom.xml, `connector` or `broker`; NoKafka when Maven cannot fetch them.

    The folder appears under its name when all of them are in it.
    """
    folder = cache_folder("kafka", hashlib.sha256(POM.read_bytes()).hexdigest()[:16]) / profile
    if not folder.is_dir():
        if shutil.which("mvn") is None:
            raise NoKafka("there is no Maven here to fetch Kafka with")
        draft = folder.with_name(f".{profile}-{os.getpid()}")
        command = [
            "mvn",
            "--quiet",
            "--batch-mode",
            "-Dstyle.color=never",
            f"--file={POM}",
            f"--activate-profiles={profile}",
        ]
        command += ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={draft}"]
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=False)
        if done.returncode:
            errors = [line for line in done.stdout.splitlines() if "ERROR" in line]
            raise NoKafka(f"Maven cannot fetch Kafka: {(errors or ['it does not say why'])[0]}")
        draft.rename(folder)
    return sorted(folder.glob("*.jar"))
