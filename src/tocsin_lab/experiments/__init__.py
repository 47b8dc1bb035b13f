"""The papers' tables and figures, measured again: `tocsin bench`. The files, in reading order:

experiment      what an experiment is, and what one run of it is given
outcome         what it gives back: tables, and plots as data
timing          clocks, and what a run was made on
doors           engines by name: built, timed and held to one answer
progress        who is told how far a run is
showing         tables for a terminal, for a pipe and for a document
plotting        plots as PNG; the only matplotlib
files           CSV and PNG in a folder
catalogue       every experiment by its name
dewey_...       those of the Dewey and Interval paper, on contracts
atree_...       those of the A-Tree paper
yield_...       those of the Yield-index paper, on its rules and data sets
"""

from __future__ import annotations
