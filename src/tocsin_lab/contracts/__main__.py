"""Write contracts and visits to a folder: python -m tocsin_lab.contracts --out FOLDER."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tocsin.errors import TocsinError
from tocsin_lab.abe_gen.files import FORMATS, write_events, write_rules
from tocsin_lab.contracts.contracts import make_contracts
from tocsin_lab.contracts.rules import rule_batches
from tocsin_lab.contracts.selective_contracts import contracts_of_selectivity
from tocsin_lab.contracts.settings import ContractSetting
from tocsin_lab.contracts.truth import selectivity
from tocsin_lab.contracts.visits import make_visits, rows_of, table_of

EXAMPLE = """\
example:
  python -m tocsin_lab.contracts --contracts 100000 --depth 2 --visits 2000 --out workload
      writes rules.parquet, rules.jsonl, visits.parquet and visits.jsonl; with them
  tocsin match workload/rules.parquet --events workload/visits.jsonl --no-spark
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    options = _parser().parse_args(arguments)
    start = time.perf_counter()
    try:
        setting = ContractSetting(
            contracts=options.contracts,
            min_depth=min(1, options.depth) if options.min_depth is None else options.min_depth,
            max_depth=options.depth,
            not_in=options.not_in,
            seed=options.seed,
        )
        visits = make_visits(options.visits, seed=options.seed)
        if options.selectivity is None:
            contracts = make_contracts(setting)
        else:
            contracts = contracts_of_selectivity(setting, visits, options.selectivity)
        options.out.mkdir(parents=True, exist_ok=True)
    except TocsinError as error:
        _say(str(error))
        return 2
    except OSError as error:
        _say(f"cannot make the folder {options.out}: {error.strerror}")
        return 2
    share = selectivity(contracts, visits)
    _say(f"a visit matches {share:.2%} of the contracts; made in {time.perf_counter() - start:.1f} s")
    formats = tuple(options.formats)
    batches = rule_batches(contracts, setting.attributes)
    write_rules(batches, options.out, formats, lambda count: _say(f"{count:,} contracts written"))
    write_events(table_of(visits), rows_of(visits), options.out, "visits", formats)
    _say(f"{options.visits:,} visits written; done in {time.perf_counter() - start:.1f} s")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m tocsin_lab.contracts",
        description="Write advertising contracts and visits like those of the Dewey and Interval paper.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    default = ContractSetting()
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument(
        "--contracts", type=int, default=default.contracts, metavar="N", help="how many rules"
    )
    parser.add_argument("--depth", type=int, default=default.max_depth, metavar="N", help="levels of and, or")
    parser.add_argument(
        "--min-depth", type=int, metavar="N", help="levels that every path has (default: 1, or --depth)"
    )
    parser.add_argument(
        "--not-in", type=float, default=0.0, metavar="P", help="chance of a predicate's 'not'"
    )
    parser.add_argument(
        "--selectivity", type=float, metavar="S", help="add contracts that match no visit, down to this share"
    )
    parser.add_argument("--visits", type=_from_one, default=2_000, metavar="N", help="how many events")
    parser.add_argument("--seed", type=_from_zero, default=default.seed, metavar="N")
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=FORMATS)
    return parser


def _from_one(text: str) -> int:
    return _at_least(1, text)


def _from_zero(text: str) -> int:
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    number = int(text)
    if number < least:
        raise argparse.ArgumentTypeError(f"must be at least {least}")
    return number


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
