"""tocsin score."""

from __future__ import annotations

from tests.cli.running import Command

from tocsin import Dictionary


def test_the_number_alone(tocsin: Command) -> None:
    ran = tocsin("score", "David Lee wins the golf trophy", '"David Lee", golf, cup')
    assert ran == (0, "1.414213562373095\n", "")
    assert float(ran.out) == 2 / 2**0.5
    assert tocsin("score", "nothing of the kind", "golf").out == "0.0\n"
    assert tocsin("score", "", "golf").out == "0.0\n"


def test_as_tm_contains(tocsin: Command) -> None:
    assert tocsin("score", "David met Lee", '"David Lee"').out == "0.0\n"
    assert tocsin("score", "David met Lee", '"David Lee"', "--tm").out == "1.0\n"


def test_a_text_from_a_file(tocsin: Command) -> None:
    tocsin.file("article.txt", b"\xef\xbb\xbfGolf\nand a \xc3\xa9t\xc3\xa9\n")
    assert tocsin("score", "@article.txt", "golf & été").out == f"{1 / 2**0.5}\n"
    tocsin.file("bad.txt", b"\xff")
    assert tocsin("score", "@bad.txt", "golf") == (1, "", "tocsin: bad.txt: the file is not UTF-8 text\n")
    assert tocsin("score", "@none.txt", "golf").code == 1


def test_with_a_dictionary_and_an_explanation(tocsin: Command) -> None:
    Dictionary.of_counts({"golf": 2, "the": 4}, 4).save(tocsin.folder / "words.parquet")
    ran = tocsin("score", "the golf", "the, golf, cup", "--dictionary", "words.parquet", "--explain")
    assert ran.out == "1.0\n"
    assert ran.err.splitlines() == [
        "score 1.0000 = 0.6931 / 0.6931",
        "  holds    accrue   value 0.6931",
        "  found      the    weight 0.0000 (the 1/1 x 0)   once: [the] golf",
        "  found      golf   weight 0.6931 (golf 1/1 x 0.6931)   once: the [golf]",
        "  missing    cup",
    ]


def test_a_bad_query(tocsin: Command) -> None:
    ran = tocsin("score", "golf", "golf & (trophy")
    assert ran.code == 1
    assert ran.out == ""
    assert ran.err.splitlines() == [
        "tocsin: 1:8: this '(' is never closed",
        "    golf & (trophy",
        "           ^",
    ]
