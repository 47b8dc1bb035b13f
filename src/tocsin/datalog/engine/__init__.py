"""Programs over several relations, run live or once: what users hold, over the activation index.

program.py             a program, read and checked; started as an engine, or run once
engine.py              facts come and go, each change says what follows
changes.py             what a change brought about
machines.py            the machine below, made anew where that is shorter than following a change
why.py                 one derivation of a tuple, or what is missing for it
engine_file.py         an engine in one file; journalled_engine.py: one that survives a kill
fact_files.py          facts from files, result_files.py: relations to files, confinement.py: which files

Promised: a change is made whole or not at all, also when it fails or is interrupted. Begin with program.py
and engine.py.
"""
