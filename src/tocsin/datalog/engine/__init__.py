"""Programs over several relations, run live or once: what users hold, over the activation index.

program.py             a program, read and checked; started as an engine, or run once
engine.py              facts come and go, each change says what follows
changes.py             what a change brought about
machines.py            the machine below, made anew where that is shorter than following a change
why.py                 one derivation of a tuple, or what is missing for it
engine_file.py         an engine in one file; journalled_engine.py: one that survives a kill
fact_files.py          facts from files, result_files.py: relations to files, confinement.py: which files

Promised: a change is made whole or not at all, also when it fails or is interrupted. Begin with program.py
and engine.py. Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.datalog.engine.base_facts import first_state
    from tocsin.datalog.engine.changes import Changes
    from tocsin.datalog.engine.confinement import check_transfers
    from tocsin.datalog.engine.engine import Engine
    from tocsin.datalog.engine.engine_file import engine_of_arrays
    from tocsin.datalog.engine.fact_files import BadLine, OnBadLine, read_facts, refuse
    from tocsin.datalog.engine.fact_journal import JournalState
    from tocsin.datalog.engine.journalled_engine import open_journalled
    from tocsin.datalog.engine.machines import facts_of
    from tocsin.datalog.engine.program import DERIVED_LIMIT, Program, checked_limit
    from tocsin.datalog.engine.program_warmup import is_warm, warm_up
    from tocsin.datalog.engine.result_files import print_result, result_path, write_result
else:
    __getattr__ = door(__name__)
