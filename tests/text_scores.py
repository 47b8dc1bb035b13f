"""Text queries and documents with verdicts that were worked out by hand from the specification.

Every door that judges free text is held to this table. A score is written as the sum that the
specification asks for, in the order of the query, so that it is the same double bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log, sqrt


@dataclass(frozen=True, slots=True)
class Case:
    """A query, a document, what was counted before, and the verdict.

    texts       the document: one text, or the elements of a list
    documents   N of the dictionary
    counts      how many of these documents hold each word
    by_hand     words whose idf was given
    """

    query: str
    texts: tuple[str, ...]
    holds: bool
    score: float
    documents: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    by_hand: Mapping[str, float] = field(default_factory=dict)
    stop_words: frozenset[str] = frozenset()
    tm: bool = False

    def idf(self, word: str) -> float:
        """The idf of a word in the case's own dictionary: a case can be handed over as word weights."""
        if word in self.stop_words:
            return 0.0
        if word in self.by_hand:
            return self.by_hand[word]
        if self.documents == 0:
            return 1.0
        if word in self.counts:
            return log(self.documents / self.counts[word])
        return log(self.documents + 1)


COUNTS = {"golf": 2, "golfer": 1, "tennis": 5, "trophy": 5, "david": 1, "lee": 4, "the": 10}


def _plain(query: str, text: str | tuple[str, ...], score: float | None, *, tm: bool = False) -> Case:
    """A case without a dictionary; no score means that the query does not hold."""
    texts = (text,) if isinstance(text, str) else text
    return Case(query, texts, score is not None, score or 0.0, tm=tm)


def _counted(
    query: str,
    text: str | tuple[str, ...],
    score: float | None,
    *,
    by_hand: Mapping[str, float] | None = None,
    stop_words: frozenset[str] = frozenset(),
    tm: bool = False,
) -> Case:
    """The same with COUNTS of ten documents."""
    texts = (text,) if isinstance(text, str) else text
    return Case(query, texts, score is not None, score or 0.0, 10, COUNTS, by_hand or {}, stop_words, tm)


def _length(*weights: float) -> float:
    """The root of the sum of the squares."""
    total = 0.0
    for weight in weights:
        total += weight * weight
    return sqrt(total)


GOLF, GOLFER, TENNIS, TROPHY = log(10 / 2), log(10 / 1), log(10 / 5), log(10 / 5)
DAVID, LEE, UNKNOWN = log(10 / 1), log(10 / 4), log(10 + 1)

CASES = (
    # A lone word, prefix or phrase scores 1 wherever it weighs something.
    _plain("golf", "Golf is golf.", 1.0),
    _plain("golf", "golfers play", None),
    _counted("golf", "golf golf lee", log(10 / 2) / _length(log(10 / 2))),
    _counted("zebra", "a zebra", UNKNOWN / _length(UNKNOWN)),
    _counted("the", "the end", 0.0),
    _counted("golf", "golf golf lee", 0.0, stop_words=frozenset({"golf"})),
    _plain("golf*", "a golfer", 1.0),
    _plain('"david lee"', "David Lee plays", 1.0),
    # ACCRUE: the sum, over the length of the weights.
    _plain("golf, trophy", "a golf trophy", (1.0 + 1.0) / _length(1.0, 1.0)),
    _plain("golf, trophy", "a golf club", 1.0 / _length(1.0)),
    _plain("golf trophy", "golf, golf: a trophy", (1.0 + 1 / 2) / _length(1.0, 1 / 2)),
    _plain("golf, trophy", "tennis", None),
    _counted(
        "golf, trophy",
        "golf golf golf trophy lee",
        (3 / 3 * GOLF + 1 / 3 * TROPHY) / _length(3 / 3 * GOLF, 1 / 3 * TROPHY),
    ),
    _counted("zebra, golf", "golf zebra", (UNKNOWN + GOLF) / _length(UNKNOWN, GOLF)),
    _counted("the, golf", "the golf", GOLF / _length(GOLF)),
    _counted("the, golf", "the end", 0.0),
    _counted("golf, lee", "golf lee", LEE / _length(LEE), stop_words=frozenset({"golf"})),
    _counted(
        "golf, lee", "golf lee lee", (1 / 2 * 3.0 + LEE) / _length(1 / 2 * 3.0, LEE), by_hand={"golf": 3.0}
    ),
    _counted("golf, golf", "golf", (GOLF + GOLF) / _length(GOLF, GOLF)),
    _plain("golf and trophy", "golf and trophy", (1.0 + 1.0 + 1.0) / _length(1.0, 1.0, 1.0)),
    _counted("golf, trophy, !tennis", "golf trophy", (GOLF + TROPHY) / _length(GOLF, TROPHY)),
    _counted("golf, trophy, !tennis", "golf trophy tennis", None),
    _counted("!tennis, golf", "lee", None),
    # AND: the smallest, and 1 for each word that must be absent and is.
    _counted(
        "golf & trophy", "golf trophy trophy", min(1 / 2 * GOLF, TROPHY) / _length(1 / 2 * GOLF, TROPHY)
    ),
    _counted("golf & trophy", "golf", None),
    _counted("golf & !tennis", "golf", min(GOLF, 1.0) / _length(GOLF, 1.0)),
    _counted("!tennis & lee & !zebra", "lee", min(1.0, LEE, 1.0) / _length(1.0, LEE, 1.0)),
    _counted("golf AND NOT tennis", "golf tennis", None),
    _counted("the & golf", "the golf", GOLF / _length(GOLF)),
    # A word that weighs nothing leaves the 1 of the absent one.
    _counted("the & !tennis", "the end", 1.0 / _length(0.0, 1.0)),
    # OR: the largest.
    _counted("golf | trophy", "golf trophy", max(GOLF, TROPHY) / _length(GOLF, TROPHY)),
    _counted("golf OR trophy", "trophy", TROPHY / _length(TROPHY)),
    _counted("golf | trophy", "the end", None),
    # Phrases: the least weight that is not 0; stop words keep their place.
    _counted(
        '"david lee", golf', "golf: David Lee", (min(DAVID, LEE) + GOLF) / _length(min(DAVID, LEE), GOLF)
    ),
    _plain('"david lee"', "David B. Lee", None),
    _plain('"david lee"~1', "David B. Lee", 1.0),
    _plain('"david lee"~1', "David Bo B. Lee", None),
    _plain('"david lee"~1', "David David Bo Lee", 1.0),
    _plain('"a b c"~1', "a x b x x b c", None),
    _plain('"a b c"~1', "a b b x c", 1.0),
    _plain('"david lee"~*', "Lee met David", None),
    _plain('"david lee"~*', "David met many people, and Lee", 1.0),
    _plain('"david lee"', "David met Lee", 1.0, tm=True),
    _plain('"david lee"', "Lee met David", None, tm=True),
    _plain("david-lee", "David met Lee", None, tm=True),
    _counted('"the golf" , lee', "the golf lee", (GOLF + LEE) / _length(GOLF, LEE)),
    _counted('"the golf"', "golf", None),
    _counted('"the the"', "the the", 0.0),
    _counted(
        '"lee golf", trophy',
        "lee golf trophy",
        (GOLF + TROPHY) / _length(GOLF, TROPHY),
        stop_words=frozenset({"lee"}),
    ),
    _counted('"golf golf"', "golf trophy golf", None),
    # Prefixes: the largest weight among the words that they cover.
    _counted(
        "golf*, trophy",
        "golf golfer golfer trophy",
        (max(1 / 2 * GOLF, 2 / 2 * GOLFER) + 1 / 2 * TROPHY)
        / _length(max(1 / 2 * GOLF, 2 / 2 * GOLFER), 1 / 2 * TROPHY),
    ),
    _counted("golfi*, lee", "golfing lee", (UNKNOWN + LEE) / _length(UNKNOWN, LEE)),
    _counted('"dav* lee", golf', "david lee golf", (min(DAVID, LEE) + GOLF) / _length(min(DAVID, LEE), GOLF)),
    _plain('"dav* lee"', "dav lee", 1.0),
    # Groups in groups. Leaves that occur count in the length, also where their group fails.
    _counted(
        '(golf | tennis) & "david lee" & !trophy',
        "golf tennis david lee",
        min(max(GOLF, TENNIS), min(DAVID, LEE), 1.0) / _length(GOLF, TENNIS, min(DAVID, LEE), 1.0),
    ),
    _counted("golf, (trophy & tennis)", "golf trophy", GOLF / _length(GOLF, TROPHY)),
    _counted("golf | (trophy & !tennis)", "golf", GOLF / _length(GOLF, 1.0)),
    _counted("golf | trophy, lee", "golf trophy lee", (max(GOLF, TROPHY) + LEE) / _length(GOLF, TROPHY, LEE)),
    _counted("lee, golf & trophy", "golf trophy", min(GOLF, TROPHY) / _length(GOLF, TROPHY)),
    _counted("(golf | tennis), !trophy", "tennis", TENNIS / _length(TENNIS)),
    _counted("(the | zebra) & golf", "the golf", GOLF / _length(GOLF)),
    _counted("(the | zebra), !golf", "the lee", 0.0),
    _counted("(golf, lee) | trophy", "golf lee trophy", max(GOLF + LEE, TROPHY) / _length(GOLF, LEE, TROPHY)),
    _counted(
        "golf, (lee, (trophy, !tennis))",
        "golf lee trophy",
        (GOLF + LEE + TROPHY) / _length(GOLF, LEE, TROPHY),
    ),
    # Lists are one document with breaks that no phrase crosses; a text may have no word at all.
    _plain('"david lee"~*', ("David", "Lee plays"), None),
    _plain("david & lee", ("David", "Lee plays"), 1.0 / _length(1.0, 1.0)),
    _plain("golf, lee", ("golf lee", "golf"), (1.0 + 1 / 2) / _length(1.0, 1 / 2)),
    _plain('"david lee"', ("Lee David", "David Lee"), 1.0),
    _plain("golf", (), None),
    _plain("golf", "", None),
    _plain("golf", ("", "!? 🙂 \0"), None),
    # Words of every script.
    _plain("straße", "STRASSE", 1.0),
    _plain("日本", "日本語", 1.0),
    _plain("日本", "日の本", None),
    _plain("e-mail", "E-Mail me", 1.0),
    _plain("e-mail", "email", None),
    _plain("cafe\u0301 | x", "CAFÉ", 1.0),
    _plain("golf, ﬁn*", "golf\0finish🙂golf", (1.0 + 1 / 2) / _length(1.0, 1 / 2)),
)
