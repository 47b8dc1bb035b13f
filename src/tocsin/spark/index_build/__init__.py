"""An index built on Spark.

rule_order.py       the DataFrame of rules, checked, in the order of their ids
jobs.py        the jobs: read blocks of rules, put equal predicates and nodes together level by level
index_writer.py     one index of all blocks, or one in parts
build.py       the door
"""
