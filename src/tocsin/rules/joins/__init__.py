"""Conditions over several tables: what they say, how they come apart, and what they mean.

parser.py    text to the steps of tree.py
splitter.py  selections on one table, joins of two, and what filters joined rows
meaning.py   the slow, obvious evaluator on joined rows

Used by triggers with `from`; watches/ and spark/postgres/ bring the rows. Begin with tree.py and splitter.py.
"""
