"""What benchmarks write into documents; their figures are nobody's to assert."""

from __future__ import annotations

from benchmarks import tables


def test_generated_text_replaces_what_was_there():
    page = "before\n<!-- generated: spine -->\nold\nold\n<!-- end: spine -->\nafter\n"
    once = tables.with_generated(page, "spine", "a \\1 table")
    assert once == "before\n<!-- generated: spine -->\na \\1 table\n<!-- end: spine -->\nafter\n"
    assert tables.with_generated(once, "spine", "a \\1 table") == once
    assert tables.with_generated(page, "other", "text") == page


def test_numbers_have_three_digits_that_count():
    assert [tables.milliseconds(each) for each in (0.0000123456, 0.00123456, 1.23456)] == [
        "0.0123 ms",
        "1.23 ms",
        "1,235 ms",
    ]
