"""The contracts of the first paper (Fontoura et al., 2010, section 5.1), and visits to match them with.

    contracts = make_contracts(ContractSetting(max_depth=2))
    visits = make_visits(2_000)
    rules_of(contracts, STANDARD), table_of(visits)       for tocsin.build and for users
    expressions_of(contracts, STANDARD)                   for engines, with each conjunction kept apart
    python -m tocsin_lab.contracts --help

Everything follows from the settings, whose seeds are part of them. The files, in reading order:

    attributes    what visits tell and contracts ask for, and how often: the statistics
    settings      what else can be chosen
    targets       all that can be asked for, numbered
    contracts     trees by the level, and their conjunctions
    visits        visits
    rules         contracts as rules
    expressions   contracts and visits as the engines are given them
    truth         which contracts match which visits, without any engine
    thinning      contracts of a wanted selectivity
"""

from __future__ import annotations

from tocsin_lab.contracts.attributes import STANDARD, Attribute
from tocsin_lab.contracts.contracts import Contracts, joined, make_contracts, taken
from tocsin_lab.contracts.expressions import expressions_of, held_literals
from tocsin_lab.contracts.rules import rule_batches, rules_of
from tocsin_lab.contracts.selective_contracts import contracts_of_selectivity
from tocsin_lab.contracts.settings import ContractSetting
from tocsin_lab.contracts.truth import match_counts, matching, selectivity
from tocsin_lab.contracts.visits import Visits, make_visits, rows_of, table_of

__all__ = [
    "STANDARD",
    "Attribute",
    "ContractSetting",
    "Contracts",
    "Visits",
    "contracts_of_selectivity",
    "expressions_of",
    "held_literals",
    "joined",
    "make_contracts",
    "make_visits",
    "match_counts",
    "matching",
    "rows_of",
    "rule_batches",
    "rules_of",
    "selectivity",
    "table_of",
    "taken",
]
