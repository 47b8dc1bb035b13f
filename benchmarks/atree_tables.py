"""The figures of the A-Tree benchmark as the tables and the plot of the documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.plots import log_plot
from benchmarks.tables import machine_note, markdown, milliseconds, percent, times

PLOT = "growth.svg"

Figures = Mapping[str, Any]


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """For each part that was measured its text, by the name of the place that it goes to."""
    return {
        f"atree-{name}": f"{table(results[name]['figures'])}\n\n{machine_note(results[name]['machine'])}"
        for name, table in TABLES.items()
        if name in results
    }


def scan_table(figures: Figures) -> str:
    rows = [
        *_matching_rows([figures]),
        ("best scan", [milliseconds(figures["scan"])]),
        ("**blocks beat the scan by**", [times(figures["scan"], figures["blocks"])]),
        ("**single events beat the scan by**", [times(figures["scan"], figures["single"])]),
    ]
    return markdown(["", "ABE-Gen's default setting"], rows)


def counts_table(figures: Figures) -> str:
    found = list(figures.values())
    other = [each["other_engine"] for each in found]
    rows = [
        *_matching_rows(found),
        ("the C engine, one event at a time", [milliseconds(each) for each in other]),
        ("**blocks beat it by**", [times(o, each["blocks"]) for o, each in zip(other, found, strict=True)]),
        (
            "**single events beat it by**",
            [times(o, each["single"]) for o, each in zip(other, found, strict=True)],
        ),
    ]
    return markdown(["", *(f"`{name}`" for name in figures)], rows)


def selectivity_table(figures: Figures) -> str:
    whole, thinned = figures["whole"], figures["thinned"]
    rows = _matching_rows([whole, thinned])
    quicker = markdown(
        ["the thinned events are faster by", ""],
        [
            ("in blocks, matches written", [times(whole["blocks"], thinned["blocks"])]),
            ("the pass alone", [times(whole["pass"], thinned["pass"])]),
        ],
    )
    return f"{markdown(['', 'events of 20 pairs', 'of their 5 rarest'], rows)}\n\n{quicker}"


def build_table(figures: Figures) -> str:
    found = list(figures.values())
    unique = [each["all"] for each in found]
    rows = [
        ("rules", [f"{each['rules']:,}" for each in found]),
        ("predicates of a rule", [f"{each['mean_predicates']:.1f}" for each in found]),
        *(
            (f"{phase.replace('_', ' ')}", [f"{each['phases'][phase]:.2f} s" for each in found])
            for phase in found[0]["phases"]
        ),
        ("**all**", [f"{each:.2f} s" for each in unique]),
        ("conditions a second", _rates(found, unique)),
    ]
    return markdown(["", *figures], rows)


def organise_table(figures: Sequence[Figures]) -> str:
    rows = [
        (
            each["workload"],
            [
                f"{each['rules']:,}",
                "few rules" if each["estimate"] is None else percent(each["estimate"]),
                each["chosen"],
                each["right"],
                *(f"{each['unique'][name] / each['full'][name]:.2f}" for name in ("blocks", "single")),
                *(f"{each['full'][name] / each['unique'][name]:.2f}" for name in ("edges", "bytes", "build")),
            ],
        )
        for each in figures
    ]
    head = [
        "",
        "rules",
        "estimate",
        "auto chooses",
        "right is",
        "full is faster in blocks, times",
        "one event at a time, times",
        "its edges of those of unique",
        "bytes",
        "seconds of building",
    ]
    wrong = [each["workload"] for each in figures if each["chosen"] != each["right"]]
    said = f"It was wrong on {', '.join(wrong)}." if wrong else "It was right on all of them."
    return f"{markdown(head, rows)}\n\n{said}"


def live_table(figures: Figures) -> str:
    found = list(figures.values())
    rows = [
        ("changes, one by one", [f"{each['updates']:,}" for each in found]),
        ("**inserts a second**", [f"{each['inserts_a_second']:,.0f}" for each in found]),
        ("**deletes a second**", [f"{each['deletes_a_second']:,.0f}" for each in found]),
        (
            "**changes a second with a match after each**",
            [f"{each['with_match_a_second']:,.0f}" for each in found],
        ),
        ("a match alone", [milliseconds(each["match_alone"]) for each in found]),
    ]
    return markdown(["", *(f"{each['rules']:,} rules" for each in found)], rows)


def memory_table(figures: Figures) -> str:
    rules = figures["rules"]
    matching, texts = figures["bytes_matching"], figures["bytes_texts"]
    uses = figures["uses"]
    rows = [
        ("rules", [f"{rules:,} ({figures['distinct_rules']:,} distinct)"]),
        ("predicates of a rule", [f"{figures['mean_predicates']:.1f}, at most {figures['most_predicates']}"]),
        ("distinct predicates", [f"{figures['distinct_predicates']:,}"]),
        ("uses at level 1 and at the last", [f"{uses[0]:.1f} and {uses[-1]:.1f}"]),
        ("matches an event", [_matches(figures)]),
        *((f"{name.replace('_', ' ')}", [_bytes_a_rule(value, rules)]) for name, value in matching.items()),
        ("**all that matching needs, a rule**", [_bytes_a_rule(sum(matching.values()), rules)]),
        *(
            (f"{name.replace('_', ' ')}, for rule() and explain()", [_bytes_a_rule(value, rules)])
            for name, value in texts.items()
        ),
        ("the saved file, texts included", [_bytes_a_rule(figures["file_bytes"], rules)]),
        ("in blocks, matches written", [milliseconds(figures["blocks"])]),
        ("one event at a time", [milliseconds(figures["single"])]),
    ]
    return markdown(["", "advertisements"], rows)


def growth_table(figures: Sequence[Figures]) -> str:
    rows = [
        (
            f"{each['rules']:,}",
            [
                _matches(each),
                f"{each['nodes_a_rule']:.2f}",
                f"{each['touched_a_rule']:.4f}",
                milliseconds(each["counted"]),
                f"{each['counted'] / each['rules'] * 1e9:.3f} ns",
            ],
        )
        for each in figures
    ]
    head = [
        "rules",
        "matches an event",
        "nodes a rule",
        "touched a rule",
        "an event, counted",
        "for each rule",
    ]
    return f"{markdown(head, rows)}\n\n![time per event over the number of rules]({PLOT})"


def growth_plot(figures: Sequence[Figures]) -> str:
    """Time per event over the number of rules."""
    return log_plot(
        "Time per event, matches counted and not written",
        "rules",
        "milliseconds an event",
        {"in blocks": [(each["rules"], 1_000 * each["counted"]) for each in figures]},
    )


def _matching_rows(found: Sequence[Figures]) -> list[tuple[str, list[str]]]:
    return [
        ("rules", [f"{each['rules']:,}" for each in found]),
        ("matches an event", [_matches(each) for each in found]),
        ("**in blocks**, matches written as rule numbers", [milliseconds(each["blocks"]) for each in found]),
        ("in blocks, counted only: the pass alone", [milliseconds(each["pass"]) for each in found]),
        ("in blocks, Arrow table in and out", [milliseconds(each["table"]) for each in found]),
        ("**one event at a time** (dictionary in)", [milliseconds(each["single"]) for each in found]),
    ]


def _matches(figures: Figures) -> str:
    return f"{figures['matches']:,.0f} ({percent(figures['matches'] / figures['rules'])})"


def _rates(found: Sequence[Figures], seconds: Sequence[float]) -> list[str]:
    return [f"{each['rules'] / taken:,.0f}" for each, taken in zip(found, seconds, strict=True)]


def _bytes_a_rule(count: int, rules: int) -> str:
    return f"{count / rules:,.1f} bytes ({count / 1e6:,.1f} MB)"


TABLES: dict[str, Callable[[Any], str]] = {
    "scan": scan_table,
    "counts": counts_table,
    "selectivity": selectivity_table,
    "build": build_table,
    "organise": organise_table,
    "live": live_table,
    "memory": memory_table,
    "growth": growth_table,
}
