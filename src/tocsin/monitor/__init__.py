"""Events meet rules: matching, explaining, and the index that users hold."""
