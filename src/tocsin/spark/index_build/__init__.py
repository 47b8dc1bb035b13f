"""An index built on Spark.

rule_frames.py    the DataFrame of rules, or files of them: checked, in the order of their ids
jobs.py           the jobs: read blocks of rules, compare the predicates of all
index_writer.py   one index of all blocks, or one in shards; and rows that are no rules
build.py          the door

Begin with build.py and jobs.py; what a block of rules is made of is in conditions/blocks.
"""
