"""Rules become arrays: predicates by operator family, the shared graph, and the file they are kept in."""
