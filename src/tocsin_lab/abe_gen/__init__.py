"""ABE-Gen: the workload generator of the A-Tree paper (Ji and Jacobsen, 2021, section 6).

    rules(Setting())            random expressions with the defaults of Table 3
    rules(AdsSetting())         expressions shaped like the paper's advertisements (section 6.2)
    events(setting, 3_000)      events for either
    python -m tocsin_lab.abe_gen --help

Everything follows from the setting, whose seed is part of it. Expressions are never made one by one:
a workload is a forest of pools, level over level, and sharing is drawing from a pool. The files, in
reading order:

    settings     what can be chosen, and what the paper leaves open
    draws        Zipf's law, and drawing so that nothing is left over
    predicates   the distinct predicates and their texts
    texts        texts by the column
    forest       expressions as arrays; their texts
    abe          the forest of the defaults
    ads          the forest of the advertisements
    workloads    from a setting to its rules
    events       events, also thinned
    shape        what was made, in the paper's own figures
    files        Parquet and JSON lines
"""

from __future__ import annotations

from tocsin_lab.abe_gen.events import Events, events, first, listed_fields, rows_of, table_of, thinned
from tocsin_lab.abe_gen.settings import AdsSetting, Mix, Setting, Workload
from tocsin_lab.abe_gen.shape import Shape, shape_of
from tocsin_lab.abe_gen.workloads import forest_of, rules, rules_of

__all__ = [
    "AdsSetting",
    "Events",
    "Mix",
    "Setting",
    "Shape",
    "Workload",
    "events",
    "first",
    "forest_of",
    "listed_fields",
    "rows_of",
    "rules",
    "rules_of",
    "shape_of",
    "table_of",
    "thinned",
]
