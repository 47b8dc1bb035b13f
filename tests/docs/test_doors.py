"""A room is entered by its door: what others take from a room is said in its `__init__`, and taken there."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

from tocsin.door import names_at

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
IMPORT = re.compile(r"^ *from (tocsin\.[\w.]+) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)
NAME = re.compile(r"(\w+)(?: as \w+)?")
MODULES = {
    ".".join(file.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): file
    for file in sorted(SOURCE.joinpath("tocsin").rglob("*.py"))
}
DOORS = {
    module: names_at(import_module(module).__name__)
    for module, file in MODULES.items()
    if file.name == "__init__.py" and module != "tocsin" and "= door(__name__)" in file.read_text()
}
WITHOUT = {
    "arrays": "loops name its files, since their machine code goes by what is in them (arrays/jit.py)",
    "spark": "its door is that of users; only the command line is above it",
    "cli": "nothing is above it",
}
"""Rooms without a door for other rooms, and why."""


class Import(NamedTuple):
    """One name that a file takes from somewhere in tocsin."""

    file: Path
    module: str
    name: str

    def door(self) -> str:
        """The door to that place, if there is one."""
        return next((door for door in DOORS if f"{self.module}.".startswith(f"{door}.")), "")

    def is_from_outside(self) -> bool:
        """Whether the file is in another room."""
        return SOURCE.joinpath(*self.module.split(".")[:2]) not in self.file.parents

    def is_a_file(self) -> bool:
        """Whether the name is that of a file of the floor, which is then the file's own door."""
        return f"{self.door()}.{self.name}" in MODULES


def imports(folder: str) -> list[Import]:
    return [
        Import(file, module, name)
        for file in sorted((ROOT / folder).rglob("*.py"))
        for module, several, one in IMPORT.findall(file.read_text())
        for name in NAME.findall(several or one)
    ]


def has_loops(file: Path) -> bool:
    """Such a file names the files that it takes loops from: arrays/jit.py reads these imports."""
    return {"arrays", "kernels"} & set(
        file.parts[:-1]
    ) != set() or "arrays.jit import kernel" in file.read_text()


def test_every_room_has_a_door() -> None:
    """Or each of its floors, where other rooms stand between them."""
    rooms = {
        module.split(".")[1] for module, file in MODULES.items() if len(file.relative_to(SOURCE).parts) > 2
    }
    assert rooms == {door.split(".")[1] for door in DOORS} | WITHOUT.keys()


def test_rooms_are_entered_by_their_doors() -> None:
    past, loops = [], []
    for each in imports("src"):
        if each.door() and each.is_from_outside() and not each.is_a_file():
            at_door = each.module == each.door()
            if has_loops(each.file):
                loops += [each] * at_door
            else:
                past += [each] * (not at_door)
    assert (past, loops) == ([], [])


def test_a_door_has_what_other_rooms_take() -> None:
    """What is there for nobody goes."""
    taken = {(each.module, each.name) for each in imports("src") if each.is_from_outside()}
    assert [(door, name) for door in DOORS for name in DOORS[door] if (door, name) not in taken] == []


@pytest.mark.parametrize("folder", ["tests", "benchmarks", "examples"])
def test_what_is_at_a_door_is_taken_there(folder: str) -> None:
    """What tests or measures a room may look inside, for what is only there."""
    past = [
        each
        for each in imports(folder)
        if each.module != each.door()
        and DOORS.get(each.door(), {}).get(each.name) == (each.module, each.name)
        and not has_loops(each.file)
    ]
    assert past == []
