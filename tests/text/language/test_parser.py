from __future__ import annotations

import pytest
from hypothesis import example, given
from tests.text_cases import hostile_texts, query_texts

from tocsin.text import Group, Leaf, Operation, QueryProblems, TextQuery, parse_query
from tocsin.text.language.parser import MOST_WORDS
from tocsin.text.language.query import ANY_GAP, Word


def leaf(text: str, gap: int = 0, *, negated: bool = False) -> Leaf:
    words = tuple(Word(word.rstrip("*"), word.endswith("*")) for word in text.split())
    return Leaf(words, gap, negated)


def steps(written: str) -> tuple[Leaf | Group, ...]:
    """Steps in short: words, !words, and &2 |3 ,2 for groups."""
    operations = {operation.value: operation for operation in Operation}
    return tuple(
        Group(operations[each[0]], int(each[1:]))
        if each[0] in operations
        else leaf(each.lstrip("!"), negated=each[0] == "!")
        for each in written.split()
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", "a"),
        ("a & b", "a b &2"),
        ("a&b&c", "a b c &3"),
        ("a | b | c", "a b c |3"),
        ("a, b, c", "a b c ,3"),
        ("a b c", "a b c ,3"),
        ("a, b c", "a b c ,3"),
        ("a & b | c & d", "a b &2 c d &2 |2"),
        ("a | b & c", "a b c &2 |2"),
        ("a | b, c", "a b |2 c ,2"),
        ("a, b | c", "a b ,2 c |2"),
        ("a | b, c | d", "a b |2 c ,2 d |2"),
        ("a b & c d", "a b c &2 d ,3"),
        ("(a | b) & c", "a b |2 c &2"),
        ("(a & b) & (c & d)", "a b c d &4"),
        ("a, (b, (c, d))", "a b c d ,4"),
        ("((a, b))", "a b ,2"),
        ("((((a))))", "a"),
        ("(a)(b)", "a b ,2"),
        ("a(b|c)d", "a b c |2 d ,3"),
        ("a & !b", "a !b &2"),
        ("!a & b", "!a b &2"),
        ("a !b", "a !b ,2"),
        ("a, !b, !c", "a !b !c ,3"),
        ("! a & b", "!a b &2"),
        ("(!a) & b", "!a b &2"),
        ("(!a & !b) & c", "!a !b c &3"),
        ("(a | b), !c", "a b |2 !c ,2"),
        ("(a | b) & !c", "a b |2 !c &2"),
        ("a AND b OR NOT_ c", "a b &2 not_ |2 c ,2"),
        ("a AND NOT b", "a !b &2"),
        ("a and b or not", "a and b or not ,5"),
        ("ANDY ORDER NOTE", "andy order note ,3"),
        ("golf*", "golf*"),
        ("GOLF* & Tennis", "golf* tennis &2"),
        ("a* b*", "a* b* ,2"),
        ("a\u3000b\u00a0c", "a b c ,3"),
        ("\n a\t,\r\nb ", "a b ,2"),
    ],
)
def test_reads(text: str, expected: str) -> None:
    assert parse_query(text).steps == steps(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"David Lee"', leaf("david lee")),
        ('"David Lee"~2', leaf("david lee", 2)),
        ('"David Lee"~0', leaf("david lee")),
        ('"David Lee"~007', leaf("david lee", 7)),
        ('"David Lee"~*', leaf("david lee", ANY_GAP)),
        ('"golf"', leaf("golf")),
        ('"golf"~3', leaf("golf")),
        ('"golf* troph* 2"', leaf("golf* troph* 2")),
        ('"a & (b) | !c"', leaf("a b c")),
        ('"AND OR"', leaf("and or")),
        ("e-mail", leaf("e mail")),
        ("e-mail*", leaf("e mail*")),
        ("e*-mail", leaf("e* mail")),
        ("日本", leaf("日 本")),
        ("don't", leaf("don t")),
        ("Straße", leaf("strasse")),
        ("½", leaf("1 2")),
        ("AND-a", leaf("and a")),
        ("#golf", leaf("golf")),
        ("~golf", leaf("golf")),
        ("a\0b", leaf("a b")),
    ],
)
def test_reads_words_and_phrases(text: str, expected: Leaf) -> None:
    assert parse_query(text).steps == (expected,)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"David Lee"', leaf("david lee", ANY_GAP)),
        ('"golf"', leaf("golf")),
        ("e-mail", leaf("e mail")),
        ("golf*", leaf("golf*")),
    ],
)
def test_reads_phrases_of_tm_contains_with_any_gap(text: str, expected: Leaf) -> None:
    assert parse_query(text, any_gap=True).steps == (expected,)


@pytest.mark.parametrize(
    ("text", "places", "part"),
    [
        ("", [0], "empty"),
        ("   ", [0], "empty"),
        ("a | !b", [4], "OR group"),
        ("!a | !b | c", [0, 5], "OR group"),
        ("!a", [0], "only a negation"),
        ("(!a)", [1], "only a negation"),
        ("!(a)", [0], "only before a word"),
        ("NOT (a, b)", [0], "only before a word"),
        ("a & !(b | c)", [4], "only before a word"),
        ("!a & !b", [0], "only negations"),
        ("a, (!b & !c)", [4], "only negations"),
        ("!a, !b", [0], "only negations"),
        ("!!a", [1], "expected a word"),
        ("a & NOT NOT b", [8], "expected a word"),
        ("a,,b", [2], "expected a word or a phrase, found ','"),
        ("a & & b", [4], "found '&'"),
        ("a | , b", [4], "found ','"),
        ("& a", [0], "found '&'"),
        ("a &", [3], "the end of the query"),
        ("a, !", [4], "the end of the query"),
        ("()", [1], "found ')'"),
        ("a & ()", [5], "found ')'"),
        ("(a", [0], "never closed"),
        ("((a) b", [0], "never closed"),
        ("((a", [0, 1], "never closed"),
        ("a)", [1], "closes nothing"),
        ('a "b', [2], "never closed"),
        ('"', [0], "never closed"),
        ('"a" b"', [5], "never closed"),
        ("*", [0], "stands alone"),
        ("a *", [2], "stands alone"),
        ("a**", [2], "stands alone"),
        ('"a *"', [3], "stands alone"),
        ("-*", [1], "stands alone"),
        ("*golf", [0], "stands alone"),
        ("go*lf", [2], "ends a word"),
        ('""', [0], "no word"),
        ('" - "', [0], "no word"),
        ("--", [0], "no word"),
        ("a & 🙂", [4], "no word"),
        ("a \0", [2], "no word"),
        ('"a b"~', [5], "expected a number or '*'"),
        ('"a b"~x', [5], "expected a number or '*'"),
        ('"a b"~-1', [5], "expected a number or '*'"),
        ('"a b"~1.5', [5], "expected a number or '*'"),
        ('"a b"~1000000001', [5], "at most"),
        ('"a b"~' + "9" * 5000, [5], "at most"),
        ("-- , * , !x", [0, 5], "no word"),
    ],
)
def test_refuses_at_the_place(text: str, places: list[int], part: str) -> None:
    with pytest.raises(QueryProblems) as raised:
        parse_query(text)
    assert [place for place, _ in raised.value.problems] == places
    assert part in raised.value.problems[0][1]


def test_a_phrase_has_so_many_words_at_most() -> None:
    longest = " ".join(["golf"] * MOST_WORDS)
    assert parse_query(f'"{longest}"').steps == (leaf(longest),)
    with pytest.raises(QueryProblems) as raised:
        parse_query(f'tennis, "{longest} golf"')
    assert raised.value.problems == [(8, "a phrase of 1,001 words: at most 1,000 can be looked for")]


def test_refuses_a_gap_in_tm_contains() -> None:
    with pytest.raises(QueryProblems) as raised:
        parse_query('a, "b c"~2', any_gap=True)
    [(place, reason)] = raised.value.problems
    assert place == 8
    assert "tm_contains" in reason


@given(query_texts())
def test_reads_every_way_to_write_a_query(written: tuple[str, TextQuery]) -> None:
    text, query = written
    assert parse_query(text) == query


@given(hostile_texts())
@example("!" * 50)
@example("(" * 50 + "a")
@example('"' * 51)
def test_any_text_is_a_query_or_has_problems_within_it(text: str) -> None:
    query, problems = read(text)
    if query is None:
        assert problems
        assert all(0 <= place <= len(text) and reason for place, reason in problems)
    else:
        assert follows_the_rules(query)


def read(text: str) -> tuple[TextQuery | None, list[tuple[int, str]]]:
    """The query, or what is wrong with it."""
    try:
        return parse_query(text), []
    except QueryProblems as refused:
        return None, refused.problems


def follows_the_rules(query: TextQuery) -> bool:
    """What readers of a query may rely on."""
    taken = query.operands()
    for step, operands in zip(query.steps, taken, strict=True):
        if isinstance(step, Leaf):
            continue
        below = [query.steps[operand] for operand in operands]
        negated = sum(isinstance(each, Leaf) and each.negated for each in below)
        if len(below) < 2 or negated == len(below) or (negated and step.operation is Operation.OR):
            return False
        if any(isinstance(each, Group) and each.operation is step.operation for each in below):
            return False
    whole = query.steps[-1]
    return isinstance(whole, Group) or not whole.negated


def test_places_are_those_of_the_words_in_the_text() -> None:
    text = 'golf & (!"David Lee", trophy*)'
    query = parse_query(text)
    places = [place for step, place in zip(query.steps, query.places, strict=True) if isinstance(step, Leaf)]
    assert [text[place:].split(",")[0].split(" &")[0].rstrip(")") for place in places] == [
        "golf",
        '!"David Lee"',
        "trophy*",
    ]


@pytest.mark.parametrize("count", [10_000])
def test_reads_many_words(count: int) -> None:
    query = parse_query(" ".join(f"w{number}" for number in range(count)))
    assert query.steps[-1] == Group(Operation.ACCRUE, count)


def test_depth_is_no_limit() -> None:
    depth = 100_000
    pairs = depth // 2
    text = "(" * depth + "x" + " & a) | b)" * pairs
    assert parse_query(text).steps == (leaf("x"), *(steps("a &2 b |2") * pairs))
    assert parse_query("(" * depth + "a, b" + ")" * depth).steps == steps("a b ,2")
    with pytest.raises(QueryProblems) as raised:
        parse_query("(" * depth + "a")
    assert raised.value.problems[0][0] == 0
