"""The worked examples of section 4 of the A-Tree paper: what the tree looks like, node by node."""

from __future__ import annotations

import random
from itertools import combinations

import pyarrow as pa
import pytest
from tests.atree_invariants import check_invariants
from tests.papers.predicates import event, nodes, written

from tocsin_lab import abe_gen
from tocsin_lab.atree.atree_groups import Grouping
from tocsin_lab.atree.paper_atree import Design, PaperAtree, read_groups
from tocsin_lab.kernels.atree_nodes import AND, LEAF, OR

FIRST = "(p1 or p2 or p3) and p4 and (p5 or p6)"
SECOND = "(p5 or p6) and (p7 or p8)"
FIGURE_4 = [("first", FIRST), ("second", SECOND)]

PLAIN = Design(reorganise=False, self_adjust=False)
REORGANISED = Design(self_adjust=False)


def checked(atree: PaperAtree) -> PaperAtree:
    check_invariants(atree.atree, atree.roots.tolist())
    return atree


def operators(atree: PaperAtree) -> dict[int, int]:
    found = [atree.atree.view(node).operator for node in atree.atree.live_nodes().tolist()]
    return {operator: found.count(operator) for operator in set(found)}


def test_figure_4():
    """Two expressions share the i-node of P5 or P6; levels count from the leaves."""
    atree = checked(PaperAtree(FIGURE_4))
    assert operators(atree) == {LEAF: 8, OR: 3, AND: 2}
    assert atree.atree.edges == 3 + 2 + 2 + 3 + 2
    shared = atree.structure("p5 or p6")
    assert shared.parents == nodes("(p1 or p2 or p3) and (p5 or p6) and p4", "(p5 or p6) and (p7 or p8)")
    assert (shared.level, shared.uses) == (2, 2)
    assert shared.children == nodes("p5", "p6")
    first, second = atree.structure(FIRST), atree.structure(SECOND)
    assert first.children == nodes("p1 or p2 or p3", "p4", "p5 or p6")
    assert second.children == nodes("p5 or p6", "p7 or p8")
    assert (first.level, first.uses, second.level, second.uses) == (3, 1, 3, 1)
    assert atree.structure("p4").parents == nodes("(p1 or p2 or p3) and (p5 or p6) and p4")
    assert atree.structure("p4").level == 1


def test_section_4_2_1_the_order_of_operands_leaves_no_trace():
    atree = checked(PaperAtree([("one", FIRST), ("two", "p4 and (p3 or p2 or p1) and (p6 or p5)")]))
    one, two = atree.roots.tolist()
    assert one == two
    assert atree.structure(FIRST).uses == 2
    assert len(atree.atree) == 6 + 2 + 1


def test_without_unique_nodes_every_expression_has_its_own():
    design = Design(sharing=False, reorganise=False, self_adjust=False)
    atree = checked(PaperAtree([("one", FIRST), ("two", FIRST)], design))
    assert operators(atree) == {LEAF: 12, OR: 4, AND: 2}
    assert atree.match(event({"p1", "p4", "p6"})) == ["one", "two"]


FOUR = "p1 or p2 or p3 or p4"


def test_figure_5_binary():
    """((P1 or P2) or P3) or P4: three inner nodes, six edges, four levels."""
    atree = checked(PaperAtree([("r", FOUR)], Design(nary=False)))
    assert (len(atree.atree), atree.atree.edges) == (4 + 3, 6)
    assert atree.structure("((p1 or p2) or p3) or p4").level == 4


def test_figure_5_n_ary():
    """P1 or P2 or P3 or P4 alone: one inner node, four edges, two levels."""
    atree = checked(PaperAtree([("r", FOUR)]))
    assert (len(atree.atree), atree.atree.edges) == (4 + 1, 4)
    assert atree.structure(FOUR).level == 2


def test_figure_5_reorganised():
    """(P1 or P2 or P3) or P4 in the tree of figure 4: one more node and only two more edges."""
    atree = PaperAtree(FIGURE_4, REORGANISED)
    before = len(atree.atree), atree.atree.edges
    atree.insert("third", FOUR)
    checked(atree)
    assert (len(atree.atree), atree.atree.edges) == (before[0] + 1, before[1] + 2)
    third = atree.structure(FOUR)
    assert third.children == nodes("p1 or p2 or p3", "p4")
    assert third.level == 3
    assert atree.structure("p1 or p2 or p3").uses == 1, "a cover is no use: only the first needs it"


def test_without_reorganising_the_operands_are_the_children():
    atree = checked(PaperAtree([*FIGURE_4, ("third", FOUR)], PLAIN))
    assert atree.structure(FOUR).children == nodes("p1", "p2", "p3", "p4")


def test_section_4_2_2_covers_may_overlap():
    """P1 and P2 and P3 and P4 is put together from two nodes that both hold P3."""
    rules = [("a", "p1 and p2 and p3"), ("b", "p3 and p4"), ("c", "p1 and p2 and p3 and p4")]
    atree = checked(PaperAtree(rules, REORGANISED))
    assert atree.structure("p1 and p2 and p3 and p4").children == nodes("p1 and p2 and p3", "p3 and p4")


def test_the_largest_cover_is_chosen_first():
    texts = ["p1 and p2", "p2 and p3 and p4", "p4 and p5", "p1 and p2 and p3 and p4 and p5 and p6"]
    atree = checked(PaperAtree([(text, text) for text in texts], REORGANISED))
    assert atree.structure(texts[-1]).children == nodes("p1 and p2", "p2 and p3 and p4", "p4 and p5", "p6")


@pytest.mark.parametrize("operator", ["xor", "xnor"])
@pytest.mark.parametrize("design", [REORGANISED, Design()])
def test_covers_of_xor_and_xnor_never_overlap(operator, design):
    """What would count twice is left out: of a pair that overlaps another only one is used."""
    design = design._replace(zero_suppression=False, on_demand=False)
    texts = [f" {operator} ".join(part) for part in (("p1", "p2"), ("p2", "p3"), ("p1", "p2", "p3", "p4"))]
    for order in ([0, 1, 2], [2, 0, 1], [0, 2, 1]):
        atree = checked(PaperAtree([(texts[place], texts[place]) for place in order], design))
        children = atree.structure(texts[2]).children
        first, second = written(texts[0]), written(texts[1])
        assert not {first, second} <= children
        for count in range(5):
            for true in combinations(["p1", "p2", "p3", "p4"], count):
                false = {"p1", "p2", "p3", "p4"} - set(true)
                odd = count % 2 == 1
                assert (texts[2] in atree.match(event(true, false))) is (odd == (operator == "xor"))


def test_covers_of_popular_predicates_are_found():
    """P1 and P2 have hundreds of parents, and their conjunction is found among them all the same."""
    rules = [("pair", "p1 and p2")]
    rules += [(f"r{number}", f"p1 and p2 and p{number}") for number in range(3, 400)]
    atree = checked(PaperAtree(rules, REORGANISED))
    for number in (3, 200, 399):
        assert atree.structure(f"p1 and p2 and p{number}").children == nodes("p1 and p2", f"p{number}")


def test_a_cover_has_the_same_operator():
    """The same operands under another operator cover nothing."""
    atree = checked(PaperAtree([("a", "p1 or p2 or p3"), ("b", "p1 and p2 and p3 and p4")]))
    assert atree.structure("p1 and p2 and p3 and p4").children == nodes("p1", "p2", "p3", "p4")


PART = "(p1 or p2 or p3) and p4"


def test_section_4_2_3_self_adjustment():
    """A new node that is part of an existing one becomes its child, and levels above it rise."""
    above = f"({FIRST}) or p8"
    atree = PaperAtree([*FIGURE_4, ("above", above)])
    assert atree.structure(above).level == 4
    atree.insert("part", PART)
    checked(atree)
    first = atree.structure(FIRST)
    assert first.children == nodes("(p1 or p2 or p3) and p4", "p5 or p6")
    assert atree.structure(PART).parents == nodes("(p1 or p2 or p3) and (p5 or p6) and p4")
    assert (atree.structure(PART).level, first.level, atree.structure(above).level) == (3, 4, 5)
    assert atree.structure(PART).uses == 1
    assert atree.structure("p1 or p2 or p3").parents == nodes("(p1 or p2 or p3) and p4")


def test_without_self_adjustment_the_existing_node_stays_as_it_is():
    atree = checked(PaperAtree([*FIGURE_4, ("part", PART)], REORGANISED))
    assert atree.structure(FIRST).children == nodes("p1 or p2 or p3", "p4", "p5 or p6")
    assert atree.structure(FIRST).level == 3


def test_self_adjustment_reaches_through_nodes_between():
    """The whole has none of the new node's operands as a child, only nodes that hold them."""
    rules = [("ab", "p1 and p2"), ("cd", "p3 and p4"), ("whole", "p1 and p2 and p3 and p4 and p5")]
    atree = PaperAtree(rules)
    assert atree.structure(rules[2][1]).children == nodes("p1 and p2", "p3 and p4", "p5")
    atree.insert("most", "p1 and p2 and p3 and p4")
    checked(atree)
    assert atree.structure(rules[2][1]).children == nodes("p1 and p2 and p3 and p4", "p5")
    assert atree.structure("p1 and p2 and p3 and p4").children == nodes("p1 and p2", "p3 and p4")


def test_section_4_2_4_deletion():
    """What no expression needs any more goes; a node that it was a child of takes its children."""
    atree = PaperAtree([*FIGURE_4, ("part", PART), ("again", PART)])
    atree.delete("part")
    assert atree.structure(PART).uses == 1
    assert atree.structure(FIRST).children == nodes("(p1 or p2 or p3) and p4", "p5 or p6")
    atree.delete("again")
    checked(atree)
    with pytest.raises(KeyError):
        atree.node(PART)
    first = atree.structure(FIRST)
    assert first.children == nodes("p1 or p2 or p3", "p4", "p5 or p6")
    assert first.level == 3
    assert len(atree.atree) == 13
    atree.delete("first")
    checked(atree)
    assert operators(atree) == {LEAF: 4, OR: 2, AND: 1}, "P5 or P6 is still a child of the second"
    with pytest.raises(KeyError):
        atree.node("p1")
    atree.delete("second")
    assert (len(atree.atree), atree.atree.edges) == (0, 0)


def test_freed_room_is_used_again():
    atree = PaperAtree()
    for turn in range(200):
        atree.insert("r", f"p1 and p2 and (p{turn} or p3) and (p4 or p5 or not p6)")
        atree.insert("s", "p1 and p2")
        if turn == 0:
            held = atree.atree.bytes_held
        atree.delete("r")
        atree.delete("s")
    assert atree.atree.bytes_held == held
    assert len(checked(atree).atree) == 0


# ---- The order of arrival


def _shuffled(texts: list[str], design: Design, shuffles: int = 10) -> list[tuple[int, int]]:
    """Nodes and edges of the same rules in several orders."""
    found = []
    for seed in range(shuffles):
        ordered = list(texts)
        random.Random(seed).shuffle(ordered)
        atree = PaperAtree(design=design)
        for number, groups in read_groups(pa.array(ordered, pa.large_string()), atree.predicates, Grouping()):
            atree.insert_groups([str(each) for each in number], groups)
        found.append((len(atree.atree), atree.atree.edges))
    return found


def _spread(counts: list[int]) -> float:
    return (max(counts) - min(counts)) / min(counts)


def _ranges() -> list[str]:
    """Every run of neighbours among 14 predicates: each is part of many others."""
    names = [f"p{number}" for number in range(14)]
    return [" and ".join(names[a:b]) for a in range(14) for b in range(a + 2, 15)]


def _from_cores() -> list[str]:
    """Conjunctions of one to three of 60 small conjunctions, most of which are rules too."""
    rng = random.Random(5)
    names = [f"p{number}" for number in range(60)]
    cores = [rng.sample(names, rng.randint(2, 4)) for _ in range(60)]
    return [
        " and ".join(name for core in rng.choices(cores, k=rng.randint(1, 3)) for name in core)
        for _ in range(600)
    ]


@pytest.mark.parametrize(
    "texts",
    [abe_gen.rules(abe_gen.Setting(expressions=2_000))["when"].to_pylist(), _ranges(), _from_cores()],
    ids=["random rules", "ranges", "cores"],
)
def test_the_order_of_arrival_hardly_matters_with_self_adjustment(texts):
    """Section 6.3: memory is stable when the index adjusts itself, and varies when it does not."""
    adjusted = _shuffled(texts, Design())
    assert _spread([found[0] for found in adjusted]) <= 0.02
    assert _spread([found[1] for found in adjusted]) <= 0.02
    stiff = _shuffled(texts, REORGANISED, shuffles=3)
    assert min(found[1] for found in stiff) > max(found[1] for found in adjusted)
