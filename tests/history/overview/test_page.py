"""The HTML page: whole, and safe whatever rules and events hold."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import tocsin
from tocsin.history.overview.page import page

HOSTILE = "</td></script><script>alert('x')</script><img src=x onerror=alert(1)>\"'&\x00\x1b\u202e{0}{title}"
VOID = {"meta", "rect", "line"}


class _Checked(HTMLParser):
    """Holds every tag to be closed, and gathers what a page has."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(text: str) -> _Checked:
    checked = _Checked()
    checked.feed(text)
    checked.close()
    assert checked.open == []
    return checked


def test_what_comes_from_outside_stays_text() -> None:
    when = "x = '" + HOSTILE.replace("'", "''") + "'"
    field = '"<b>' + HOSTILE.replace('"', '""').replace("\x00", "") + '"'
    rules = [(HOSTILE, when), ("never" + HOSTILE, f"{field} = 1"), ("wrong", "x = '<i>'")]
    found = tocsin.backtest(rules, [{"x": HOSTILE, "at": "2026-01-01T00:00:00Z"}])
    checked = read(page(found.digest()))
    assert checked.tags.count("script") == 1
    assert "img" not in checked.tags
    assert "b" in checked.tags  # of the page's own
    assert not any(name.startswith("on") for name in checked.attributes)
    assert not {"src", "href"} & checked.attributes
    said = "".join(checked.texts)
    assert said.count("<script>alert('x')</script>") >= 4
    assert not {"\x00", "\x1b"} & set(said)


def test_nothing_is_loaded_from_anywhere(tmp_path: Path) -> None:
    rules = [("golf", "contains(body, 'golf, trophy')"), ("all", "true"), ("none", "nowhere = 1")]
    events = [{"body": "golf", "at": f"2026-01-{day:02}T00:00:00Z"} for day in range(1, 29)]
    found = tocsin.backtest(rules, events)
    found.html(tmp_path / "report.html", top=1)
    text = (tmp_path / "report.html").read_text()
    assert not re.search(r"https?:|url\(|@import|<link", text)
    checked = read(text)
    assert checked.tags.count("svg") == 3  # over time, by hits, and of the one rule that is listed
    said = " ".join(checked.texts)
    assert "3 rules over 28 events" in said
    assert "1 more matched less often" in said
    assert "no event has the field nowhere" in said


def test_a_page_of_nothing() -> None:
    read(page(tocsin.backtest([], []).digest()))
    read(page(tocsin.backtest([("r", "x = 1")], [{"x": 1}]).digest(0)))


def test_the_first_and_the_last_day_of_the_calendar() -> None:
    days = ["0001-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]
    found = tocsin.backtest([("all", "true")], [{"at": day} for day in days])
    assert len(found.times) == 3
    assert found.times.column("at")[0].as_py().year == 1
    read(page(found.digest()))
