"""The figures of the text benchmark as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.tables import machine_note, markdown, milliseconds, times


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """A table for each part that was measured, by the name of its place in the documents."""
    makers: dict[str, Callable[[Any], str]] = {
        "matching": _matching,
        "mixed": _mixed,
        "adding": _adding,
        "selective": _selective,
    }
    return {
        f"text-{part}": f"{maker(results[part]['figures'])}\n\n{_note(results[part]['machine'])}"
        for part, maker in makers.items()
        if part in results
    }


def _note(machine: Mapping[str, str]) -> str:
    return machine_note(machine).replace("best of several", "all threads counted")


def _matching(figures: list[dict[str, Any]]) -> str:
    names = figures[0]["baselines"]
    fastest = [min(each["baselines"].values()) for each in figures]
    rows = [
        ("matches a document", [f"{each['matches']:,.1f}" for each in figures]),
        ("candidates for each match", [f"{each['candidates']:.2f}" for each in figures]),
        ("**tocsin**, a document", [milliseconds(each["tocsin"]) for each in figures]),
        *(
            (f"{name}, a document", [milliseconds(each["baselines"][name]) for each in figures])
            for name in names
        ),
        (
            "**tocsin beats the faster baseline by**",
            [times(best, each["tocsin"]) for best, each in zip(fastest, figures, strict=True)],
        ),
        ("documents a second, tocsin", [f"{1 / each['tocsin']:,.0f}" for each in figures]),
        ("documents a second, the faster baseline", [f"{1 / best:,.0f}" for best in fastest]),
    ]
    return markdown(["standing queries", *(f"{each['queries']:,}" for each in figures)], rows)


def _mixed(figures: dict[str, Any]) -> str:
    ways = figures["ways"]
    chosen = ways["auto"]
    names = {
        "auto": "**the optimiser's choice**",
        "structured": "always the equality",
        "text": "always the text",
    }
    rows = [
        (
            names[way],
            [
                milliseconds(each["whole"]),
                milliseconds(each["matching"]),
                "" if way == "auto" else times(each["matching"], chosen["matching"]),
            ],
        )
        for way, each in ways.items()
    ]
    head = ["way into a rule", "an event", "without reading and cutting", "the optimiser is faster by"]
    said = f"{figures['rules']:,} rules, {figures['events']:,} events, {figures['matches']:,.1f} matches an event."
    return f"{markdown(head, rows)}\n\n{said}"


def _adding(figures: dict[str, Any]) -> str:
    rules = f"{figures['rules']:,}"
    rows = [
        (f"`tocsin.build` of {rules} text rules", [f"{figures['build']:.2f} s"]),
        (
            f"`index.apply` of {rules} insertions into an index of {figures['in_use']:,}",
            [f"{figures['apply']:.2f} s"],
        ),
        ("the first match after it", [f"{figures['first_match']:.2f} s"]),
    ]
    return markdown(["", "taken"], rows)


def _selective(figures: dict[str, Any]) -> str:
    both = [figures["all words"], figures["selective"]]
    rows = [
        ("postings", [f"{each['postings']:,}" for each in both]),
        ("candidates a document", [f"{each['candidates']:,.0f}" for each in both]),
        ("matches a document", [f"{each['matches']:,.0f}" for each in both]),
        ("a document", [milliseconds(each["seconds"]) for each in both]),
    ]
    return markdown([f"{figures['queries']:,} lists of words", "every word indexed", "selective"], rows)
