"""Rules in blocks, each read on its own, that become one index: what a build on many machines is made of.

rule_rows.py         rows that should be rules: which can be, and why the others cannot
rule_block.py        one block read: its good rules as arrays
shard_assignment.py  which rules go into which shard
assembly.py          all blocks laid out as one index
build_folder.py      where blocks wait until then

Promised: the index is the same, array by array, as one that is built in one process.
Begin with rule_block.py, then spark/index_build/jobs.py, which runs it.
Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.conditions.blocks.assembly import compile_blocks, warm_up
    from tocsin.conditions.blocks.build_folder import BITS, Work, find_firsts
    from tocsin.conditions.blocks.rule_rows import PLACE, Refused, read_rows, rejects_table
    from tocsin.conditions.blocks.shard_assignment import rule_weights, rules_of_shard, shards_wanted
    from tocsin.conditions.blocks.shard_assignment import share_out
else:
    __getattr__ = door(__name__)
