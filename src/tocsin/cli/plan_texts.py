"""Plans of rules as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.printable import printable

if TYPE_CHECKING:
    from tocsin.conditions.planner.plan_report import RulePlan

_WIDEST = 70


def print_plan(plan: RulePlan) -> str:
    """A line for the rule and one for each of its conjuncts."""
    texts = [printable(each.text) for each in plan.conjuncts]
    width = min(_WIDEST, max(map(len, texts)))
    lines = [printable(plan.rule)]
    for each, text in zip(plan.conjuncts, texts, strict=True):
        truth = "" if each.actual is None else f"   true {_percent(each.actual)}"
        estimate = f"estimated {_percent(each.selectivity):<9}"
        lines.append(f"  {each.role:<10} {text:<{width}}   {estimate}{truth}".rstrip())
    return "\n".join(lines)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
