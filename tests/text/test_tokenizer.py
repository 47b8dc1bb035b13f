from __future__ import annotations

from unicodedata import category, name, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text_cases import SPELLINGS, WORDS

from tocsin.text import words_of
from tocsin.text.tokenizer import is_word_alone, normalised


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \n\t", []),
        ("Golf, golf; GOLF!", ["golf", "golf", "golf"]),
        ("snake_case __init__ _", ["snake_case", "__init__", "_"]),
        ("7 up, 3rd, x86_64, 1.5", ["7", "up", "3rd", "x86_64", "1", "5"]),
        ("don't e-mail me@home.org", ["don", "t", "e", "mail", "me", "home", "org"]),
        ("a\0b\x1fc\x7fd", ["a", "b", "c", "d"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("e\u0301 é É E\u0301", ["é", "é", "é", "é"]),
        ("x\u0338y", ["x\u0338y"]),
        ("ﬁnd oﬀer", ["find", "offer"]),
        ("Ａｂｃ１２ ª ² ①", ["abc12", "a", "2", "1"]),
        ("½ ㎏", ["1", "2", "kg"]),
        ("K Å ſ", ["k", "å", "s"]),
        ("ΣΊΣΥΦΟΣ Σίσυφος", ["σίσυφοσ", "σίσυφοσ"]),
        ("日本語", ["日", "本", "語"]),
        ("東京tower2020年", ["東", "京", "tower2020", "年"]),
        ("ひらがなカタカナ", list("ひらがなカタカナ")),
        ("ｶﾞ", ["ガ"]),
        ("㍿", ["株", "式", "会", "社"]),
        ("한국어 뉴스", ["한국어", "뉴스"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("ข่าววันนี้", ["ข่าววันนี้"]),
        ("خبر عاجل ٢٠٢٤", ["خبر", "عاجل", "٢٠٢٤"]),
        ("новости\u00a0дня", ["новости", "дня"]),
        ("good🙂news 👨\u200d👩\u200d👧", ["good", "news"]),
        ("a\u200db a\u200bb a\u00adb", ["a", "b", "a", "b", "a", "b"]),
        ("wait…what—now", ["wait", "what", "now"]),
        ("\u0301alone", ["\u0301alone"]),
        ("𝐆𝐨𝐥𝐟 𝟚", ["golf", "2"]),
        ("Ⅻ", ["xii"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_spellings_are_of_their_words() -> None:
    for word in WORDS:
        for spelling in SPELLINGS.get(word, (word,)):
            assert words_of(spelling) == [word]


def by_the_book(text: str) -> list[str]:
    """The words by the definition, character by character."""
    words = [""]
    for character in normalize("NFKC", normalize("NFKC", text).casefold()):
        if is_word_alone(character):
            words += [character, ""]
        elif character == "_" or category(character)[0] in "LMN":
            words[-1] += character
        else:
            words.append("")
    return [word for word in words if word]


@given(st.text(max_size=60))
def test_any_text_is_cut_by_the_definition(text: str) -> None:
    assert words_of(text) == by_the_book(text)


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_ascii_is_cut_by_the_same_definition(text: str) -> None:
    assert words_of(text) == by_the_book(text)


@given(st.text(max_size=30))
def test_words_stay_themselves(text: str) -> None:
    for word in words_of(text):
        assert words_of(normalised(word)) == words_of(word)


@given(st.characters(categories=("L", "M", "N")))
def test_alone_are_the_characters_of_three_scripts(character: str) -> None:
    written = name(character, "")
    if written.startswith(("CJK UNIFIED IDEOGRAPH", "HIRAGANA LETTER", "KATAKANA LETTER")):
        assert is_word_alone(character)
    elif written.startswith(("LATIN", "GREEK", "CYRILLIC", "HANGUL", "ARABIC", "THAI", "DEVANAGARI")):
        assert not is_word_alone(character)
