"""The loops of free text: words of documents, queries, the trie filter that brings them together.

Queries     query_parser.py (bytes to steps), query_code.py (steps as arrays), query_tree.py
Words       tokenizer.py, document_words.py (one document, cut and looked up), terms.py (words by number)
The filter  access_paths.py (what every match goes through), trie_builder.py, trie.py, trie_search.py
Answers     verdicts.py (does it hold, with which score), phrases.py, rule_queries.py (whose score it is)
Estimates   query_estimates.py, resemblance.py, word_counts.py

Promised: the same words, truths and scores as ../meaning.py, to the last bit. Begin with query_code.py, then
trie.py and verdicts.py.
"""
