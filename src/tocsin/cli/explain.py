"""`tocsin explain`: why a rule matches an event, or why not."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.cli.destinations import STANDARD
from tocsin.cli.event_inputs import add_events_argument
from tocsin.cli.output import add_format_argument, as_members, painted, print_json
from tocsin.cli.rule_sources import RULES_OR_INDEX, no_such_rule, saved_index
from tocsin.cli.text_options import add_text_arguments, preparation_of, refuse_for_index, text_settings_of
from tocsin.errors import EventError, InputError, UsageError, raise_all
from tocsin.printable import printable

if TYPE_CHECKING:
    from tocsin.conditions.live import Explanation, Preparation
    from tocsin.conditions.planner import ConjunctPlan, RulePlan
    from tocsin.events import EventSource
    from tocsin.watches import TriggerPlan

SUMMARY = "show why a rule matches an event, or why not; or how rules are found"
DESCRIPTION = """\
With --event: prints the rule's condition with the truth of each of its parts on one event, and the values
they saw; for free text the words that were found, what they weigh, and what was missing. Exit code 0
whether it matches or not. The event of a trigger over several tables is an object with a row for each
alias, as `tocsin match` writes the rows of an alert.

With --plan: prints for each rule which of its conjuncts is its way in, which others are asked and when,
and for how many events each is estimated to hold; of a trigger over several tables that for each table,
what joins the rows, and what is asked of joined rows. --analyze counts over events."""
EXAMPLES = """\
examples:
  tocsin explain rules/ --rule adults --event '{"age": 31, "state": "CA"}'
  tocsin explain rules.tocsin --rule adults --event @event.json
  tocsin explain rules/ --plan --history statistics/
  tocsin explain rules/ --plan --rule adults --analyze --events visits.jsonl
  tocsin explain video.sql --rule JordanGolf --event '{"v": {"vid": 7}, "b": {"vid": 7, "name": "Bob"}}'
  tocsin explain video.sql --plan --analyze --events video=video.csv --events viewed_by=comments.jsonl
"""

_TRUTH = re.compile(r"  (true|false|unknown)(?= )")
_STYLES = {"true": "good", "false": "bad", "unknown": "odd"}
_WIDEST = 70


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("rules", nargs="+", metavar="RULES_OR_INDEX", help=RULES_OR_INDEX)
    parser.add_argument("--rule", metavar="ID", help="the id of the rule")
    parser.add_argument(
        "--event",
        metavar="JSON",
        help="the event, a JSON object; @FILE reads it from a file, - from standard input",
    )
    parser.add_argument("--plan", action="store_true", help="show how rules are found")
    parser.add_argument("--analyze", action="store_true", help="with --plan: count over --events")
    add_events_argument(
        parser,
        "; with --analyze. TABLE=FILE, several times, for a trigger over several tables",
        required=False,
    )
    add_format_argument(parser)
    add_text_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the explanation, or the plans."""
    if arguments.plan:
        return _run_plan(arguments)
    if arguments.rule is None or arguments.event is None:
        raise UsageError("explain needs --rule and --event, or --plan")
    if arguments.analyze or arguments.events is not None:
        raise UsageError("--analyze and --events go with --plan")
    event = read_event(arguments.event)
    path = saved_index(arguments.rules)
    if path is not None:
        refuse_for_index(arguments, path)
        found = _explain_from_index(path, arguments.rule, event)
    else:
        found = _explain_from_files(arguments, event)
    if arguments.format == "json":
        print_json(found)
    else:
        _print(found)
    return 0


def _print(found: Explanation) -> None:
    """The verdict and each truth in colour, where there is any."""
    for line in str(found).splitlines():
        mark = _TRUTH.match(line)
        print(line if mark is None else painted(mark[0], _STYLES[mark[1]]) + line[mark.end() :])


def _run_plan(arguments: argparse.Namespace) -> int:
    import numpy as np

    from tocsin.cli.backtest_rule import history_of
    from tocsin.conditions.graph import compile_rules
    from tocsin.conditions.planner import plan_rules
    from tocsin.rules import read_rules
    from tocsin.watches import plan_trigger

    if arguments.event is not None:
        raise UsageError("--event goes without --plan; --analyze takes --events")
    if arguments.analyze != (arguments.events is not None):
        raise UsageError("--analyze and --events go together: the events to count over")
    path = saved_index(arguments.rules)
    if path is not None:
        raise UsageError(f"{path} is a saved index: plans are made from rule files")
    preparation = preparation_of(arguments)
    rules = read_rules(*arguments.rules)
    ids = rules.ids.to_pylist()
    chosen = [row for row, rule in enumerate(ids) if arguments.rule in (None, rule)]
    if not chosen and arguments.rule is not None:
        raise InputError(no_such_rule(arguments.rule, ids))
    single = [row for row in chosen if rules.refusal(row) is None]
    joined = [row for row in chosen if rules.refusal(row) is not None]
    plans = plan_rules(rules.take(np.array(single, np.int64)), preparation.base, preparation.planner)
    triggers = [plan_trigger(rules, row, preparation.base, preparation.planner) for row in joined]
    if arguments.analyze:
        plans, triggers = _counted(plans, triggers, history_of(arguments.events)[0], preparation)
    lines = dict(zip(single, (_conjunct_lines(plan.conjuncts) for plan in plans), strict=True))
    lines.update(zip(joined, map(_trigger_lines, triggers), strict=True))
    disabled = set(rules.disabled.tolist())
    organised = None
    if arguments.rule is None and single:
        whole = rules.take(np.array(single, np.int64))
        compiled = compile_rules(whole, base=preparation.base, planner=preparation.planner)
        organised = compiled.organisation
    if arguments.format == "json":
        made: dict[int, RulePlan | TriggerPlan] = dict(zip(single, plans, strict=True))
        made |= dict(zip(joined, triggers, strict=True))
        print_json(
            {
                "rules": [{**as_members(made[row]), "disabled": row in disabled} for row in chosen],
                "organised": None if organised is None else str(organised),
            }
        )
        return 0
    for row in chosen:
        off = ": disabled (enabled = false), never found" if row in disabled else ""
        print("\n".join([printable(ids[row]) + off, *lines[row]]))
    if organised is not None:
        print(f"organised: {organised}")
    return 0


def _counted(
    plans: list[RulePlan],
    triggers: list[TriggerPlan],
    events: EventSource | Mapping[str, EventSource],
    preparation: Preparation,
) -> tuple[list[RulePlan], list[TriggerPlan]]:
    """The plans with what holds for how many events, or rows of each table."""
    if not isinstance(events, Mapping):
        if triggers:
            raise UsageError(
                f"the rows of {triggers[0].rule!r} come by table: give --events TABLE=FILE for each"
            )
        return _analyzed(plans, events, preparation), []
    if plans:
        raise UsageError("--events TABLE=FILE is for triggers over several tables: name one with --rule")

    def count(table: str, plan: RulePlan) -> RulePlan:
        if table not in events:
            raise UsageError(f"the trigger {plan.rule!r} is over the table {table}, which has no rows here")
        return _analyzed([plan], events[table], preparation)[0]

    return [], [trigger.with_counts(count) for trigger in triggers]


def _analyzed(plans: Sequence[RulePlan], events: EventSource, preparation: Preparation) -> list[RulePlan]:
    """The plans with the share of events for which each conjunct holds; each different one is asked once."""
    import numpy as np

    from tocsin.engines import build_prepared

    texts = dict.fromkeys(conjunct.text for plan in plans for conjunct in plan.conjuncts)
    index = build_prepared([(str(number), text) for number, text in enumerate(texts)], "atree", preparation)
    version = index.version
    held = np.zeros(len(texts), np.int64)
    total = 0
    for portion in events.portions(version.fields):
        version.count_cells(portion.events, held)
        total += portion.events.length
    share = dict(zip(texts, (held / max(1, total)).tolist(), strict=True))
    return [plan.with_truth([share[conjunct.text] for conjunct in plan.conjuncts]) for plan in plans]


def _conjunct_lines(conjuncts: Sequence[ConjunctPlan]) -> list[str]:
    """A line for each of a rule's conjuncts."""
    texts = [printable(each.text) for each in conjuncts]
    width = min(_WIDEST, max(map(len, texts), default=0))
    lines = []
    for each, text in zip(conjuncts, texts, strict=True):
        truth = "" if each.actual is None else f"   true {_percent(each.actual)}"
        estimate = f"estimated {_percent(each.selectivity):<9}"
        lines.append(f"  {each.role:<10} {text:<{width}}   {estimate}{truth}".rstrip())
    return lines


def _trigger_lines(plan: TriggerPlan) -> list[str]:
    """The tables of a trigger, the fields that join them, and what is asked after that."""
    lines = []
    for table in plan.tables:
        fired = "" if table.change is None else f", fired by {table.change}"
        lines.append(f"  {printable(table.alias)}: rows of {printable(table.table)}{fired}")
        lines += [f"  {line}" for line in _conjunct_lines(table.conjuncts) or ["  every row"]]
    lines += [f"  {'joined by':<12} {printable(key)}" for key in plan.keys]
    lines += [f"  {'asked then':<12} {printable(each)}" for each in plan.filters]
    return lines


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def read_event(text: str) -> dict[str, object]:
    """The event of `--event`; EventError when it is not one JSON object."""
    from tocsin.storage import files_at
    from tocsin.tables import parse_lines

    file = text[1:] if text.startswith("@") else text if text == STANDARD else None
    raw = text.encode("utf-8", "surrogateescape")
    if file is not None:
        (found,) = files_at(file)
        raw = Path(found).read_bytes()
    parsed = parse_lines([raw.removeprefix(b"\xef\xbb\xbf")])
    if parsed.rejects:
        raise EventError(f"the event is {parsed.rejects[0].reason}", file=file)
    if not parsed.objects:
        raise EventError("the event is empty: expected a JSON object", file=file)
    return parsed.objects[0]


def _explain_from_index(path: str, rule: str, event: dict[str, object]) -> Explanation:
    from tocsin.saved import open_rules

    index = open_rules(path)
    if rule not in index:
        raise InputError(no_such_rule(rule, index.ids.to_pylist()))
    return index.explain(rule, event)


def _explain_from_files(arguments: argparse.Namespace, event: dict[str, object]) -> Explanation:
    """Only the one rule is built: what is wrong with others is not the question here."""
    from tocsin.conditions.live import explain_rule
    from tocsin.rules import read_rules

    rule = arguments.rule
    rules = read_rules(*arguments.rules, skip_bad=True)
    ids = rules.ids.to_pylist()
    if rule not in ids:
        raise_all([error for error in rules.rejected if error.rule == rule])
        raise InputError(no_such_rule(rule, ids))
    return explain_rule(rules, ids.index(rule), event, text_settings_of(arguments))
