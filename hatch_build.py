"""Puts the machine code of the kernels into a wheel: `make wheel` says where it lies, in TOCSIN_MACHINE_CODE.

Without that the wheel is for every platform, and compiles on the machine that it is installed on.
"""

from __future__ import annotations

import os
from importlib.metadata import distribution
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class MachineCode(BuildHookInterface):  # type: ignore[type-arg]
    """The hook that hatchling finds here."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the folder, and say what the wheel is for.

        The code uses no library but what llvmlite finds for it, so it runs where that wheel does.
        """
        folder = os.environ.get("TOCSIN_MACHINE_CODE")
        if not folder or version == "editable":
            return
        written = distribution("llvmlite").read_text("WHEEL") or ""
        tags = [line.removeprefix("Tag: ") for line in written.splitlines() if line.startswith("Tag: ")]
        build_data["pure_python"] = False
        build_data["tag"] = min(tags)
        build_data["force_include"][folder] = "tocsin/machine_code"
