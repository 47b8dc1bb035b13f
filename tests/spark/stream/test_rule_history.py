"""The rules of a stream as their files change: versions, refusals, restarts, what is kept."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.sharded_rules import shared_out, write_in_parts

import tocsin
from tocsin import Dictionary, Index
from tocsin.conditions.live import Preparation
from tocsin.errors import InputError, RuleErrors, TocsinError, UsageError
from tocsin.spark.stream import rule_history
from tocsin.spark.stream.rule_history import KEPT_INDEXES, RuleFiles, RuleWatch
from tocsin.spark.stream.rule_version import RuleVersion


class Rules:
    """A file of rules, and a watch on it that can be started again."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "rules.csv"
        self.kept = folder / "kept"
        self.kept.mkdir(exist_ok=True)
        self.refused: list[list[TocsinError]] = []
        self.clock = 1_000_000_000

    def write(self, *rules: tuple[str, str]) -> None:
        lines = [f'{name},"{when}"' for name, when in rules]
        self.file.write_text("\n".join(["id,when", *lines]) + "\n")
        self.clock += 1
        os.utime(self.file, ns=(self.clock, self.clock))  # however coarse the file system's clock is

    def watch(self, check: Callable[[RuleVersion], object] = lambda version: None) -> RuleWatch:
        def refuse(errors: Sequence[TocsinError]) -> None:
            self.refused.append(list(errors))

        return RuleWatch(RuleFiles([str(self.file)], Preparation.of()), self.kept, check, refuse)


@pytest.fixture
def rules(tmp_path: Path) -> Rules:
    return Rules(tmp_path)


def matched(version: RuleVersion, n: int) -> list[str]:
    return [match.rule for match in version.open().match({"n": n})]


def test_a_new_version_is_taken_up_and_the_old_ones_stay(rules: Rules) -> None:
    rules.write(("a", "n = 1"))
    watch = rules.watch()
    first = watch.start()
    assert (first.number, matched(first, 1)) == (1, ["a"])
    assert watch.current() == first
    rules.write(("a", "n = 2"), ("b", "n = 2"))
    second = watch.current()
    assert (second.number, matched(second, 2)) == (2, ["a", "b"])
    assert matched(watch.version(1), 1) == ["a"]
    assert rules.refused == []


def test_a_file_that_is_only_touched_is_no_new_version(rules: Rules) -> None:
    rules.write(("a", "n = 1"))
    watch = rules.watch()
    watch.start()
    rules.write(("a", "n = 1"))
    assert watch.current().number == 1


def test_broken_rules_are_refused_once_with_every_error(rules: Rules) -> None:
    rules.write(("a", "n = 1"))
    watch = rules.watch()
    watch.start()
    rules.write(("a", "n >"), ("b", "= 1"), ("c", "n = 1"))
    assert [watch.current().number for _ in range(3)] == [1, 1, 1]
    assert [[str(error.rule) for error in errors] for errors in rules.refused] == [["a", "b"]]  # type: ignore[attr-defined]
    rules.write(("c", "n = 1"))
    assert watch.current().number == 2
    assert len(rules.refused) == 1


@pytest.mark.parametrize("becomes", ["nothing", "a folder", "no UTF-8", "another kind"])
def test_files_that_are_rules_no_more(rules: Rules, becomes: str) -> None:
    rules.write(("a", "n = 1"))
    watch = rules.watch()
    watch.start()
    rules.file.unlink()
    if becomes == "a folder":
        rules.file.mkdir()
    elif becomes == "no UTF-8":
        rules.file.write_bytes(b"id,when\n\xff,\xfe\n")
    elif becomes == "another kind":
        rules.file.write_bytes(b"TOCSIN\r\n and no index at all")
    assert [watch.current().number for _ in range(3)] == [1, 1, 1]
    assert len(rules.refused) == 1
    if rules.file.is_dir():
        rules.file.rmdir()
    rules.write(("a", "n = 3"))
    assert matched(watch.current(), 3) == ["a"]


def test_what_the_source_cannot_give_is_refused(rules: Rules) -> None:
    def check(version: RuleVersion) -> None:
        if ("secret",) in version.open().fields:
            raise InputError("no field secret")

    rules.write(("a", "n = 1"))
    watch = rules.watch(check)
    watch.start()
    rules.write(("a", "secret = 1"))
    assert watch.current().number == 1
    assert [str(error) for errors in rules.refused for error in errors] == ["no field secret"]
    rules.write(("a", "n = 2"))
    assert matched(watch.current(), 2) == ["a"]


def test_a_start_needs_rules_that_can_be_taken(rules: Rules) -> None:
    with pytest.raises(InputError, match="no such file"):
        rules.watch().start()
    rules.write(("a", "n >"), ("b", "= 1"))
    with pytest.raises(RuleErrors):
        rules.watch().start()
    rules.write(("a", "n = 1"))
    assert rules.watch().start().number == 1


def test_a_restart_goes_on_with_the_version_there_was(rules: Rules) -> None:
    rules.write(("a", "n = 1"))
    rules.watch().start()
    assert rules.watch().start().number == 1
    rules.write(("a", "n = 2"))
    again = rules.watch()
    assert again.start().number == 2
    assert matched(again.version(1), 1) == ["a"]
    rules.write(("a", "n >"))
    broken = rules.watch()
    assert broken.start().number == 2
    assert len(rules.refused) == 1
    rules.file.unlink()
    assert rules.watch().start().number == 2


def test_a_saved_index_is_taken_up_as_well(rules: Rules, tmp_path: Path) -> None:
    rules.file = tmp_path / "rules.tocsin"
    tocsin.build([("a", "n = 1")]).save(rules.file)
    watch = rules.watch()
    assert matched(watch.start(), 1) == ["a"]
    tocsin.build([("b", "n = 1")]).save(rules.file)
    assert matched(watch.current(), 1) == ["b"]
    damaged = bytearray(rules.file.read_bytes())
    damaged[-1] ^= 1
    rules.file.write_bytes(damaged)
    assert matched(watch.current(), 1) == ["b"]
    assert "damaged" in str(rules.refused[0][0])


def parts_of(*rules: tuple[str, str]) -> list[Index]:
    return shared_out(random.Random(len(rules)), rules, 3)


def test_an_index_in_parts_is_taken_up_and_kept_whole(rules: Rules, tmp_path: Path) -> None:
    rules.file = tmp_path / "parts.tocsin"
    write_in_parts(rules.file, parts_of(("a", "n = 1"), ("b", "n = 1"), ("c", "n = 2")))
    watch = rules.watch()
    first = watch.start()
    assert (first.number, sorted(matched(first, 1)), len(first.open())) == (1, ["a", "b"], 3)
    assert watch.current() == first
    write_in_parts(rules.file, parts_of(("a", "n = 2"), ("d", "n = 2")))
    second = watch.current()
    assert (second.number, sorted(matched(second, 2))) == (2, ["a", "d"])
    assert sorted(matched(watch.version(1), 1)) == ["a", "b"]
    assert rules.watch().start() == second
    for part in rules.file.glob("shard-*"):
        part.write_bytes(b"no index any more")  # what is kept are copies: nobody else writes to them
    assert sorted(matched(rules.watch().start(), 2)) == ["a", "d"]
    assert rules.refused == []
    tocsin.build([("e", "n = 5")]).save(tmp_path / "whole.tocsin")
    rules.file = tmp_path / "whole.tocsin"
    whole = rules.watch()
    assert matched(whole.start(), 5) == ["e"]
    for number in range(KEPT_INDEXES):
        tocsin.build([("e", f"n = {number + 6}")]).save(rules.file)
        whole.purge(whole.current().number)
    assert {path.suffix for path in rules.kept.iterdir()} == {".tocsin", ".json"}


def test_parts_that_do_not_belong_together_are_refused(rules: Rules, tmp_path: Path) -> None:
    rules.file = tmp_path / "parts.tocsin"
    write_in_parts(rules.file, parts_of(("a", "n = 1"), ("b", "n = 1")))
    watch = rules.watch()
    watch.start()
    write_in_parts(rules.file, parts_of(("a", "n = 2"), ("b", "n = 3")))
    part = next(rules.file.glob("shard-*"))
    damaged = bytearray(part.read_bytes())
    damaged[-1] ^= 1
    part.write_bytes(damaged)
    assert sorted(matched(watch.current(), 1)) == ["a", "b"]
    assert str(rules.file) in str(rules.refused[0][0])
    assert "damaged" in str(rules.refused[0][0])
    part.unlink()
    os.utime(rules.file / "shards.json", ns=(1, 1))
    assert sorted(matched(watch.current(), 1)) == ["a", "b"]
    assert len(rules.refused) == 2
    assert not [path for path in rules.kept.iterdir() if path.name.startswith(".")]
    two = RuleFiles([str(rules.file), str(tmp_path / "rules.csv")], Preparation.of())
    with pytest.raises(UsageError, match="takes alone"):
        two.stamp()


@pytest.mark.parametrize("in_parts", [True, False])
def test_an_index_that_is_written_anew_while_it_is_copied(
    rules: Rules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_parts: bool
) -> None:
    rules.file = tmp_path / "rules.tocsin"

    def write(when: str) -> None:
        if in_parts:
            write_in_parts(rules.file, parts_of(("a", when), ("b", when), ("c", when)))
        else:
            tocsin.build([("a", when)]).save(rules.file)

    write("n = 1")
    copied: list[str] = []

    def copy(source: Path, target: Path) -> None:
        copied.append(Path(source).name)
        if len(copied) == 2 or (not in_parts and len(copied) == 1):
            write("n = 2")
            raise FileNotFoundError(2, "No such file or directory")
        target.write_bytes(Path(source).read_bytes())

    monkeypatch.setattr(shutil, "copyfile", copy)
    watch = rules.watch()
    version = watch.start()
    assert (version.number, matched(version, 1), "a" in matched(version, 2)) == (1, [], True)
    assert watch.current() == version
    assert rules.refused == []


def test_a_crash_before_a_version_is_written_down_leaves_nothing_in_the_way(
    rules: Rules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules.file = tmp_path / "parts.tocsin"
    write_in_parts(rules.file, parts_of(("a", "n = 1"), ("b", "n = 1")))
    (rules.kept / ".00000001.draft").mkdir()
    (rules.kept / ".00000001.draft" / "part-of-it").write_text("half a copy")
    with monkeypatch.context() as patched:
        patched.setattr(RuleWatch, "_settle", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            rules.watch().start()
    (kept,) = rules.kept.iterdir()
    next(kept.glob("shard-*")).unlink()  # as if not all of it had reached the disk
    assert sorted(matched(rules.watch().start(), 1)) == ["a", "b"]


def test_rules_that_change_while_they_are_read_and_change_back(
    rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules.write(("a", "n = 1"))
    watch = rules.watch()
    watch.start()
    read = RuleFiles.read

    def changed_meanwhile(files: RuleFiles) -> object:
        rules.write(("a", "n = 3"))
        found = read(files)
        rules.write(("a", "n = 2"))
        return found

    rules.write(("a", "n = 2"))
    with monkeypatch.context() as patched:
        patched.setattr(RuleFiles, "read", changed_meanwhile)
        watch.current()
    assert matched(watch.current(), 2) == ["a"]
    assert rules.refused == []


def test_other_settings_of_free_text_make_another_version(rules: Rules) -> None:
    rules.write(("a", "contains(t, 'one, two')"))

    def refuse(errors: Sequence[TocsinError]) -> None:
        raise AssertionError(errors)

    def start(**settings: Any) -> RuleVersion:
        files = RuleFiles([str(rules.file)], Preparation.of(**settings))
        return RuleWatch(files, rules.kept, lambda version: None, refuse).start()

    def scores(version: RuleVersion) -> list[float | None]:
        return [match.score for match in version.open().match({"t": "one two three"})]

    assert scores(start()) == [2 / 2**0.5]
    assert start().number == 1
    assert scores(start(text_threshold=1.5)) == []
    second = start(stop_words=["two"])
    assert (second.number, scores(second)) == (3, [1.0])
    dictionary = Dictionary.of_counts({"one": 1, "two": 9}, 10)
    assert start(stop_words=["two"], dictionaries={"t": dictionary}).number == 4
    assert start(stop_words=["two"], dictionaries={"t": dictionary}).number == 4


def test_an_empty_set_of_rules_is_one(rules: Rules) -> None:
    rules.write()
    version = rules.watch().start()
    assert matched(version, 1) == []


def test_only_what_may_be_needed_is_kept(rules: Rules) -> None:
    rules.write(("a", "n = 0"))
    watch = rules.watch()
    version = watch.start()
    for number in range(1, 12):
        rules.write(("a", f"n = {number}"))
        version = watch.current()
        watch.purge(version.number)
    assert len(list(rules.kept.glob("*.tocsin"))) == KEPT_INDEXES
    for kept in range(version.number - KEPT_INDEXES + 1, version.number + 1):
        assert matched(watch.version(kept), kept - 1) == ["a"]
    with pytest.raises(TocsinError):
        watch.version(1).open()


def test_few_changes_among_many_rules_are_saved_as_changes(
    rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rule_history, "FEWEST_RULES", 10)
    monkeypatch.setattr(rule_history, "MOST_CHANGES", 6)
    held = {f"r{number}": f"n = {number}" for number in range(20)}
    rules.write(*held.items())
    watch = rules.watch()
    watch.start()
    for step in range(12):
        held[f"r{step}"] = f"n = {step + 100}"
        held.pop(f"r{step + 5}", None) if step % 3 == 0 else held.update({f"new{step}": f"n = {step + 200}"})
        rules.write(*held.items())
        version = watch.current()
        watch.purge(version.number)
        assert version.number == step + 2
        assert len(version.open()) == len(held)
        assert all(matched(version, int(when[4:])) == [name] for name, when in held.items())
    kinds = {path.suffix for path in rules.kept.iterdir()}
    assert kinds == {".tocsin", ".changes", ".json"}
    again = rules.watch()
    assert again.start() == version
    held["r0"] = "n = 999"
    rules.write(*held.items())
    assert matched(again.current(), 999) == ["r0"]


def test_a_broken_change_among_many_rules_is_refused(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_history, "FEWEST_RULES", 2)
    held = {f"r{number}": f"n = {number}" for number in range(20)}
    rules.write(*held.items())
    watch = rules.watch()
    watch.start()
    rules.write(*(held | {"r3": "n >", "r4": "n = 'x"}).items())
    assert watch.current().number == 1
    assert len(rules.refused[0]) == 2
    rules.write(*(held | {"r3": "n = 77"}).items())
    assert matched(watch.current(), 77) == ["r3"]
    assert len(watch.current().open()) == 20
