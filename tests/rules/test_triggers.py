from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.rules import After, Table
from tocsin.rules.triggers import MOST_TABLES, parse_triggers

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
    assert first.after == After(("insert",), "v")
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


def test_several_tables() -> None:
    triggers, errors = parse_triggers(
        "create trigger a from s as x, t after update to x when x.k = t.k and x.n > t.n do alert '{t.k} {x}';"
    )
    assert (triggers, [error.column for error in errors]) == ([], [98])
    text = (
        "create trigger a from s as x, t after update to x when x.k = t.k and not x.n > t.n do alert '{t.k}';"
    )
    triggers, errors = parse_triggers(text)
    assert errors == []
    (trigger,) = triggers
    assert trigger.tables == (Table("s", "x"), Table("t", "t"))
    assert (trigger.aliases, trigger.alias, trigger.after) == (("x", "t"), None, After(("update",), "x"))
    assert trigger.metadata() == {"table": "s, t", "alias": "x, t", "after": "update", "alert": "{t.k}"}


def test_the_most_tables() -> None:
    def errors_of(count: int) -> list[str]:
        tables = ", ".join(f"t{number}" for number in range(count))
        asked = " and ".join(f"t{number}.k = 1" for number in range(count))
        return [error.reason for error in parse_triggers(f"create trigger a from {tables} when {asked};")[1]]

    assert errors_of(MOST_TABLES) == []
    assert errors_of(MOST_TABLES + 2) == [f"a trigger has at most {MOST_TABLES} tables"]


def test_one_threshold_over_several_tables() -> None:
    text = """create trigger a from t, u after insert to t
when t.b = u.b and contains(t.c, 'x', 1)
and contains(t.d, 'x', 1);"""
    triggers, errors = parse_triggers(text)
    assert (triggers, [(error.line, error.column) for error in errors]) == ([], [(3, 5)])
    assert "only one contains of a condition can have a threshold" in errors[0].reason


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
        (
            "create trigger a from t, u as v when t.b = v.b and b;",
            52,
            "'b' has no alias: with several tables",
        ),
        ("create trigger a from t, u when t.b = u.b and w.c = 1;", 47, "there is no alias 'w'"),
        ("create trigger a from tab, u when tb.b = u.b;", 35, "did you mean 'tab'?"),
        ("create trigger a from t, u when t.b = u.b = 5;", 43, "'=' cannot follow a comparison"),
        ("create trigger a from t, u when t.b = u.b and t = 5;", 49, "expected '.' and a field after 't'"),
        ('create trigger a from t, u when t.b = "u".b;', 39, "strings are written in single quotes"),
        (
            "create trigger a from t, t when t.b = 1;",
            26,
            "'t' is already another table's alias: write t as ...",
        ),
        ("create trigger a from t, u as t when t.b = 1;", 31, "'t' is already another table's alias"),
        ("create trigger a from t, u when t.b = 1;", 26, "nothing is asked of 'u'"),
        (
            "create trigger a from t, u when t.b = 1 and (t.c = 1 or u.c = t.c);",
            26,
            "nothing is asked of 'u'",
        ),
        (
            "create trigger a from t, u after insert to v when t.b = u.b;",
            44,
            "expected 't' or 'u' after 'to'",
        ),
        ("create trigger a from t, u when t.b = u.b and contains(t.c, 'x');", 47, "this trigger names none"),
        (
            "create trigger a from t, u after delete to t when t.b = u.b and not tm_contains(u.c, 'x');",
            69,
            "tm_contains stands only on the event table, the one of 'after ... to', which is 't'",
        ),
        ("create trigger a from t, u when t.b = u.b do alert 'it''s {w.x}';", 60, "there is no alias 'w'"),
        ("create trigger a from t, u when t.b = u.b do alert '{x}';", 54, "'x' has no alias"),
        ("create trigger a from t, when t.b = 1;", 26, "expected a table's name"),
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
create trigger a with (x = high) from t, u when t.b == 1 and u.c > do alert 5;
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
        ("a", 1, 53),
        ("a", 1, 68),
        ("a", 1, 77),
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
    *("after update of", "or insert", "or delete to", "old", "old.a !=", "of", "enabled = false"),
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
