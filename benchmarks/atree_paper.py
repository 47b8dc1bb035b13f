"""Figures 8, 9 and 10 of the A-Tree paper: what each of its ideas is worth.

    python -m benchmarks.atree_paper                  random rules, a few minutes
    python -m benchmarks.atree_paper --rules 5000     smaller, printed only

Figure 8 sets sharing and n-ary nodes against a scan, figure 9 adds the ideas of section 4 one after the
other, figure 10 those of section 5. All are timed on expression matching alone, as the paper's ideas are
about that: which predicates are true of each event is found beforehand, by tocsin itself. Before a time
counts, the number of matches of every event is held to that of tocsin.build.

Times are processor times of this one process on one core: of matching the best of several rounds, of
building one round, without reading the rules. Results are printed; those of the run without options also
go to benchmarks/results/atree_paper.json and atree_paper.md, and into the documents that have a place
for them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from benchmarks.measuring import machine_facts, say
from benchmarks.plain_scan import scan
from benchmarks.spine import DOCUMENTS, ROOT
from benchmarks.tables import markdown, milliseconds, write_into
from numpy.typing import NDArray

import tocsin
from tocsin.grammar.printing import print_predicate
from tocsin.index.atree_groups import Grouping
from tocsin.kernels.atree_updates import Groups
from tocsin.lab import abe_gen
from tocsin.lab.numbered_predicates import NumberedPredicates
from tocsin.lab.paper_atree import Design, PaperAtree, read_groups

RESULTS = ROOT / "benchmarks" / "results"

UNIQUE = Design(reorganise=False, self_adjust=False)
REORGANISED = Design(self_adjust=False)
NOTHING = UNIQUE._replace(sharing=False)
BUILT = Design()

FIGURE_8 = {
    "n-ary, nothing shared": NOTHING,
    "binary, shared": UNIQUE._replace(nary=False),
    "n-ary, shared": UNIQUE,
}
FIGURE_9 = {
    "no optimisation": NOTHING,
    "unique nodes": UNIQUE,
    "and reorganised": REORGANISED,
    "and self-adjusted": BUILT,
}
FIGURE_10 = {
    "no optimisation": BUILT._replace(zero_suppression=False, on_demand=False, lazy_stamps=False),
    "lazy stamps": BUILT._replace(zero_suppression=False, on_demand=False),
    "and zero suppression": BUILT._replace(on_demand=False),
    "and on demand, access child at random": BUILT._replace(access="random"),
    "and on demand, access child by selectivity": BUILT,
}
SHUFFLES = 3


@dataclass
class Workload:
    """Rules (id, when), events, and earlier events that selectivities are learnt from."""

    name: str
    rules: pa.Table
    events: pa.Table
    history: pa.Table


@dataclass
class Measured:
    """One design on one workload; times are seconds, of matching per event."""

    figure: str
    design: str
    match: float
    nodes_visited: float | None = None
    nodes: int | None = None
    edges: int | None = None
    bytes_growing: int | None = None
    bytes_frozen: int | None = None
    build: float | None = None


@dataclass
class Orders:
    """Edges of one design when the rules come in several orders."""

    design: str
    nodes: list[int]
    edges: list[int]


@dataclass
class Report:
    """All of one run."""

    machine: dict[str, str]
    workload: str
    rules: int
    events: int
    matches_per_event: float
    share_of_rules: float
    measured: list[Measured]
    orders: list[Orders]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="what each idea of the A-Tree paper is worth")
    parser.add_argument("--rules", type=int, default=40_000, metavar="N")
    parser.add_argument("--events", type=int, default=300, metavar="N")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="rounds of matching")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", tocsin.TocsinWarning)  # rules that name fields of no event are meant
    settings: dict[str, abe_gen.Workload] = {
        "rules of ABE-Gen's default setting": abe_gen.Setting(expressions=options.rules),
        "rules like advertisements": abe_gen.AdsSetting(expressions=options.rules),
    }
    reports = [
        measure(workload_of(name, setting, options.events), options.repeat)
        for name, setting in settings.items()
    ]
    print(*map(tables, reports), sep="\n\n")
    if options == parser.parse_args([]):
        write_down(reports)
    return 0


def workload_of(name: str, setting: abe_gen.Workload, events: int) -> Workload:
    made = abe_gen.table_of(abe_gen.events(setting, 1_000 + events))
    return Workload(name, abe_gen.rules(setting), made.slice(1_000), made.slice(0, 1_000))


# ---- Measuring


class Prepared:
    """A workload with what no design is to be timed on: groups of rules, and true predicates of events."""

    def __init__(self, workload: Workload) -> None:
        self.texts = workload.rules["when"].combine_chunks().cast(pa.large_string())
        self.predicates = NumberedPredicates()
        self._groups: dict[Grouping, Groups] = {}
        self.groups(Grouping())
        self.start, self.true_ref = true_references(self.predicates, workload.events)
        start, true_ref = true_references(self.predicates, workload.history)
        self.history = np.split(true_ref, start[1:-1])
        index: Any = tocsin.build(workload.rules)
        self.matches: list[int] = index.match_table(workload.events, count=True).per_event.to_pylist()

    def groups(self, grouping: Grouping) -> Groups:
        """The groups of all rules; those that are read together are counted together, so order is free."""
        if grouping not in self._groups:
            self._groups[grouping] = self.read(self.texts, grouping)
        return self._groups[grouping]

    def read(self, texts: pa.LargeStringArray, grouping: Grouping) -> Groups:
        parts = read_groups(texts, self.predicates, grouping)
        return joined([groups for _, groups in parts])


def joined(parts: Sequence[Groups]) -> Groups:
    """Several lots of groups as one."""
    whole = parts[0]
    for part in parts[1:]:
        before = len(whole.operator)
        operand = np.where(part.operand < 0, part.operand - before, part.operand)
        root = np.where(part.root < 0, part.root - before, part.root)
        whole = Groups(
            np.concatenate([whole.operator, part.operator]),
            np.concatenate([whole.operand_start, part.operand_start[1:] + whole.operand_start[-1]]),
            np.concatenate([whole.operand, operand]),
            np.concatenate([whole.root, root]),
        )
    return whole


def true_references(
    predicates: NumberedPredicates, events: pa.Table
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """For each event the references to predicates and negations that are true of it.

    Found by an index in which every predicate is a rule, and every negation.
    """
    texts = [print_predicate(each) for each in predicates.distinct]
    index: Any = tocsin.build(
        pa.table(
            {
                "id": [str(ref) for ref in range(2, 2 * len(texts) + 2)],
                "when": [f"{sign}({text})" for text in texts for sign in ("", "not ")],
            }
        )
    )
    found: pa.Table = index.match_table(events)
    event = found["event"].to_numpy()
    ref = found["rule"].cast(pa.int32()).to_numpy()
    start = np.searchsorted(event, np.arange(events.num_rows + 1))
    return start.astype(np.int64), ref


def measure(workload: Workload, repeat: int) -> Report:
    say(f"{workload.name}: {workload.rules.num_rows:,} rules are read, the answers found")
    prepared = Prepared(workload)
    warm(workload)
    known: dict[Design, Measured] = {}
    measured = [Measured("8", "scan", time_scan(prepared, repeat))]
    for figure, designs in (("8", FIGURE_8), ("9", FIGURE_9), ("10", FIGURE_10)):
        for name, design in designs.items():
            say(f"  figure {figure}: {name}")
            if design not in known:
                known[design] = measure_design(prepared, design, repeat)
            measured.append(replace(known[design], figure=figure, design=name))
    say("  figure 9: other orders of arrival")
    orders = [count_orders(prepared, name, FIGURE_9[name]) for name in list(FIGURE_9)[1:]]
    rules, events = workload.rules.num_rows, workload.events.num_rows
    per_event = sum(prepared.matches) / events
    return Report(
        machine_facts(), workload.name, rules, events, per_event, per_event / rules, measured, orders
    )


def warm(workload: Workload) -> None:
    """Compile what will be timed."""
    few = Prepared(
        Workload(
            "few", workload.rules.slice(0, 50), workload.events.slice(0, 5), workload.history.slice(0, 5)
        )
    )
    time_scan(few, 1)
    for design in (*FIGURE_8.values(), *FIGURE_9.values(), *FIGURE_10.values()):
        measure_design(few, design, 1)


def grown(prepared: Prepared, design: Design, groups: Groups) -> tuple[PaperAtree, float]:
    """The tree of some groups, and the seconds that it took."""
    atree = PaperAtree(design=design)
    atree.predicates = prepared.predicates
    rules = [str(number) for number in range(len(groups.root))]
    start = time.process_time()
    atree.insert_groups(rules, groups)
    return atree, time.process_time() - start


def measure_design(prepared: Prepared, design: Design, repeat: int) -> Measured:
    atree, build = grown(prepared, design, prepared.groups(design.grouping))
    atree.observe(prepared.history)
    matcher = atree.matcher()
    always = int((atree.roots == -1).sum())
    matches, visited = matcher.count(prepared.start, prepared.true_ref)
    hold_to(prepared, (matches + always).tolist(), str(design))
    return Measured(
        "",
        "",
        best(lambda: matcher.count(prepared.start, prepared.true_ref), repeat) / len(prepared.matches),
        float(visited.mean()),
        len(atree.atree),
        atree.atree.edges,
        sum(atree.atree.bytes_used.values()),
        matcher.bytes_of_matching,
        build,
    )


def count_orders(prepared: Prepared, name: str, design: Design) -> Orders:
    found = Orders(name, [], [])
    for seed in range(SHUFFLES):
        order = np.random.default_rng(seed).permutation(len(prepared.texts))
        texts = prepared.texts.take(pa.array(order))
        atree, _ = grown(prepared, design, prepared.read(texts, design.grouping))
        found.nodes.append(len(atree.atree))
        found.edges.append(atree.atree.edges)
    return found


def best(work: Callable[[], object], repeat: int) -> float:
    taken = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def hold_to(prepared: Prepared, matches: list[int], name: str) -> None:
    if matches != prepared.matches:
        sys.exit(f"{name}: the numbers of matches are not those of tocsin.build")


# ---- The scan


def time_scan(prepared: Prepared, repeat: int) -> float:
    """Seconds an event of evaluating every rule by itself."""
    groups = prepared.groups(Grouping(zero_suppression=False, sharing=False))
    events = len(prepared.matches)
    matches = np.zeros(events, np.int64)
    truth = np.zeros(2 * (len(prepared.predicates.distinct) + 1), np.int8)

    def work() -> None:
        scan(groups, prepared.start, prepared.true_ref, truth, matches)

    work()
    hold_to(prepared, matches.tolist(), "scan")
    return best(work, repeat) / events


# ---- Writing it down


def write_down(reports: Sequence[Report]) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "atree_paper.json").write_text(json.dumps(list(map(asdict, reports)), indent=1) + "\n")
    write_into(DOCUMENTS, {"atree-paper": "\n\n".join(map(tables, reports))})


def tables(report: Report) -> str:
    """The three figures as tables, and what they were measured on."""
    facts = report.machine
    note = (
        f"{report.rules:,} {report.workload}, {report.events:,} events; {report.matches_per_event:,.0f} "
        f"matches an event ({100 * report.share_of_rules:.1f} % of the rules). Processor time of expression "
        f"matching per event on one core of {facts['cores']} ({facts['processor']}), best of several; "
        f"Python {facts['python']}, Numba {facts['numba']}. Every design gave the numbers of matches of "
        "`tocsin.build`. The growing tree is what inserts and deletes work on, the frozen one its copy for "
        "matching."
    )
    sections = [
        ("Figure 8: sharing and n-ary nodes", figure(report, "8")),
        ("Figure 9: building", figure(report, "9")),
        ("Figure 9: edges when the rules come in other orders", order_table(report)),
        ("Figure 10: matching", figure(report, "10")),
    ]
    return "\n\n".join([note, *(f"**{title}**\n\n{table}" for title, table in sections)])


def figure(report: Report, number: str) -> str:
    rows = [each for each in report.measured if each.figure == number]
    slowest = rows[0].match
    return markdown(
        [
            "",
            "time an event",
            "times faster than the first",
            "nodes visited",
            "nodes",
            "edges",
            "growing tree",
            "frozen tree",
            "build",
        ],
        [
            (
                each.design,
                [
                    milliseconds(each.match),
                    f"{slowest / each.match:.1f}",
                    said(each.nodes_visited, "{:,.0f}"),
                    said(each.nodes, "{:,}"),
                    said(each.edges, "{:,}"),
                    megabytes(each.bytes_growing),
                    megabytes(each.bytes_frozen),
                    said(each.build, "{:.2f} s"),
                ],
            )
            for each in rows
        ],
    )


def order_table(report: Report) -> str:
    return markdown(
        ["", "nodes", "edges, fewest", "edges, most", "apart by"],
        [
            (
                each.design,
                [
                    f"{max(each.nodes):,}"
                    if len(set(each.nodes)) == 1
                    else f"{min(each.nodes):,}-{max(each.nodes):,}",
                    f"{min(each.edges):,}",
                    f"{max(each.edges):,}",
                    f"{100 * (max(each.edges) / min(each.edges) - 1):.2f} %",
                ],
            )
            for each in report.orders
        ],
    )


def megabytes(count: int | None) -> str:
    return "" if count is None else f"{count / 1e6:.2f} MB"


def said(value: Any, how: str) -> str:
    return "" if value is None else how.format(value)


if __name__ == "__main__":
    sys.exit(main())
