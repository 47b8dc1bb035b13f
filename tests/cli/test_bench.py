"""tocsin bench: named, run, printed and written; the figures themselves are nobody's to assert."""

from __future__ import annotations

import pytest
from tests.cli.running import Command

from tocsin.errors import TocsinError
from tocsin_lab.experiments import catalogue
from tocsin_lab.experiments.experiment import Experiment, Paper, Run
from tocsin_lab.experiments.outcome import Axis, Bar, Bars, Column, Outcome, Plot, Table


def toy(run: Run) -> Outcome:
    run.progress.step("working")
    table = Table("A table", [Column("engine"), Column("scale")], [[each, run.scale] for each in run.engines])
    return Outcome([table], [Plot("A plot", [Bars("p", "", Axis("time"), ["a"], [Bar("ours", [1])])])])


def broken(run: Run) -> Outcome:
    raise TocsinError("the engine scan and atree differ on event 3")


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {
        "toy": Experiment("toy", Paper.ATREE, "Figure 0", "x", "1 rule", 0.5, "1 s", ("atree", "scan"), toy),
        "plain": Experiment("plain", Paper.ATREE, "Figure 00", "y", "1 rule", 0.1, "1 s", (), toy),
        "broken": Experiment("broken", Paper.DEWEY, "Table 0", "z", "1 rule", 1, "1 s", (), broken),
    }
    monkeypatch.setattr(catalogue, "EXPERIMENTS", made)


def test_every_experiment_is_listed(tocsin: Command) -> None:
    ran = tocsin("bench", "--list")
    assert ran.code == 0
    lines = ran.out.splitlines()
    for each in catalogue.EXPERIMENTS.values():
        (line,) = (line for line in lines if line.startswith(f"{each.name} "))
        assert all(part in line for part in (each.paper.value, each.place, each.shows, each.size, each.lasts))
    assert tocsin.files() == []


@pytest.mark.usefixtures("toys")
def test_a_run_prints_a_table_and_writes_it_with_a_plot(tocsin: Command) -> None:
    ran = tocsin("bench", "toy")
    assert ran.code == 0
    assert ran.out.splitlines()[4:6] == ["atree     0.5", "scan      0.5"]
    assert "toy 1: working\nwritten in bench-results: toy.csv, toy.png\n" in ran.err
    assert tocsin.files() == ["bench-results", "bench-results/toy.csv", "bench-results/toy.png"]


@pytest.mark.usefixtures("toys")
def test_scale_engines_and_folder_are_chosen(tocsin: Command) -> None:
    ran = tocsin("bench", "toy", "--scale", "0.125", "--engines", "scan", "--out", "a/b", "--seed", "3")
    assert ran.code == 0
    assert (tocsin.folder / "a/b/toy.csv").read_text() == "engine,scale\nscan,0.125\n"
    assert "--scale 0.125 --seed 3" in ran.out


@pytest.mark.usefixtures("toys")
def test_all_is_every_one_and_a_difference_is_exit_code_1(tocsin: Command) -> None:
    ran = tocsin("bench", "all", "--engines", "scan")
    assert ran.code == 1
    assert ran.err.splitlines()[-1] == "tocsin: the engine scan and atree differ on event 3"
    assert {"bench-results/toy.csv", "bench-results/plain.png"} < set(tocsin.files())


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["toi"], "there is no experiment 'toi': did you mean toy?"),
        ([], "which experiment?"),
        (["toy", "--scale", "0"], "--scale is a number above 0, not 0"),
        (["toy", "--scale", "nan"], "--scale is a number above 0, not nan"),
        (["toy", "--scale", "big"], "invalid float value: 'big'"),
        (["toy", "--seed", "-1"], "--seed is 0 or more"),
        (["toy", "--engines", "scan,atee"], "there is no engine 'atee'"),
        (["plain", "--engines", "scan"], "plain compares no engines"),
    ],
)
def test_bad_usage(tocsin: Command, arguments: list[str], said: str) -> None:
    ran = tocsin("bench", *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert tocsin.files() == []


@pytest.mark.usefixtures("toys")
def test_a_place_that_is_no_folder(tocsin: Command) -> None:
    tocsin.file("taken", "")
    ran = tocsin("bench", "toy", "--out", "taken")
    assert (ran.code, ran.err) == (1, "tocsin: taken: results cannot be written: it is not a folder\n")
