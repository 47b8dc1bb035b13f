"""Free text in arrays: words of documents, queries, the trie filter that brings them together."""
