"""Whether the free text of an index that comes from a file is what kernels take it for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.arrays.array_checks import Array, Check, is_amount, is_text
from tocsin.errors import IndexFileError, UsageError
from tocsin.text.dictionary import LARGEST_IDF, LEAST_IDF
from tocsin.text.kernels.dictionary import DictionaryWords
from tocsin.text.kernels.neighbours import no_neighbours
from tocsin.text.kernels.text_soundness import unsound_branch, unsound_query, unsound_term
from tocsin.text.kernels.trie import ROW
from tocsin.text.settings import TextSettings

if TYPE_CHECKING:
    from tocsin.text.compiled_texts import CompiledTexts


def check_texts(check: Check, texts: CompiledTexts, leaves: int, rule_count: int) -> None:
    """IndexFileError when they are not sound, of an index of so many leaves and rules."""
    rules, queries, groups = texts.rules, len(texts.leaf), len(texts.base.fields)
    check.that(
        "texts.words.unknown", len(set(texts.base.fields)) == groups, "is of fields that are there twice"
    )
    check.references("texts.leaf", texts.leaf, leaves)
    check.that("texts.leaf", bool((texts.leaf[1:] > texts.leaf[:-1]).all()), "does not ascend")
    _check_words(check, "texts.words", texts.base.words, groups)
    for start, of, count in (
        ("score_start", rules.score_query, queries),
        ("deferred_start", rules.deferred, 2 * queries),
    ):
        offsets = getattr(rules, start)
        pieces = 0 if len(offsets) == 1 else rule_count
        check.offsets(f"texts.rules.{start}", offsets, pieces, len(of))
        check.references(f"texts.rules.{start.removesuffix('_start')}", of, count)
    code = texts.queries
    check.length("texts.queries.group", code.group, queries)
    check.references("texts.queries.group", code.group, groups)
    check.length("texts.queries.threshold", code.threshold, queries)
    check.offsets("texts.queries.step_start", code.step_start, queries, len(code.step))
    check.offsets("texts.queries.leaf_start", code.leaf_start, queries, len(code.negated))
    check.length("texts.queries.gap", code.gap, len(code.negated))
    check.offsets("texts.queries.term_start", code.term_start, len(code.negated), len(code.term))
    _check_terms(check, texts, groups)
    if queries:
        check.sound("texts.queries.step", unsound_query(code, len(texts.terms.group)))
    _check_trie(check, texts, groups)


def _check_words(check: Check, name: str, words: DictionaryWords, groups: int) -> None:
    """The words of so many text groups."""
    count = len(words.group)
    check.references(f"{name}.group", words.group, groups)
    check.offsets(f"{name}.start", words.start, count, len(words.data))
    check.length(f"{name}.idf", words.idf, count)
    _check_weights(check, f"{name}.idf", words.idf)
    check.table(f"{name}.table", words.table, count)
    check.length(f"{name}.unknown", words.unknown, groups)
    _check_weights(check, f"{name}.unknown", words.unknown)


def _check_weights(check: Check, name: str, idf: Array) -> None:
    """0, or such as neither vanish nor overflow when they are squared."""
    fits = (idf == 0) | ((idf >= LEAST_IDF) & (idf <= LARGEST_IDF))
    check.that(name, bool(fits.all()), "has a weight that no word has")


def _check_terms(check: Check, texts: CompiledTexts, groups: int) -> None:
    terms = texts.terms
    count = len(terms.group)
    check.references("texts.terms.group", terms.group, groups)
    check.length("texts.terms.is_prefix", terms.is_prefix, count)
    check.references("texts.terms.is_prefix", terms.is_prefix, 2)
    check.offsets("texts.terms.start", terms.start, count, len(terms.data))
    check.length("texts.terms.idf", terms.idf, count)
    _check_weights(check, "texts.terms.idf", terms.idf)
    for name, size in (("slot", len(terms.slot)), ("prefixes", len(terms.prefixes) - 1)):
        check.that(
            f"texts.terms.{name}",
            size > 0 and size & (size - 1) == 0,
            "has a length that is not a power of two",
        )
    check.that("texts.terms.covering", len(terms.covering) > 0, "is empty")
    if count or terms.slot.any() or len(terms.record):
        check.sound("texts.terms.record", unsound_term(terms))


def _check_trie(check: Check, texts: CompiledTexts, groups: int) -> None:
    trie = texts.trie
    nodes = len(trie.branch) // ROW - 1
    check.that("texts.trie.branch", nodes >= groups, "has fewer nodes than there are roots")
    check.length("texts.trie.branch", trie.branch, ROW * (nodes + 1))
    check.length("texts.trie.root_child", trie.root_child, len(texts.terms.group))
    check.length("texts.trie.is_indexed", trie.is_indexed, len(texts.leaf))
    size = len(trie.table)
    check.that(
        "texts.trie.table", size > 0 and size & (size - 1) == 0, "has a length that is not a power of two"
    )
    pairs = 64 * len(no_neighbours())
    place = unsound_branch(trie, groups, texts.terms.group, texts.queries.group, pairs)
    check.sound("texts.trie.branch", place)


def check_text_settings(file: str, threshold: Any, stop_words: Any) -> TextSettings:
    """The settings of free text, such as can be given when an index is built."""
    if not is_amount(threshold):
        raise IndexFileError(f"{file} is damaged: its header's threshold is not a number from 0 on")
    if not isinstance(stop_words, list) or not all(map(is_text, stop_words)):
        raise IndexFileError(f"{file} is damaged: its header's stop words are not a list of words")
    try:
        return TextSettings(threshold, frozenset(stop_words))
    except UsageError as error:
        raise IndexFileError(f"{file} is damaged: in its header, {error}") from error
