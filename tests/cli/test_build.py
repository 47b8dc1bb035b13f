"""tocsin build: an index, or every reason why not."""

from __future__ import annotations

import json

from tests.cli.running import RULES, Command

import tocsin as library


def test_an_index_is_written_and_described(tocsin: Command) -> None:
    tocsin.file("rules/a.csv", RULES)
    tocsin.file("rules/b.sql", "create trigger old from t as v when v.age > 65;")
    ran = tocsin("build", "rules", "-o", "rules.tocsin")
    assert ran.code == 0
    assert ran.out == ""
    assert "4 distinct conditions" in ran.err
    assert len(library.open(tocsin.folder / "rules.tocsin")) == 4


def test_an_index_for_another_engine(tocsin: Command) -> None:
    tocsin.file("rules.csv", RULES)
    ran = tocsin("build", "rules.csv", "-o", "rules.tocsin", "--engine", "interval")
    assert ran.code == 0
    assert "engine        interval" in ran.err
    assert tocsin("verify", "rules.tocsin").out == (
        "rules.tocsin: OK: an index of 3 rules for the engine interval\n"
    )
    index = library.open(tocsin.folder / "rules.tocsin")
    assert (index.engine, len(index)) == ("interval", 3)
    ran = tocsin("build", "rules.csv", "-o", "spark.tocsin", "--engine", "interval", "--spark")
    assert (ran.code, tocsin.files()) == (2, ["rules.csv", "rules.tocsin"])
    assert tocsin("build", "rules.csv", "-o", "magic.tocsin", "--engine", "magic").code == 2


def test_organise_is_asked_for_and_told(tocsin: Command) -> None:
    tocsin.file("rules.csv", "id,when\ntwo,a = 1 and b = 1\nthree,a = 1 and b = 1 and c = 1\n")
    for asked, told in (
        ([], "organised     unique nodes: too few ANDs to gain by more (auto)"),
        (["--organise", "unique"], "organised     unique nodes: as asked"),
        (["--organise", "full"], "organised     full, 1 edge fewer: as asked"),
    ):
        ran = tocsin("build", "rules.csv", "-o", "rules.tocsin", *asked)
        assert ran.code == 0
        assert told in ran.err
    assert library.open(tocsin.folder / "rules.tocsin").stats().organisations[0].asked == "full"
    assert tocsin("build", "rules.csv", "-o", "rules.tocsin", "--organise", "best").code == 2


def test_bad_rules_stop_it_with_all_their_errors(tocsin: Command) -> None:
    tocsin.file("rules.csv", RULES + "x,age >\ny,= 3\n,age = 1\n")
    ran = tocsin("build", "rules.csv", "-o", "rules.tocsin")
    assert ran.code == 1
    for place in ("rules.csv:5:6: ", "rules.csv:6:1: ", "rules.csv:7: "):
        assert place in ran.err
    assert tocsin.files() == ["rules.csv"]


def test_bad_rules_can_be_left_out(tocsin: Command) -> None:
    tocsin.file("rules.csv", RULES + "x,age >\nwest,age = 3\n")
    ran = tocsin("build", "rules.csv", "-o", "rules.tocsin", "--skip-bad")
    assert ran.code == 0
    assert "rules.rejects.jsonl" in ran.err
    lines = [json.loads(line) for line in (tocsin.folder / "rules.rejects.jsonl").read_text().splitlines()]
    assert {line["rule"]: (line["file"], line["line"], line["text"]) for line in lines} == {
        "west": ("rules.csv", 6, ""),
        "x": ("rules.csv", 5, "age >"),
    }
    assert all(line["reason"] for line in lines)
    assert len(library.open("rules.tocsin")) == 3


def test_rejects_go_where_they_are_told(tocsin: Command) -> None:
    tocsin.file("rules.csv", RULES)
    assert tocsin("build", "rules.csv", "-o", "r.tocsin", "--rejects", "bad.jsonl").code == 2
    assert tocsin("build", "rules.csv", "-o", "r.tocsin", "--skip-bad", "--rejects", "bad.jsonl").code == 0
    assert (tocsin.folder / "bad.jsonl").read_text() == ""


def test_rules_are_never_overwritten(tocsin: Command) -> None:
    rules = tocsin.file("rules.csv", RULES)
    assert tocsin("build", "rules.csv", "-o", "rules.csv").code == 2
    assert tocsin("build", "rules.csv", "-o", "r.tocsin", "--skip-bad", "--rejects", "./rules.csv").code == 2
    assert rules.read_text() == RULES


def test_a_rule_file_in_a_folder_is_never_overwritten(tocsin: Command) -> None:
    rules = tocsin.file("rules/deep/a.csv", RULES)
    (tocsin.folder / "link.csv").symlink_to(rules)
    for out in ("rules/deep/a.csv", "./rules/../rules/deep/a.csv", "link.csv"):
        ran = tocsin("build", "rules", "-o", out)
        assert (ran.code, ran.err) == (
            2,
            f"tocsin: {out} cannot be written: it is one of the files to be read\n",
        )
        assert tocsin("build", "rules", "-o", "r.tocsin", "--skip-bad", "--rejects", out).code == 2
    assert rules.read_text() == RULES
    assert tocsin.files() == ["link.csv", "rules", "rules/deep", "rules/deep/a.csv"]
    assert tocsin("build", "rules", "-o", "rules/deep/a.tocsin").code == 0


def test_rejects_that_nobody_writes_may_stand_among_the_rules(tocsin: Command) -> None:
    tocsin.file("rules/a.rejects.jsonl", '{"id": "x", "when": "age > 3"}\n')
    assert tocsin("build", "rules", "-o", "rules/a.tocsin", "--skip-bad").code == 2
    assert tocsin("build", "rules", "-o", "rules/a.tocsin").code == 0


def test_every_bad_rule_is_named_however_many(tocsin: Command) -> None:
    tocsin.file("rules.csv", "id,when\n" + "".join(f"r{number},age >\n" for number in range(2_000)))
    ran = tocsin("build", "rules.csv", "-o", "rules.tocsin")
    assert ran.code == 1
    assert ran.err.startswith("tocsin: 2,000 errors\nrules.csv:2:6: ")
    assert [number for number in range(2_000) if f" (rule r{number})\n" not in ran.err] == []
    assert "more" not in ran.err


def test_a_place_that_cannot_be_written(tocsin: Command) -> None:
    tocsin.file("rules.csv", RULES)
    ran = tocsin("build", "rules.csv", "-o", "nowhere/rules.tocsin")
    assert (ran.code, ran.err) == (
        1,
        "tocsin: nowhere/rules.tocsin: cannot be written: there is no folder nowhere\n",
    )
    assert tocsin("build", "rules.csv", "-o", tocsin.folder).code == 1
