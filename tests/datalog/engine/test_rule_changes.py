"""Rules that come and go while an engine runs, where a component has rules of its own."""

from __future__ import annotations

import tocsin

COMPONENT = """
.decl b(x: number)
b(7).
.decl d(x: number)
d(x) :- b(x).
.comp C { d(x + 1) :- b(x). }
.init c = C
"""


def test_a_rule_is_removed_by_its_text_though_components_have_others() -> None:
    engine = tocsin.Program.parse(COMPONENT).start()
    assert engine.remove_rule("d(x) :- b(x).").removed == {"d": {(7,)}}
    assert engine.query("d") == [(8,)]


def test_a_fact_that_is_added_is_given_though_components_have_others() -> None:
    text = ".comp C { .decl a(x: number) a(1). } .init c = C\n.decl b(x: number) b(7)."
    engine = tocsin.Program.parse(text).start()
    engine.delete("c.a", (1,))
    engine.add_rule("b(5).")
    assert engine.query("b") == [(5,), (7,)]
    assert engine.query("c.a") == [], "what was deleted does not come back"


def test_what_the_last_rule_of_a_relation_gave_is_reported_when_it_goes() -> None:
    text = ".decl arc(x: number, y: number) .decl p(x: number, y: number) p(x, y) :- arc(x, y). arc(1, 2)."
    engine = tocsin.Program.parse(text).start()
    assert engine.remove_rule(0).removed == {"p": {(1, 2)}}


def test_a_fact_that_is_added_stays_for_ever() -> None:
    engine = tocsin.Program.parse(".decl b(x: number)").start()
    engine.insert("b", (1,), ttl=5)
    engine.add_rule("b(1).")
    engine.advance(10)
    assert engine.query("b") == [(1,)]
