"""What all experiments are run and shown with."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from itertools import combinations

import pytest
from benchmarks import experiments as written
from matplotlib.collections import LineCollection

from tocsin.errors import UsageError
from tocsin_lab.experiments import atree_sharing, catalogue, png_plots
from tocsin_lab.experiments import progress as progress_module
from tocsin_lab.experiments.atree_parameters import DEFAULT, SIZES
from tocsin_lab.experiments.clocks import Seconds, interleaved, timed
from tocsin_lab.experiments.experiment import Experiment, Paper, Run
from tocsin_lab.experiments.experiment_run import engines_for, run_experiment
from tocsin_lab.experiments.outcome import Axis, Bar, Bars, Column, Line, Lines, Outcome, Plot, Table
from tocsin_lab.experiments.outcome_files import write_outcome
from tocsin_lab.experiments.progress import TimeLeft, progress
from tocsin_lab.experiments.table_texts import markdown, plain, print_table, shown

TABLE = Table(
    "A title",
    [Column("engine"), Column("an event", "ms"), Column("in the paper")],
    [["atree", 0.123456, "1.6"], ["dnf", None, "11.1 + 14.6"], ["scan", 1_234.5, "plotted only"]],
    ["a note"],
    "part",
)
PLOT = Plot(
    "A plot",
    [
        Lines(
            "(a)",
            Axis("rules", log=True),
            Axis("time", "ms", log=True),
            [Line("atree", [(1, 2), (10, 3)]), Line("bdd", [(1, 5), (10, 9)], frozenset([10]))],
            "bdd refuses rules from 10 on",
        ),
        Bars("(b)", "", Axis("time"), ["atree", "bdd"], [Bar("", [1, None])]),
        Bars("(c)", "depth", Axis("time"), ["1", "2"], [Bar("x", [1, 2]), Bar("y", [3, 4])], stacked=True),
        Bars("(d)", "", Axis("time", log=True), ["a", "b"], [Bar("ours", [1, 20]), Bar("other", [None, 4])]),
    ],
)
OUTCOME = Outcome([TABLE], [PLOT], ["how it was measured"])


def toy(measure=lambda run: OUTCOME, engines=()) -> Experiment:
    return Experiment(
        "toy", Paper.ATREE, "Figure 0", "nothing", "100 rules", 0.5, "no time", engines, measure
    )


def test_numbers_are_shown_with_the_digits_that_count():
    cells = (None, "refused", 12_345, 0.0012345, 12.345, 123.45, 12_345.6, 0.0)
    assert [shown(each) for each in cells] == [
        "",
        "refused",
        "12,345",
        "0.00123",
        "12.3",
        "123",
        "12,346",
        "0",
    ]


def test_a_plain_table():
    assert plain(TABLE).splitlines() == [
        "A title",
        "",
        "engine  an event, ms  in the paper",
        "------  ------------  ------------",
        "atree          0.123           1.6",
        "dnf                    11.1 + 14.6",
        "scan           1,234  plotted only",
        "  a note",
    ]


def test_a_table_without_rows():
    assert plain(Table("Nothing", [Column("a"), Column("b")], [])).splitlines()[2:] == ["a  b", "-  -"]


def test_nothing_is_cut_on_a_narrow_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "20")
    print_table(TABLE)
    out = capsys.readouterr().out
    assert "…" not in out
    for text in ("atree", "0.123", "1,234", "11.1 + 14.6", "a note"):
        assert text in out


def test_a_table_for_a_document():
    lines = markdown(TABLE).splitlines()
    assert lines[0] == "**A title**"
    assert lines[2:5] == [
        "| engine | an event, ms | in the paper |",
        "| --- | ---: | ---: |",
        "| atree | 0.123 | 1.6 |",
    ]
    assert lines[-1] == "a note"


def test_files_are_named_after_the_experiment_and_the_part(tmp_path):
    paths = write_outcome("toy", OUTCOME, tmp_path / "new")
    assert [path.name for path in paths] == ["toy-part.csv", "toy.png"]
    with paths[0].open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["engine", "an event, ms", "in the paper"]
    assert rows[1] == ["atree", "0.123456", "1.6"]
    assert rows[2][1] == ""
    assert paths[1].read_bytes().startswith(b"\x89PNG")


def test_an_engine_looks_the_same_in_every_plot():
    alone = png_plots._styles(["scan", "one", "two"])
    together = png_plots._styles(["two", "one", "atree", "scan"])
    assert alone["scan"] == together["scan"] == png_plots.ENGINE_STYLES["scan"]
    assert len({*together.values()}) == 4
    assert len(set(png_plots.ENGINE_STYLES.values())) == len(png_plots.ENGINE_STYLES)


def test_works_take_turns():
    done: list[str] = []
    works = {name: lambda name=name: done.append(name) for name in "ab"}
    taken = interleaved(works, 3)
    assert "".join(done) == "ababab"
    assert all(0 <= each.best <= each.median <= each.slowest for each in taken.values())
    assert Seconds.of([3, 1, 2]).scaled(10) == (10, 20, 30)
    assert timed(lambda: 7)[0] == 7


def test_a_run_has_the_experiments_defaults():
    runs: list[Run] = []

    def measure(run: Run) -> Outcome:
        runs.append(run)
        return OUTCOME

    outcome = run_experiment(toy(measure), None, 4, ())
    assert (runs[0].scale, runs[0].seed, runs[0].sized(1_000), runs[0].sized(10)) == (0.5, 4, 500, 100)
    assert outcome.notes == [
        "`tocsin bench toy --scale 0.5 --seed 4`; scale 1 is 100 rules.",
        "how it was measured",
    ]


def test_engines_are_those_asked_for():
    compares = toy(engines=("atree", "scan"))
    assert engines_for(compares, None) == ("atree", "scan")
    assert engines_for(compares, ["scan", "scan"]) == ("scan",)
    assert engines_for(toy(), ["scan"]) == ()
    with pytest.raises(UsageError, match="there is no engine 'x': choose from atree"):
        engines_for(compares, ["x"])


@pytest.mark.parametrize("largest", [5.0, 5_227.0])
def test_no_label_of_a_bar_meets_another(largest):
    bars = [Bar(name, [largest, largest - 1, largest - 2]) for name in ("FAI", "AAI", "FI", "YI")]
    up = Axis("tuple accesses", "thousands", log=True)
    panels = [Bars(rule, "", up, ["UCs", "UCl", "UCd"], bars) for rule in ("UC", "CF", "RT")]
    figure = png_plots.drawn(Plot("A plot", panels))
    figure.canvas.draw()
    boxes = [label.get_window_extent() for axes in figure.axes for label in axes.texts]
    assert len(boxes) == 36
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_progress_is_lines_without_a_terminal_and_a_bar_on_one(capsys):
    def measure(run: Run) -> Outcome:
        run.progress.steps(2)
        run.progress.step("one thing")
        run.progress.step("another")
        return OUTCOME

    run_experiment(toy(measure), None, 1, ())
    assert capsys.readouterr().err == "toy 1/2: one thing\ntoy 2/2: another\n"
    reading, writing = os.openpty()
    code = (
        "from tocsin_lab.experiments.progress import progress\n"
        "with progress('toy') as told:\n    told.steps(2)\n    told.step('one thing')"
    )
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    subprocess.run([sys.executable, "-c", code], stderr=writing, timeout=60, check=True, env=environment)
    drawn = os.read(reading, 100_000).decode()
    os.close(writing)
    os.close(reading)
    assert "one thing" in drawn
    assert "0/2" in drawn


def test_a_whisker_reaches_to_the_slowest_round_and_the_figure_stands_above_it():
    up = Axis("time", "ms")
    line = Line("atree", [(1, 2.0), (2, 3.0)], slowest=[5.0, 3.5])
    bars = Bars("(b)", "", up, ["a", "b"], [Bar("", [2.0, None], [6.0, None])])
    figure = png_plots.drawn(Plot("A plot", [Lines("(a)", Axis("rules"), up, [line]), bars]))
    figure.canvas.draw()
    reached = [
        [
            segment[:, 1].tolist()
            for lines in axes.collections
            if isinstance(lines, LineCollection)
            for segment in lines.get_segments()
        ]
        for axes in figure.axes
    ]
    assert reached == [[[2.0, 5.0], [3.0, 3.5]], [[2.0, 6.0], [0.0, 0.0]]]
    label = next(each for each in figure.axes[1].texts if each.get_text() == "2")
    assert figure.axes[1].transData.inverted().transform(label.get_window_extent())[0][1] >= 6.0


def test_the_time_that_is_left_follows_the_pace(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress_module, "SURE", 0.001)
    left = TimeLeft(600, clock=lambda: now[0])
    assert (round(left.seconds), str(left)) == (600, "about 10 min left")
    now[0], left.done = 200.0, 100.0
    assert round(left.seconds) == 1_000
    left.skipped = 300
    assert round(left.seconds) == 400
    left.done = 300
    assert str(left) == "less than a minute left"


def test_steps_that_were_done_before_do_not_count_for_the_pace(capsys):
    now = [0.0]
    left = TimeLeft(1_000, clock=lambda: now[0])
    with progress("toy", left, 400) as told:
        told.steps(4)
        told.skip(1)
        told.step("second")
        now[0] = 100.0
        told.step("third")
        assert (left.skipped, left.done) == (100, 100)
        told.skip(1)
    assert (left.skipped, left.done) == (200, 200)
    assert capsys.readouterr().err.splitlines() == [
        "toy 2/4, about 15 min left: second",
        "toy 3/4, about 13 min left: third",
    ]


def test_every_experiment_has_a_size_in_the_plan():
    assert set(written.PLAN) == set(catalogue.EXPERIMENTS)
    assert sum(each.seconds for each in written.PLAN.values()) < 2 * 3_600
    for number in range(7, 14):
        name = f"atree-figure{number}"
        size = DEFAULT.expressions if number > 9 else atree_sharing.ADS.expressions
        assert written.PLAN[name].scale * size >= 100_000
    assert round(SIZES[-1] * written.PLAN["atree-figure12"].scale) == 3_000_000


def test_every_experiment_of_the_second_paper_is_there():
    places = {
        each.place.split(" (")[0] for each in catalogue.EXPERIMENTS.values() if each.paper is Paper.ATREE
    }
    assert places == {*(f"Figure {number}" for number in range(7, 14)), "Table 4"}


def test_experiments_are_chosen_by_name():
    assert [each.name for each in catalogue.chosen(["atree-table4", "atree-figure7", "atree-table4"])] == [
        "atree-table4",
        "atree-figure7",
    ]
    assert catalogue.chosen(["all"]) == list(catalogue.EXPERIMENTS.values())
    with pytest.raises(UsageError, match="there is no experiment 'atree-tabel4': did you mean atree-table4"):
        catalogue.chosen(["atree-tabel4"])
    with pytest.raises(UsageError, match="--list names them"):
        catalogue.chosen(["x"])


def test_documents_are_given_tables_and_plots(tmp_path, monkeypatch):
    monkeypatch.setattr(written, "DOCUMENTS", tmp_path)
    monkeypatch.setattr(written, "PLOTS", tmp_path / "experiments")
    monkeypatch.setattr(written, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(written, "warm_up", lambda: None)
    monkeypatch.setattr(written, "chosen", lambda names: [toy()])
    called = []
    monkeypatch.setattr(written, "write_claims", lambda: called.append("claims"))
    page = tmp_path / "page.md"
    page.write_text("<!-- generated: toy -->\n<!-- end: toy -->\n")
    assert written.main(["toy=0.25"]) == 0
    text = page.read_text()
    assert called == ["claims"]
    assert "--scale 0.25" in text
    assert "| atree | 0.123 | 1.6 |" in text
    assert "![A plot](experiments/toy.png)" in text
    assert (tmp_path / "experiments" / "toy.png").exists()
