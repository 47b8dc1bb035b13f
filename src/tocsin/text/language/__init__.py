"""The small language of text queries (Appendix A of the TriggerMan paper).

tokens.py            operators, parentheses, words and phrases
query.py             a query, once read: leaves and groups in postfix order; and as text
parser.py            from the one to the other, with all errors at their places
threshold_checks.py  thresholds that can never fail, or never pass
highlights.py        where words stand in a text, and texts with some of them marked

Begin with query.py; what a query means is in ../meaning.py.
"""
