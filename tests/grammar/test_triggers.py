from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.grammar.triggers import Change, Table, parse_triggers

WHOLE = """\
-- a comment; with a semicolon
create trigger young
  with (severity = 'high', tags = 'ads;eu', limit = 5, weight = 2.5, loud = true)
  from visits as v
  after insert to v
  when v.age < 18 -- really; young
    and v.do = 'a;b'
  do alert 'visit by {v.age}; look';

CREATE TRIGGER "two words" WHEN "from" = 1;create trigger c from t when t.a = 1 and b;;
"""


def test_a_whole_file() -> None:
    triggers, errors = parse_triggers(WHOLE)
    assert errors == []
    first, second, third = triggers
    assert first.name == "young"
    assert first.options == {"severity": "high", "tags": "ads;eu", "limit": 5, "weight": 2.5, "loud": True}
    assert first.tables == (Table("visits", "v"),)
    assert first.after == Change("insert", "v")
    assert first.when == "v.age < 18 -- really; young\n    and v.do = 'a;b'"
    assert (first.line, first.column) == (6, 8)
    assert first.alias == "v"
    assert first.alert == "visit by {v.age}; look"
    assert first.metadata() == {
        **first.options,
        "table": "visits",
        "alias": "v",
        "after": "insert",
        "alert": "visit by {v.age}; look",
    }
    assert (second.name, second.when, second.alias, second.metadata()) == (
        "two words",
        '"from" = 1',
        None,
        {},
    )
    assert (third.name, third.alias, third.line) == ("c", "t", 10)


def test_the_table_of_after_is_the_alias_where_no_other_is_given() -> None:
    triggers, errors = parse_triggers("create trigger a after delete to v when v.x = 1;")
    assert errors == []
    assert triggers[0].alias == "v"


@pytest.mark.parametrize(
    ("statement", "column", "part"),
    [
        ("drop table x;", 1, "a statement starts with 'create trigger'"),
        ("create table x;", 8, "expected 'trigger'"),
        ("create trigger;", 15, "expected a name for the trigger after 'trigger', found ';'"),
        ("create trigger from when a;", 16, 'as a name it is written "from"'),
        ('create trigger "" when a;', 16, "cannot be empty"),
        ("create trigger a;", 17, "expected 'with', 'from', 'after' or 'when'"),
        ("create trigger a from t;", 24, "expected 'after' or 'when'"),
        ("create trigger a where b = 1;", 18, "found 'where'"),
        ("create trigger a (b) when c;", 18, "found '('"),
        ("create trigger a with (x = high) when b;", 28, "single quotes"),
        ("create trigger a with (x 'high') when b;", 26, "expected '='"),
        ("create trigger a with (x = 1, x = 2) when b;", 31, "given twice"),
        ("create trigger a with (alert = 1) when b;", 24, "not an option"),
        ("create trigger a with (x = 1 when b;", 30, "expected ',' or ')'"),
        ("create trigger a from t, u as v when b;", 26, "several tables is not supported yet"),
        ("create trigger a from t v when b;", 25, "expected 'after' or 'when'"),
        ("create trigger a after change to t when b;", 24, "expected 'insert', 'update' or 'delete'"),
        ("create trigger a from t as v after insert to t when b;", 46, "expected 'v' after 'to'"),
        ("create trigger a when ;", 23, "the condition is empty"),
        ("create trigger a when do alert 'x';", 23, "the condition is empty"),
        ("create trigger a when b = ;", 27, "expected a value after '=', found ';'"),
        ("create trigger a when b = 1 and (c = 2;", 33, "never closed"),
        ("create trigger a when when = 1;", 23, 'as a field it is written "when"'),
        ("create trigger a from v when v = 1;", 32, "v is the table"),
        ("create trigger a when b do;", 27, "expected 'alert'"),
        ("create trigger a when b do alert x;", 34, "expected the alert's text as a string"),
        ("create trigger a when b do alert 'x' 'y';", 38, "expected ';'"),
        ("create trigger a when b", 24, "expected ';' before the end of the file"),
        ("create trigger a when b = 'x; ", 27, "string never ends"),
    ],
)
def test_one_mistake_gives_one_message_at_its_place(statement: str, column: int, part: str) -> None:
    triggers, errors = parse_triggers("\n" + statement, "rules.sql")
    assert triggers == []
    assert [(error.file, error.line, error.column) for error in errors] == [("rules.sql", 2, column)]
    assert part in errors[0].reason
    assert errors[0].excerpt == statement


def test_every_error_of_a_file_is_reported_and_good_statements_are_kept() -> None:
    text = """\
create trigger a with (x = high) from t, u when b == 1 and c > do alert 5;
create trigger good when a = 1;
nonsense; more nonsense;
create trigger b when a = 1
create trigger c when a = 1;
create trigger d when a in (1, 'x');
"""
    triggers, errors = parse_triggers(text)
    assert [trigger.name for trigger in triggers] == ["good", "c"]
    assert [(error.rule, error.line, error.column) for error in errors] == [
        ("a", 1, 28),
        ("a", 1, 42),
        ("a", 1, 51),
        ("a", 1, 64),
        ("a", 1, 73),
        (None, 3, 1),
        (None, 3, 11),
        ("b", 5, 1),
        ("d", 6, 32),
    ]


def test_a_file_without_statements_has_no_triggers() -> None:
    assert parse_triggers("-- nothing\n;;") == ([], [])


def test_many_statements() -> None:
    triggers, errors = parse_triggers("create trigger t when a = 1;\n" * 5_000)
    assert (len(triggers), len(errors)) == (5_000, 0)
    assert triggers[-1].line == 5_000


WORDS = [
    *(
        "create trigger t",
        "create",
        "trigger",
        "with (",
        "x = 1",
        "from",
        "as",
        "v",
        "after insert to",
        "when",
    ),
    *("do alert", "'text'", "a = 1", "a", "and", "(", ")", ",", ".", "=", ";", "'open", "$", "1."),
]


@given(st.lists(st.sampled_from(WORDS), max_size=20))
def test_any_words_give_triggers_or_errors_inside_the_text(words: list[str]) -> None:
    text = " ".join(words)
    triggers, errors = parse_triggers(text)
    assert all(text[trigger.column - 1 :].startswith(trigger.when) for trigger in triggers)
    assert all(error.line == 1 and 1 <= (error.column or 0) <= len(text) + 1 for error in errors)
    assert bool(triggers or errors) == bool(text.strip(" ;"))
    assert len({(error.line, error.column) for error in errors}) == len(errors)


def test_an_open_quote_hides_no_other_statement() -> None:
    text = (
        "create trigger a when x = 'one';\n"
        "create trigger b when x = 'two;\n"
        "create trigger c when x = 'three';\n"
        "create trigger d when y = ;\n"
        "create trigger e when x = 'four' and y like '%create trigger%';\n"
    )
    triggers, errors = parse_triggers(text, "rules.sql")
    assert [trigger.name for trigger in triggers] == ["a", "c", "e"]
    assert [(error.rule, error.line, error.column) for error in errors] == [("b", 2, 27), ("d", 4, 27)]
