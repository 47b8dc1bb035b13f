"""Figure 7 counts what the rules' texts say."""

from __future__ import annotations

import re
from collections import Counter

from tests.lab.experiments.cells import by_first

from tocsin_lab import abe_gen
from tocsin_lab.experiments.atree_sharing import ADS, measure
from tocsin_lab.experiments.experiment import Run

RUN = Run(0.0002, seed=3)
PREDICATE = re.compile(r"(?:not )?d\d+(?: (?:not )?in \([^)]*\)| [<>=]+ '?\w+'?)?")


def test_uses_are_those_in_the_texts():
    setting = abe_gen.AdsSetting(expressions=RUN.sized(ADS.expressions), seed=3)
    uses = Counter(PREDICATE.findall(" ".join(abe_gen.rules(setting)["when"].to_pylist())))
    levels, predicates, about = measure(RUN).tables
    ranked = sorted(uses.values(), reverse=True)
    shown = by_first(predicates, "its uses")
    assert shown == {rank: ranked[rank - 1] for rank in shown}
    assert max(shown) == len(uses)
    assert by_first(levels, "uses of a part, on average")[1] == sum(ranked) / len(ranked)
    assert by_first(about, "ours")["different predicates"] == len(uses)


def test_the_papers_own_figures_stand_beside():
    levels, _, about = measure(RUN).tables
    assert list(by_first(levels, "in the paper").values()) == ["68.76", *["plotted only"] * 7, "2.88"]
    assert by_first(about, "in the paper")["different predicates"] == "973,794"
