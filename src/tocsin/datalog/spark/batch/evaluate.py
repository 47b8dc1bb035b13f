"""Work out a program over DataFrames."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

from tocsin.datalog.language.syntax import TEXT_LIMIT
from tocsin.errors import InputError, UsageError
from tocsin.spark.failures import spark_failures

if TYPE_CHECKING:
    from tocsin.datalog.engine.program import Program
    from tocsin.datalog.language.syntax import Value
    from tocsin.datalog.spark.batch.component_plan import Decision
    from tocsin.datalog.spark.batch.evaluation_run import Run
    from tocsin.datalog.spark.batch.stored_frames import Frame, Storage

AIM = "work out the program"

LIMIT = 1_000_000_000
"""So many derived tuples are taken for a program that never ends."""

ONE_WORKER = 200_000
"""Components whose inputs have so many tuples, all together, are worked out in one worker."""

DERIVED_IN_ONE_WORKER = 5_000_000
"""So many tuples a single worker may derive; what derives more is worked out by all of them."""

ARCS = 20_000_000
"""So many arcs of a transitive closure every worker takes; more of them are split up first."""


class Evaluated(dict[str, DataFrame]):
    """Relations by name, as DataFrames. They are stored: looking at one does not work it out again."""

    def __init__(
        self, relations: Mapping[str, DataFrame], sizes: Mapping[str, int], how: list[Decision]
    ) -> None:
        super().__init__(relations)
        self.sizes = dict(sizes)
        """How many tuples each relation has."""
        self._how = how

    def explain(self) -> str:
        """How the relations were worked out: a line for each component, in their order, with its size."""
        return "\n".join(map(str, self._how))


def evaluate(
    program: Program | str | os.PathLike[str],
    relations: Mapping[str, DataFrame],
    *,
    local: Value | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    limit: int = LIMIT,
    text_limit: int = TEXT_LIMIT,
    one_worker: int = ONE_WORKER,
) -> Evaluated:
    """What a program derives from relations: its `.output` relations, all derived ones if there is none.

    `program` is a tocsin.Program or the path of one. The results are those of Program.start with the same
    facts: sets of tuples, in columns with the names of the declaration. A number is a bigint, an unsigned a
    decimal(20,0), a float a double and a symbol a string; given columns may also be of other integer types
    and of decimals without places. Columns go by name if the names are those of the declaration, else by
    position. Relations that are not given are empty, but for the facts that stand in the program; facts may
    be given to a relation that rules derive, too.

    It is worked out here and now, in Spark jobs, one component of the program after the other, and the result
    is stored: on the executors, so that it is lost with them, or as Parquet under the folder `checkpoint`,
    which all machines must see and which is the caller's to clear away. `local` is the address that located
    arguments are held to. More than `limit` derived tuples are an error, and so are rules
    that make more than `text_limit` bytes of texts in a task. Components whose inputs have at most
    `one_worker` tuples are worked out in a single task; 0 has Spark do everything by joins.

    InputError when a relation has other columns than its declaration, a null, a NaN, a number that is out of
    range, or a text that is not UTF-8; UsageError for a relation that is not declared; RuleError and
    DerivationError as without Spark.
    """
    from tocsin.datalog.engine.program import Program
    from tocsin.datalog.spark.batch.value_columns import given_back

    if not isinstance(program, Program):
        program = Program.read(program)
    session = _session_of(program, relations)
    run = prepared(
        session,
        program,
        program.outputs,
        local=local,
        checkpoint=None if checkpoint is None else os.fspath(checkpoint),
        limit=limit,
        text_limit=text_limit,
        one_worker=one_worker,
    )
    with spark_failures(AIM):
        for name, frame in _stored(program, relations, run.storage).items():
            run.give(name, frame)
        found = run.finish()
    return Evaluated(
        {name: given_back(frame.data, program.relations[name]) for name, frame in found.items()},
        {name: frame.rows or 0 for name, frame in found.items()},
        run.decisions,
    )


def prepared(
    session: SparkSession,
    program: Program,
    shown: Sequence[str],
    *,
    local: Value | None = None,
    checkpoint: str | None = None,
    limit: int = LIMIT,
    text_limit: int = TEXT_LIMIT,
    one_worker: int = ONE_WORKER,
) -> Run:
    """A program ready to be given facts and to be worked out, of which the relations `shown` are wanted."""
    from tocsin.datalog.engine.program import checked_limit
    from tocsin.datalog.machine.normaliser import normal_program
    from tocsin.datalog.spark.batch.evaluation_run import Run, Sizes
    from tocsin.datalog.spark.batch.stored_frames import Storage

    if isinstance(one_worker, bool) or not isinstance(one_worker, int) or one_worker < 0:
        raise UsageError(f"one_worker is a number of tuples, not {one_worker!r}")
    text_limit = checked_limit(text_limit, "text_limit", "bytes")
    sizes = Sizes(one_worker, DERIVED_IN_ONE_WORKER, ARCS, checked_limit(limit), text_limit)
    program.check_local(local)
    normal = normal_program(program.checked, local)
    return Run(session, normal, Storage(session, checkpoint), sizes, dict.fromkeys(shown))


def _session_of(program: Program, relations: Mapping[str, DataFrame]) -> SparkSession:
    """The session of the relations. Refuses what cannot be relations of this program."""
    from tocsin.datalog.engine.requests import unknown_relation
    from tocsin.spark.session import context_of, session

    if not isinstance(relations, Mapping):
        raise UsageError(f"relations are DataFrames by name, not {type(relations).__name__}")
    found: SparkSession | None = None
    for name, data in relations.items():
        if name not in program.relations:
            raise unknown_relation(name, program.relations)
        if not isinstance(data, DataFrame):
            raise UsageError(f"{name} is given as {type(data).__name__}: expected a Spark DataFrame")
        if data.isStreaming:
            raise UsageError(f"{name} is a stream: evaluate takes relations that are there as a whole")
        found = found or data.sparkSession
    found = found or session()
    context_of(found, "evaluate programs")
    return found


def _stored(program: Program, relations: Mapping[str, DataFrame], storage: Storage) -> dict[str, Frame]:
    """The relations, each read once, checked and counted."""
    from tocsin.datalog.spark.batch.value_columns import taken

    plans = {name: taken(program.relations[name], data) for name, data in relations.items()}
    return storage.store(plans, distinct=False, refuse=InputError)
