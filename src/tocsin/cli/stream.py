"""`tocsin stream`: events as they come, past rules that may change, into sinks."""

from __future__ import annotations

import argparse
import contextlib
import logging
import re
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.cli.console import say, say_if_compiling, warn
from tocsin.cli.rule_sources import RULES_OR_INDEX, files_of, saved_index
from tocsin.cli.text_options import add_text_arguments, preparation_of, refuse_for_index
from tocsin.errors import InputError, TocsinError, need_extra
from tocsin.printable import number_of, printable

if TYPE_CHECKING:
    from tocsin.spark.stream.micro_batch import BatchReport
    from tocsin.spark.stream.stream import Stream

SUMMARY = "match events as they come"
DESCRIPTION = """\
Matches the events of a source as they come, and sends an alert for each match into one or more sinks, until
it is stopped: Ctrl-C ends it after the batch at work, a second one at once. Started again it goes on where
it was, exactly once into folders and PostgreSQL, however it ended. The rules are looked at before every
batch: a new version is taken up without a restart, a broken one is reported and refused."""
EXAMPLES = """\
examples:
  tocsin stream rules/ --source visits/ --sink alerts/
  tocsin stream rules.sql --source visits/ --sink console: --once
  tocsin stream rules/ --source visits/ --sink jsonl:alerts --key id --time at --keep user --every '5 seconds'
  tocsin stream rules/ --source kafka://localhost:9092/visits --sink kafka://localhost:9092/alerts \\
      --checkpoint state --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0
"""

_LOOK_SECONDS = 0.2
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("rules", nargs="+", metavar="RULES_OR_INDEX", help=RULES_OR_INDEX)
    parser.add_argument(
        "--source",
        required=True,
        metavar="URI",
        help="where events come from: a folder that files are put into, kafka://HOST:PORT/TOPIC,"
        " postgresql://USER@HOST/DATABASE?tables=TABLE,...",
    )
    parser.add_argument(
        "--sink",
        required=True,
        action="append",
        metavar="URI",
        help="where alerts go, repeated for several: a folder (Parquet), jsonl:FOLDER, console:,"
        " kafka://HOST:PORT/TOPIC, postgresql://USER@HOST/DATABASE?table=TABLE, https://HOST/PATH",
    )
    parser.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        help="where it is written down what is done (default: beside the first folder among the sinks,"
        " NAME.checkpoint)",
    )
    parser.add_argument(
        "--key", metavar="FIELD", help="the field that names an event (default: its place in the source)"
    )
    parser.add_argument(
        "--time", metavar="FIELD", help="the field with the time of an event (default: that of its batch)"
    )
    parser.add_argument(
        "--keep",
        nargs="+",
        action="extend",
        default=[],
        metavar="FIELD",
        help="top-level fields of the events that alerts carry",
    )
    parser.add_argument(
        "--rejects",
        metavar="FOLDER",
        help="where records that are not events go (default: rejects in the checkpoint)",
    )
    when = parser.add_mutually_exclusive_group()
    when.add_argument("--once", action="store_true", help="end when all that is there has been through")
    when.add_argument(
        "--every", metavar="TIME", help="how often to look for events, such as '5 seconds' (default: always)"
    )
    parser.add_argument(
        "--learn",
        action="store_true",
        help="count the words of each batch's documents into the dictionaries of the next batch",
    )
    parser.add_argument(
        "--packages",
        metavar="NAMES",
        help="packages for Spark to fetch with all they need, by their Maven names, with commas between:"
        " Kafka's connector",
    )
    parser.add_argument(
        "--jars", nargs="+", default=[], metavar="FILE", help="the same as files: .jar, or folders of them"
    )
    add_text_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Start the stream, and wait until it ends or is stopped."""
    need_extra("tocsin stream", "spark", "pyspark", "pandas")
    if any(each.startswith("postgresql:") for each in (arguments.source, *arguments.sink)):
        need_extra("PostgreSQL as a source or a sink", "postgres", "psycopg")
    from tocsin.spark.stream.stream import milliseconds_of

    if arguments.every is not None:
        milliseconds_of(arguments.every)  # what is wrong with it is told before Spark is started
    jars = _jars(arguments.jars)
    saved = saved_index(arguments.rules)
    if saved is not None:
        refuse_for_index(arguments, saved)
    if not _SCHEME.match(arguments.source) and not Path(arguments.source.partition("?")[0]).is_dir():
        raise InputError(f"{arguments.source}: there is no such folder")
    files_of(arguments.rules)
    preparation = preparation_of(arguments)
    say_if_compiling()
    from tocsin.spark.session import session
    from tocsin.spark.stream.stream import stream
    from tocsin.warmup import warm_up

    say("Starting Spark" + (f", with {arguments.packages}" if arguments.packages else ""))
    warm_up()
    for name in ("py4j", "pyspark"):  # what they log of a stopped stream is no news to anybody
        logging.getLogger(name).setLevel(logging.CRITICAL)
    config = {"spark.ui.showConsoleProgress": "false"}
    if arguments.packages is not None:
        config["spark.jars.packages"] = arguments.packages
    if jars:
        config["spark.jars"] = ",".join(jars)
    spark = session("local[*,4]", config=config)  # a worker that dies is replaced, and its task done again
    with _interrupts() as interrupts:
        started = stream(
            arguments.source,
            arguments.rules,
            arguments.sink,
            checkpoint=arguments.checkpoint,
            key=arguments.key,
            time=arguments.time,
            keep=arguments.keep,
            rejects=arguments.rejects,
            every=arguments.every,
            once=arguments.once,
            learn=arguments.learn,
            session=spark,
            preparation=preparation,
            listener=_Messages(),
        )
        say(started.explain())
        _wait(started, interrupts)
    return 0


def _jars(given: Sequence[str]) -> list[str]:
    """The files that are named; InputError when there is one that is not there."""
    found: list[Path] = []
    for path in map(Path, given):
        some = sorted(path.glob("*.jar")) if path.is_dir() else [path] if path.is_file() else []
        if not some:
            raise InputError(f"{path}: there is no such file, or no .jar in it")
        found += some
    return [str(path.absolute()) for path in found]


class _Messages:
    """Tells on standard error what happens: a line for each batch."""

    def batch(self, report: BatchReport) -> None:
        """A line."""
        again = " (again)" if report.again else ""
        dictionary = "" if report.dictionary is None else f", dictionary version {report.dictionary}"
        rejects = f", {number_of(report.rejects, 'reject')}" if report.rejects else ""
        say(
            f"batch {report.batch}{again}: {number_of(report.events, 'event')},"
            f" {number_of(report.matches, 'match', 'matches')}{rejects},"
            f" rules version {report.version}{dictionary}, {report.seconds:.1f} s"
        )

    def refused(self, errors: Sequence[TocsinError]) -> None:
        """Every error."""
        warn("the rules have changed and are refused; those before go on")
        for error in errors:
            say(str(error))

    def warn(self, text: str) -> None:
        """A warning."""
        warn(text)


class _Interrupts:
    """Counts Ctrl-C, and the request to end that a service manager sends.

    While the stream starts, which can take as long as a server likes, the second ends it at once.
    """

    def __init__(self) -> None:
        self.count = 0
        self.is_starting = True

    def note(self, *_signal: object) -> None:
        """One more."""
        self.count += 1
        if self.is_starting and self.count > 1:
            raise KeyboardInterrupt


@contextlib.contextmanager
def _interrupts() -> Iterator[_Interrupts]:
    """Note interrupts while the block runs, in the place of Spark's handler, which cancels what runs."""
    noted = _Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield noted
        return
    before = {each: signal.signal(each, noted.note) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield noted
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _wait(started: Stream, interrupts: _Interrupts) -> None:
    """Until it ends; the first interrupt stops it after the batch at work, the second at once."""
    interrupts.is_starting = False
    while not interrupts.count:
        if started.wait(_LOOK_SECONDS):
            return
    say("Stopping after this batch (once more Ctrl-C stops it at once)")
    stopping = threading.Thread(target=started.stop, daemon=True)
    stopping.start()
    while stopping.is_alive():
        stopping.join(_LOOK_SECONDS)
        if interrupts.count > 1:
            started.stop(at_once=True)
            break
    say(f"Stopped; it goes on from {printable(str(started.checkpoint))} when it is started again")
