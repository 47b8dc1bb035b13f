"""An index built on Spark.

rules.py       the DataFrame of rules, checked, in the order of their ids
jobs.py        the jobs: read blocks of rules, put equal predicates and nodes together level by level
writing.py     one index of all blocks, or one in parts
build.py       the door
"""
