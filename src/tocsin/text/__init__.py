"""Free text: queries, the dictionary that weighs words, the trie filter that finds queries, scores.

language/         the query language: tokens, parser, printer, highlights
meaning.py        what a query means: the slow, obvious evaluator
tokenizer.py      how a text is cut into words; kernels/tokenizer.py does the same to bytes
dictionary.py     how many documents hold each word, and so how much finding it says
trie_filter.py    queries under the words that must occur before they can hold (the TriggerMan paper)
score.py          one text and one query, without rules

A text predicate is one more kind of leaf of the index of conditions/. This is the door by which other
rooms come in: TextBase and WrittenQueries become CompiledTexts, and a TextMatcher finds their leaves in
EventDocuments. Names are loaded when first used, so that a parser of rules loads no compiled loops.

Begin with language/query.py and meaning.py, then trie_filter.py and kernels/trie.py.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.text.column_scores import ColumnScores
    from tocsin.text.compiled_texts import CompiledTexts
    from tocsin.text.dictionary import LARGEST_IDF, LEAST_IDF, Dictionary, WordArrays
    from tocsin.text.document_queries import DocumentQueries, ReadingRoom
    from tocsin.text.documents import EventDocuments, documents_of, documents_of_texts
    from tocsin.text.kernels.dictionary import DictionaryWords
    from tocsin.text.kernels.documents import Documents
    from tocsin.text.kernels.query_code import QueryCode, Terms
    from tocsin.text.kernels.query_estimates import letters_of_queries, likelihood_of_queries
    from tocsin.text.kernels.resemblance import END, TermSketches, shares_of_queries
    from tocsin.text.kernels.rule_queries import TextRules
    from tocsin.text.kernels.word_counts import bytes_of_words, count_and_sketch, number_words
    from tocsin.text.language.highlights import PlacedDocument, Stretch, snippet, with_marks
    from tocsin.text.language.parser import QueryProblems, parse_query
    from tocsin.text.language.query import Group, Leaf, Operation, TextQuery, print_leaf, print_query
    from tocsin.text.language.threshold_checks import threshold_warning
    from tocsin.text.meaning import Verdict, judge
    from tocsin.text.query_arrays import WrittenQueries, query_code, read_queries
    from tocsin.text.score import read_query, tm_score, weights_of
    from tocsin.text.settings import DEFAULT, TextSettings
    from tocsin.text.text_base import TextBase, words_for_kernels
    from tocsin.text.text_explanation import TextExplanation, explain_text
    from tocsin.text.text_matcher import TextMatcher
    from tocsin.text.tokenizer import words_of
    from tocsin.text.trie_filter import TextFilter
else:
    __getattr__ = door(__name__)
