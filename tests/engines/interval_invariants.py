"""The three invariants of a valid labelling (section 4.1 of the first paper), checked of any labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.trees import Tree

Interval = tuple[int, int]


def broken_invariants(tree: Tree, labels: Sequence[Interval]) -> set[int]:
    """Which of the invariants 1, 2 and 3 do not hold, given the intervals of all nodes in preorder."""
    broken = set()
    begins = []
    for kind, label, below in _nodes(tree, iter(labels)):
        if kind == "or" and any(each != label for each in below):
            broken.add(1)
        if kind == "and":
            begins += [begin for begin, _ in below[1:]]
            ends = [label[0] - 1, *(end for _, end in below)]
            goes_on = all(begin == end + 1 for (begin, _), end in zip(below, ends, strict=False))
            if not goes_on or ends[-1] != label[1] or any(begin > end for begin, end in below):
                broken.add(2)
    if len(set(begins)) < len(begins):
        broken.add(3)
    return broken


def _nodes(tree: Tree, labels: Iterator[Interval]) -> Iterator[tuple[str, Interval, list[Interval]]]:
    """Every inner node: its kind, its interval, and those of its children."""
    found: list[tuple[str, Interval, list[Interval]]] = []

    def visit(node: Tree) -> Interval:
        label = next(labels)
        if not isinstance(node, int):
            kind, *below = node
            found.append((str(kind), label, [visit(child) for child in below]))  # type: ignore[arg-type]
        return label

    visit(tree)
    return iter(found)
