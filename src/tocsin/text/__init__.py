"""Free text: queries, the dictionary that weighs words, the trie filter that finds queries, scores.

language/         the query language: tokens, parser, printer, highlights
meaning.py        what a query means: the slow, obvious evaluator
tokenizer.py      how a text is cut into words; kernels/tokenizer.py does the same to bytes
dictionary.py     how many documents hold each word, and so how much finding it says
trie_filter.py    queries under the words that must occur before they can hold (the TriggerMan paper)
score.py          one text and one query, without rules

A text predicate is one more kind of leaf of the index of conditions/, which comes here through
trie_filter.py, documents.py and text_base.py.

Begin with language/query.py and meaning.py, then trie_filter.py and kernels/trie.py.
"""
