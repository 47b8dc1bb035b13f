"""The condition of one rule among many, read."""

from __future__ import annotations

from tocsin.conditions.language.parser import parse_condition
from tocsin.conditions.language.tree import Condition
from tocsin.errors import RuleError
from tocsin.rules.rule_set import SEVERAL_TABLES, Rules


def condition_of(rules: Rules, row: int) -> Condition:
    """The condition of the rule of this row, without its table's alias.

    RuleError, or RuleErrors, with the place in the rule's file when it cannot be read, and when the rule is a
    trigger over several tables.
    """
    if rules.has_several_tables(row):
        raise rules.error(row, RuleError(SEVERAL_TABLES))
    try:
        return parse_condition(rules.whens[row].as_py(), rules.aliases.get(row))
    except RuleError as error:
        raise rules.error(row, error) from None
