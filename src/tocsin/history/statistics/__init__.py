"""What history says of each field: values, words, and how likely a predicate is to hold.

field_facts.py          what is counted of a field's values, in a form that adds up
word_counts.py          the words of documents and their sketches, in a form that adds up
statistics_folder.py    the folder that ts.statistics writes
history.py              that folder, opened: without Spark
value_counts.py         what the facts say of one field
selectivity.py          how often a predicate holds
resemblance.py          how often a text query holds

Begin with field_facts.py and history.py.
"""
