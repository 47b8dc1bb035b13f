"""`tocsin backtest`: what rules would have done on a history, one of them or all, or beside other rules."""

from __future__ import annotations

import argparse

from tocsin.cli.backtest_overview import add_overview_arguments, overview_options, run_overview_command
from tocsin.cli.event_inputs import add_events_argument
from tocsin.cli.output import add_format_argument
from tocsin.cli.rule_sources import RULES
from tocsin.cli.text_options import add_text_arguments
from tocsin.errors import UsageError

SUMMARY = "try rules on a history: hits, noise, and which threshold for a contains"
DESCRIPTION = """\
Tells what rules would have done on a history of events: how often each holds and when, which are the
noisiest, which never matched and why; as a table, as Parquet (--out) and as an HTML page (--html).

With --rule it tries one rule. A contains in it is tried without its threshold: what satisfies the rule is
ranked by score, with the words that counted; then how many alerts each threshold would have given, and how
many a day. A printed score used as a threshold takes in the event that it stands at. With --pick the exact
score of an event that you choose, with --threshold and --write any threshold, is written into the rule's
file, which is changed nowhere else. Of several contains in a rule the one with a threshold is tried. Of a
rule without any its hits are shown, and of one that never matched why. A trigger over several tables is
tried on their rows, joined: --events TABLE=FILE for each.

With --compare it tells what the rules find and other rules do not, what the others find and they do not, and
the difference in rate, rule by rule."""
EXAMPLES = """\
examples:
  tocsin backtest rules/ --events news-2025/ --html report.html
  tocsin backtest rules.tocsin --events visits/ --out report --time at --bucket '1 day'
  tocsin backtest rules/ --events news-2025.jsonl --rule golf_prizes
  tocsin backtest rules/ --events news-2025.jsonl --rule golf_prizes --pick 13
  tocsin backtest rules/ --events news-2025.jsonl --rule golf_prizes --threshold 1.3 --write
  tocsin backtest jordan_golf.sql --rule JordanGolf --events video=video.csv --events viewed_by=comments.jsonl
  tocsin backtest rules/ --events news-2025.jsonl --compare rules-of-last-week/
"""

_TOP = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument(
        "rules",
        nargs="+",
        metavar="RULES",
        help=f"{RULES}; without --rule also a saved index",
    )
    add_events_argument(parser, "; TABLE=FILE, several times, for a --rule over several tables")
    parser.add_argument(
        "--time",
        metavar="FIELD",
        help="the field that tells an event's time (default: the first that looks like one)",
    )
    parser.add_argument(
        "--top",
        type=int,
        default=_TOP,
        metavar="N",
        help=f"how many rules to list, or events of the rule (default: {_TOP})",
    )
    parser.add_argument("--html", metavar="FILE", help="write one HTML page that needs nothing else")
    add_format_argument(parser)
    add_overview_arguments(parser)
    group = parser.add_argument_group("one rule")
    group.add_argument("--rule", metavar="ID", help="the id of the rule")
    group.add_argument("--threshold", type=float, metavar="T", help="a threshold to look at")
    group.add_argument(
        "--write", action="store_true", help="write --threshold into the rule's file (.sql .csv .jsonl)"
    )
    group.add_argument(
        "--pick",
        type=int,
        metavar="EVENT",
        help="write the exact score of this event as the threshold, so that it is still an alert",
    )
    group = parser.add_argument_group("two sets of rules")
    group.add_argument(
        "--compare",
        nargs="+",
        metavar="OTHER_RULES",
        help="what RULES find and these do not, and the other way round; with --rule of one rule",
    )
    add_text_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """All rules, one of them, or two sets of them."""
    if arguments.top < 0:
        raise UsageError(f"--top is 0 or more, not {arguments.top}")
    of_rule = {
        "--threshold": arguments.threshold is not None,
        "--write": arguments.write,
        "--pick": arguments.pick is not None,
    }
    given_of_rule = [name for name, value in of_rule.items() if value]
    given = overview_options(arguments)
    if arguments.compare is not None:
        odd = [
            *given_of_rule,
            *(name for name in given if name not in ("--samples", "--spark", "--no-spark")),
        ]
        odd += [name for name, value in (("--html", arguments.html), ("--time", arguments.time)) if value]
        if odd:
            raise UsageError(f"{odd[0]} does not go with --compare")
        from tocsin.cli.backtest_comparison import run_comparison_command

        return run_comparison_command(arguments)
    if arguments.rule is not None:
        if given:
            raise UsageError(f"{given[0]} is of the overview of all rules, without --rule")
        from tocsin.cli.backtest_rule import run_rule_command

        return run_rule_command(arguments)
    if given_of_rule:
        raise UsageError(f"{given_of_rule[0]} is about one rule: name it with --rule")
    return run_overview_command(arguments)
