"""Work out a program over DataFrames."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from tocsin.errors import InputError, TocsinError, UsageError

if TYPE_CHECKING:
    from tocsin.grammar.datalog.syntax import Value
    from tocsin.monitor.programs.program import Program
    from tocsin.spark.evaluation.planning import Decision
    from tocsin.spark.evaluation.storing import Frame, Storage

LIMIT = 1_000_000_000
"""So many derived tuples are taken for a program that never ends."""

ONE_WORKER = 200_000
"""Components whose inputs have so many tuples, all together, are worked out in one worker."""

DERIVED_IN_ONE_WORKER = 10_000_000
"""So many tuples a single worker may derive; what derives more is worked out by all of them."""


class Evaluated(dict[str, DataFrame]):
    """The relations of a program, by name. `explain()` says how they were worked out."""

    def __init__(self, relations: Mapping[str, DataFrame], decisions: list[Decision]) -> None:
        super().__init__(relations)
        self._decisions = decisions

    def explain(self) -> str:
        """A line for each component, in the order in which they were worked out."""
        return "\n".join(map(str, self._decisions))


def evaluate(
    program: Program | str | os.PathLike[str],
    relations: Mapping[str, DataFrame],
    *,
    local: Value | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    limit: int = LIMIT,
    one_worker: int = ONE_WORKER,
) -> Evaluated:
    """The `.output` relations of a program (all derived ones, if there is none), as DataFrames."""
    from tocsin.monitor.programs.locations import check_local
    from tocsin.monitor.programs.program import Program, checked_limit

    if not isinstance(program, Program):
        program = Program.read(program)
    session = _session(relations)
    check_local(program.checked, local)
    return _evaluated(session, program, relations, local, None if checkpoint is None else os.fspath(checkpoint), checked_limit(limit), one_worker)


def _evaluated(session, program, relations, local, checkpoint, limit, one_worker):
    from tocsin.index.activation.normalising import normal_program
    from tocsin.spark.evaluation.running import Run, Sizes
    from tocsin.spark.evaluation.storing import Storage
    from tocsin.spark.evaluation.values import given_back

    storage = Storage(session, checkpoint)
    normal = normal_program(program.checked, local)
    try:
        given = _stored(program, relations, storage)
        sizes = Sizes(one_worker, DERIVED_IN_ONE_WORKER, 20_000_000, limit)
        run = Run(session, normal, storage, sizes, given, program.outputs)
        run.finish()
    except (PySparkException, Py4JError) as error:
        from tocsin.spark.files import last_line
        raise TocsinError(f"Spark could not evaluate the program: {last_line(str(error))}") from error
    shown = {
        name: given_back(run.frames[name].once(), program.relations[name]) for name in program.outputs
    }
    return Evaluated(shown, run.decisions)


def _stored(program: Program, relations: Mapping[str, DataFrame], storage: Storage) -> dict[str, Frame]:
    from tocsin.monitor.programs.requests import unknown_relation
    from tocsin.spark.evaluation.values import taken

    for name in relations:
        if name not in program.relations:
            raise unknown_relation(name, program.relations)
    plans = {name: taken(program.relations[name], data) for name, data in relations.items()}
    stored = storage.store(plans, distinct=False)
    if stored.failure is not None:
        raise InputError(stored.failure)
    return stored.frames


def _session(relations: Mapping[str, DataFrame]) -> SparkSession:
    for data in relations.values():
        if isinstance(data, DataFrame):
            return data.sparkSession
    from tocsin.spark.session import session

    return session()
