"""Nodes put together from each other: what `auto` estimates and chooses, and what is right.

Right is full where matching becomes quicker by a tenth or more, in blocks or one event at a time, and slower
by no more than a twentieth in the other way; everywhere else unique nodes, which are quicker to build.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa
from benchmarks.atree_workloads import Sizes
from benchmarks.measuring import say, timed

from tocsin.conditions.graph import CompiledIndex, compile_rules
from tocsin.conditions.graph.organisation import AUTO, FULL, UNIQUE
from tocsin.conditions.live import Index, bytes_for_matching
from tocsin.conditions.matching import Matcher
from tocsin.conditions.planner import Planner
from tocsin.events import batch_of_table
from tocsin.rules import Rules
from tocsin_lab import abe_gen, contracts
from tocsin_lab.atree.nested_conjunctions import NestedSetting, nested_events, nested_rules
from tocsin_lab.exchange import campaigns, visits
from tocsin_lab.experiments.clocks import interleaved

QUICKER = 1.1
SLOWER = 0.95


def organising(sizes: Sizes) -> list[dict[str, Any]]:
    """Each workload built both ways, the ways held to one answer, and timed in turn."""
    found = []
    for name, rules, events in _workloads(sizes):
        say(f"  {name}: {rules.num_rows:,} rules are built and timed")
        found.append({"workload": name, "rules": rules.num_rows, **_compared(rules, events, sizes)})
    return found


def _workloads(sizes: Sizes) -> Iterator[tuple[str, pa.Table, pa.Table]]:
    count, events = sizes.organised, sizes.events
    nested = NestedSetting(rules=count // 8)
    yield "nested conjunctions", nested_rules(nested), nested_events(nested, events)
    for depth in (1, 2, 3):
        setting = contracts.ContractSetting(contracts=count // 2, max_depth=depth)
        rules = contracts.rules_of(contracts.make_contracts(setting), contracts.STANDARD)
        yield f"contracts, depth {depth}", rules, contracts.table_of(contracts.make_visits(events))
    for depth in (2, 3):
        abe = abe_gen.Setting(expressions=count, depth=depth)
        yield f"random rules, depth {depth}", abe_gen.rules(abe), _abe_events(abe, events)
    ads = abe_gen.AdsSetting(expressions=count)
    yield "advertisements", abe_gen.rules(ads), _abe_events(ads, events)
    yield "advertising exchange", campaigns(count), visits(events)
    yield "like Sigma", *_sigma_like(count // 20, events)


def _abe_events(setting: abe_gen.Workload, events: int) -> pa.Table:
    return abe_gen.table_of(abe_gen.events(setting, events))


def _sigma_like(count: int, events: int) -> tuple[pa.Table, pa.Table]:
    """Rules on processes that begin: selections of patterns, some used again and again, and a filter."""
    rng = random.Random(count)
    tools = [f"tool{number}" for number in range(400)]

    def any_of(field: str, pattern: str, most: int) -> str:
        chosen = rng.sample(tools, rng.randint(1, most))
        return " or ".join(f"{field} ilike '{pattern.format(tool)}'" for tool in chosen)

    images = [any_of("Image", "%\\\\{}.exe", 6) for _ in range(150)]
    filters = [any_of("ParentImage", "C:\\\\Program Files\\\\{}%", 3) for _ in range(80)]
    whens = []
    for _ in range(count):
        parts = [f"({rng.choice(images)})"] if rng.random() < 0.8 else []
        parts += [f"({any_of('CommandLine', '% -{}%', 5)})" for _ in range(rng.randint(1, 3))]
        parts += [f"not ({rng.choice(filters)})"] if rng.random() < 0.4 else []
        whens.append(" and ".join(parts))
    rows = [
        {
            "Image": f"C:\\Windows\\{rng.choice(tools)}.exe",
            "CommandLine": f"{rng.choice(tools)}.exe -{' -'.join(rng.sample(tools, 4))} file",
            "ParentImage": f"C:\\{rng.choice(['Program Files', 'Windows'])}\\{rng.choice(tools)}.exe",
        }
        for _ in range(events)
    ]
    ids = [f"s{number}" for number in range(count)]
    return pa.table({"id": ids, "when": whens}), pa.Table.from_pylist(rows)


def _compared(rules: pa.Table, events: pa.Table, sizes: Sizes) -> dict[str, Any]:
    read = Rules.of(rules)
    compiled = {way: compile_rules(read, planner=Planner(organise=way)) for way in (UNIQUE, FULL)}
    auto = compile_rules(read, planner=Planner(organise=AUTO)).organisation
    rows = [_present(row) for row in events.slice(0, sizes.single_events).to_pylist()]
    ways = {way: _ways(each, events, rows) for way, each in compiled.items()}
    _hold(ways)
    times: dict[str, dict[str, float]] = {}
    for name, per in (("blocks", events.num_rows), ("single", len(rows))):
        taken = interleaved({way: each[name] for way, each in ways.items()}, 6 * sizes.repeat, per)
        times[name] = {way: seconds.best for way, seconds in taken.items()}
    gains = [times[name][UNIQUE] / times[name][FULL] for name in ("blocks", "single")]
    figures: dict[str, Any] = {
        way: {
            "edges": len(each.graph.child),
            "bytes": sum(bytes_for_matching(each).values()),
            "build": _building(read, way, sizes.repeat),
            **{name: times[name][way] for name in times},
        }
        for way, each in compiled.items()
    }
    pays = max(gains) >= QUICKER and min(gains) >= SLOWER
    return {
        **figures,
        "estimate": auto.estimate,
        "chosen": auto.chosen,
        "right": FULL if pays else UNIQUE,
    }


def _present(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}


def _ways(
    compiled: CompiledIndex, events: pa.Table, rows: list[dict[str, Any]]
) -> dict[str, Callable[[], Any]]:
    matcher, index = Matcher(compiled), Index(compiled)
    cells = batch_of_table(events, matcher.fields)
    return {
        "blocks": lambda: matcher.match_batch(cells, write=False).per_event.tolist(),
        "single": lambda: [len(index.match(row)) for row in rows],
    }


def _hold(ways: Mapping[str, Mapping[str, Callable[[], Any]]]) -> None:
    """The same matches, whichever way: or no time counts."""
    counts = ways[UNIQUE]["blocks"]()
    for each in ways.values():
        single = each["single"]()
        if each["blocks"]() != counts or single != counts[: len(single)]:
            sys.exit("organised ways differ")


def _building(rules: Rules, way: str, repeat: int) -> float:
    planner = Planner(organise=way)
    return timed(lambda: compile_rules(rules, planner=planner), min(3, repeat)).best
