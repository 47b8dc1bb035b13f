"""Free text becomes arrays: dictionaries, queries, documents, and the filter that finds queries."""
