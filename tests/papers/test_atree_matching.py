"""Section 5.3 of the A-Tree paper, step by step.

The expressions of figure 6 are lost in our copy of the paper: these six are a reconstruction. They fit
all that section 5.3 states: P9 = not P7 and P10 = not P8 are l-nodes of the optimised tree only; node 11
is an or at level 2 that P1 is told to, and its only link goes to node 15; node 14 is an and over nodes 9
and 10, woken by 9, and is S6; node 15 is an or at level 3 and is S3; there are four levels, and with P1,
P9 and P10 the only true ones S3 and S6 match.

    level 1    1 .. 8  P1 .. P8      9  not P7      10  not P8
    level 2    11  P1 or P2          12  P4 and P5 (S2)     13  P7 or P8      14  not P7 and not P8 (S6)
    level 3    15  11 or 12 (S3)     16  11 and P3 (S1)     17  13 and P3 (S4)
    level 4    18  15 and P6 (S5)
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.atree_invariants import check_invariants
from tests.papers.predicates import event, nodes, written

from tocsin_lab.atree.paper_atree import Design, PaperAtree

EXPRESSIONS = [
    ("S1", "(p1 or p2) and p3"),
    ("S2", "p4 and p5"),
    ("S3", "p1 or p2 or (p4 and p5)"),
    ("S4", "(p7 or p8) and p3"),
    ("S5", "(p1 or p2 or (p4 and p5)) and p6"),
    ("S6", "not (p7 or p8)"),
]
NODE_11 = "p1 or p2"
NODE_14 = "not p7 and not p8"
NODE_15 = "p1 or p2 or (p4 and p5)"
EVENT = event(true={"p1"}, false={"p7", "p8"})
UNOPTIMISED = Design(zero_suppression=False, on_demand=False, lazy_stamps=False)


def optimised(design: Design | None = None) -> PaperAtree:
    """The optimised tree, after some events in which P3 and P6 are the rare ones, and not P7 is rarer
    than not P8: the estimated selectivity that makes the paper's random choice of access children."""
    atree = PaperAtree(EXPRESSIONS, design)
    history = [event({"p1", "p2", "p4", "p5", "p7"}, {"p8"}), event({"p1", "p5"}, {"p7", "p8"})]
    atree.observe([atree.true_refs(each) for each in history])
    check_invariants(atree.atree, atree.roots.tolist())
    return atree


def test_the_optimised_tree_has_two_more_leaves_and_four_levels():
    atree = optimised()
    by_level = atree.atree.by_level()
    assert {level: count["leaves"] + count["inner"] for level, count in by_level.items()} == {
        1: 10,
        2: 4,
        3: 3,
        4: 1,
    }
    assert by_level[1]["leaves"] == 10
    assert atree.structure(NODE_14).children == nodes("not p7", "not p8")
    assert atree.structure(NODE_15).children == nodes(NODE_11, "p4 and p5")
    assert (atree.structure(NODE_11).level, atree.structure(NODE_15).level) == (2, 3)


def test_access_children():
    """Each and is woken by its rarest child."""
    atree = optimised()
    assert atree.structure(NODE_14).access == written("not p7")
    assert atree.structure("(p1 or p2) and p3").access == written("p3")
    assert atree.structure(EXPRESSIONS[4][1]).access == written("p6")
    assert atree.structure(NODE_11).access is None, "an or has none"


def test_section_5_3_step_by_step():
    atree = optimised()
    assert atree.trace(EVENT) == [
        [written("p1"), written("not p7"), written("not p8")],
        [written(NODE_11), written(NODE_14)],
        [written("(p4 and p5) or p1 or p2")],
        [],
    ]
    assert atree.match(EVENT) == ["S3", "S6"]


def test_node_10_tells_nobody_but_keeps_its_result():
    """Only not P7 has a link to node 14; the result of not P8 is found stored, with the event's number."""
    atree = optimised()
    matcher = atree.matcher()
    place = {number: where for where, number in enumerate(matcher.node.tolist())}
    ten, nine, fourteen = (place[atree.node(each)] for each in ("not p8", "not p7", NODE_14))
    links = np.diff(matcher.tree.link_start)
    assert links[ten] == 0
    assert matcher.tree.link[matcher.tree.link_start[nine]] == fourteen
    atree.match(EVENT)
    assert matcher.memory.result[ten] == 1
    assert matcher.memory.known[ten] == matcher.memory.event[0]
    atree.match(event(true={"p1"}))
    assert matcher.memory.known[ten] == matcher.memory.event[0] - 1, "cleaned by nobody, but out of date"
    assert atree.match(event(true={"p1"}, false={"p7"})) == ["S3"]


def test_without_the_access_child_nobody_looks():
    """P8 false and P7 undefined: node 14 is not queued although one of its children is true."""
    assert optimised().trace(event(false={"p8"})) == [[written("not p8")], [], [], []]


def test_without_on_demand_every_true_child_queues_the_and():
    atree = optimised(Design(on_demand=False))
    assert atree.trace(event(false={"p8"}))[1] == [written(NODE_14)]
    trace = atree.trace(EVENT)
    assert set(trace[2]) == nodes("(p4 and p5) or p1 or p2", "(p1 or p2) and p3")
    assert trace[3] == [written("((p4 and p5) or p1 or p2) and p6")]
    assert atree.match(EVENT) == ["S3", "S6"]


def test_the_unoptimised_tree_tells_false_too():
    """Algorithm 6: eight leaves, a not, and false results that travel as far as true ones."""
    atree = PaperAtree(EXPRESSIONS, UNOPTIMISED)
    check_invariants(atree.atree, atree.roots.tolist())
    assert atree.atree.by_level()[1]["leaves"] == 8
    assert atree.structure("not (p7 or p8)").children == nodes("p7 or p8")
    assert atree.structure("not (p7 or p8)").level == 3
    trace = atree.trace(EVENT)
    assert trace[0] == [written("p1"), written("p7"), written("p8")]
    assert trace[1] == [written(NODE_11), written("p7 or p8")]
    assert set(trace[2]) == nodes(
        "(p4 and p5) or p1 or p2", "(p1 or p2) and p3", "(p7 or p8) and p3", "not (p7 or p8)"
    )
    assert trace[3] == [written("((p4 and p5) or p1 or p2) and p6")]
    assert atree.match(EVENT) == ["S3", "S6"]


@pytest.mark.parametrize("lazy", [True, False])
def test_stamps_or_cleaning(lazy):
    """What one event left behind is not taken for the next one's, either way."""
    atree = optimised(Design(lazy_stamps=lazy))
    memory = atree.matcher().memory
    assert atree.match(EVENT) == ["S3", "S6"]
    assert bool(memory.known.any()) is lazy
    assert bool(memory.opened.any()) is lazy
    assert atree.match({}) == []
    assert atree.match(event(true={"p3", "p4", "p5", "p6"})) == ["S2", "S3", "S5"]


@pytest.mark.parametrize(
    ("operator", "first", "second", "expected"),
    [
        ("and", None, True, None),
        ("and", None, False, False),
        ("or", None, True, True),
        ("or", None, False, None),
        ("xor", None, True, None),
        ("xor", None, False, None),
        ("xnor", None, True, None),
        ("xnor", None, False, None),
    ],
)
@pytest.mark.parametrize("design", [UNOPTIMISED, Design()])
def test_table_2(operator, first, second, expected, design):
    """Operands that are undefined: the rule and its negation match when the result is true or false."""
    condition = f"p1 {operator} p2"
    atree = PaperAtree([("true", condition), ("false", f"not ({condition})")], design)
    matched = atree.match({"p1": first, "p2": second})
    assert matched == ([] if expected is None else ["true" if expected else "false"])
