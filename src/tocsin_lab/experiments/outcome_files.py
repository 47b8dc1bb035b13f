"""An experiment's tables as CSV and its plots as PNG, in a folder."""

from __future__ import annotations

import csv
from pathlib import Path

from tocsin_lab.experiments.outcome import Outcome, Table


def write_outcome(experiment: str, outcome: Outcome, folder: Path) -> list[Path]:
    """Write NAME.csv or NAME-TABLE.csv, and NAME.png or NAME-PLOT.png; what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for table in outcome.tables:
        written.append(_path(folder, experiment, table.name, ".csv"))
        write_csv(table, written[-1])
    return [*written, *write_plots(experiment, outcome, folder)]


def write_plots(experiment: str, outcome: Outcome, folder: Path) -> list[Path]:
    """Write the plots alone; what was written, in their order."""
    from tocsin_lab.experiments.png_plots import write_plot

    folder.mkdir(parents=True, exist_ok=True)
    paths = [_path(folder, experiment, plot.name, ".png") for plot in outcome.plots]
    for plot, path in zip(outcome.plots, paths, strict=True):
        write_plot(plot, path)
    return paths


def write_csv(table: Table, path: Path) -> None:
    """A heading and the rows, numbers with all their digits."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(column.heading for column in table.columns)
        writer.writerows(table.rows)


def _path(folder: Path, experiment: str, part: str, suffix: str) -> Path:
    return folder / f"{experiment}{'-' if part else ''}{part}{suffix}"
