"""The figures of the text benchmark as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.tables import machine_note, markdown, milliseconds, times
from benchmarks.text.baselines import Together


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """A table for each part that was measured, by the name of its place in the documents."""
    makers: dict[str, Callable[[Any], str]] = {
        "matching": _matching,
        "mixed": _mixed,
        "adding": _adding,
        "selective": _selective,
    }
    return {
        f"text-{part}": f"{maker(results[part]['figures'])}\n\n{repeated_note(results[part]['machine'])}"
        for part, maker in makers.items()
        if part in results
    }


def repeated_note(machine: Mapping[str, str]) -> str:
    """What means of many repetitions were measured on."""
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
        (f"{Together.name}, a document", [milliseconds(each["together"]) for each in figures]),
        ("tocsin beats that by", [times(each["together"], each["tocsin"]) for each in figures]),
        ("documents a second, tocsin", [f"{1 / each['tocsin']:,.0f}" for each in figures]),
        ("documents a second, the faster baseline", [f"{1 / best:,.0f}" for best in fastest]),
    ]
    return markdown(["standing queries", *(f"{each['queries']:,}" for each in figures)], rows)


def _mixed(figures: dict[str, Any]) -> str:
    kinds = figures["kinds"].values()
    chosen = [kind["ways"]["auto"]["matching"] for kind in kinds]
    names = {
        "auto": "**the optimiser's choice**, an event",
        "structured": "always the equality",
        "text": "always the text",
    }
    rows = [("matches an event", [f"{kind['matches']:,.1f}" for kind in kinds])]
    for way, name in names.items():
        taken = [kind["ways"][way]["matching"] for kind in kinds]
        rows.append((name, [milliseconds(each) for each in taken]))
        if way != "auto":
            faster = [times(each, best) for each, best in zip(taken, chosen, strict=True)]
            rows.append(("**the optimiser is faster by**", faster))
    rows.append(("cutting into words, taken off", [milliseconds(figures["cutting"]) for _ in kinds]))
    return markdown([f"{figures['rules']:,} rules", "texts of their own", "texts in common"], rows)


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
        ("queries reached, a document", [f"{each['reached']:,.0f}" for each in both]),
        ("matches a document", [f"{each['matches']:,.0f}" for each in both]),
        ("a document", [milliseconds(each["seconds"]) for each in both]),
    ]
    return markdown([f"{figures['queries']:,} lists of words", "every word indexed", "selective"], rows)
