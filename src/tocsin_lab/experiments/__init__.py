"""The papers' tables and figures, measured again: `tocsin bench`. The files, in reading order:

experiment.py       what an experiment is, and what one run of it is given
experiment_run.py   one run, from its name to its outcome
outcome.py          what it gives back: tables, and plots as data
clocks.py           clocks, and what a run was made on
doors.py            engines by name: built, timed and held to one answer
event_steps.py      reading an event and matching it, timed apart
kept_outcomes.py    what was measured, kept as JSON: a run that was stopped goes on
progress.py         who is told how far a run is
table_texts.py      tables for a terminal, for a pipe and for a document
png_plots.py        plots as PNG; the only matplotlib
outcome_files.py    CSV and PNG in a folder
catalogue.py        every experiment by its name
dewey_*.py          those of the Dewey and Interval paper, on contracts
atree_*.py          those of the A-Tree paper
yield_*.py          those of the Yield-index paper, on its rules and data sets

docs/papers.md has, section by section, which experiment measures what of a paper. Begin with experiment.py.
"""

from __future__ import annotations
