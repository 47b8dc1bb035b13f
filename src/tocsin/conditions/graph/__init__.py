"""Rules become arrays: distinct predicates, the shared graph over them, and the file they are saved in.

A condition's text is read into steps (condition_reader.py), its predicates find their places by operator
family (predicate_table.py, leaf_families.py), equal parts of conditions become one node (shared_graph.py),
and all of it is one compiled_index.py, which index_file.py maps from disk and soundness.py checks.

Begin with compiled_index.py: it names every array. Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.conditions.graph.compiled_index import CompiledIndex, compile_like, compile_rules, rule_ids
    from tocsin.conditions.graph.condition_reader import Reading, read_conditions, step_code
    from tocsin.conditions.graph.index_file import index_of_arrays, open_index, save_index
    from tocsin.conditions.graph.leaf_families import sort_into_families
    from tocsin.conditions.graph.likelihood import guess
    from tocsin.conditions.graph.predicate_table import Predicates
    from tocsin.conditions.graph.shards import Shard, check_folder, is_sharded, list_of_shards, read_shards
    from tocsin.conditions.graph.shards import write_shard_list
    from tocsin.conditions.graph.value_keys import double_keys, scalar_key, value_of_double_key
else:
    __getattr__ = door(__name__)
