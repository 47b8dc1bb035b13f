"""`tocsin score`: how well a text fits a query."""

from __future__ import annotations

import argparse
from pathlib import Path

from tocsin.cli.console import say
from tocsin.errors import InputError

SUMMARY = "score a text for a query, as contains does"
DESCRIPTION = """\
Prints the score of a text for a text query, the number that a threshold of contains is compared with:
0 when the query does not hold. Without a dictionary every word weighs the same."""
EXAMPLES = """\
examples:
  tocsin score 'David Lee wins the golf trophy' '"David Lee", golf, trophy'
  tocsin score @article.txt '"David Lee", golf, trophy' --dictionary words.parquet --explain
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument(
        "text", metavar="TEXT", help="the text; @FILE reads it from a file, @- from standard input"
    )
    parser.add_argument("query", metavar="QUERY", help="the text query")
    parser.add_argument(
        "--tm", action="store_true", help="as tm_contains: any number of words within a phrase"
    )
    parser.add_argument("--dictionary", metavar="FILE", help="the words that were counted: their weights")
    parser.add_argument("--explain", action="store_true", help="say what was found where, and its weight")


def run(arguments: argparse.Namespace) -> int:
    """Print the number; the explanation is a message."""
    from tocsin.text import explain_text, read_query, weights_of

    query = read_query(arguments.query, any_gap=arguments.tm)
    weights = weights_of(arguments.dictionary)
    found = explain_text(query, [_text(arguments.text)], weights, any_gap=arguments.tm)
    if arguments.explain:
        say(str(found))
    print(found.score)
    return 0


def _text(argument: str) -> str:
    from tocsin.storage import files_at

    if not argument.startswith("@"):
        return argument
    try:
        (file,) = files_at(argument[1:])
        return Path(file).read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{argument[1:]}: the file is not UTF-8 text") from None
