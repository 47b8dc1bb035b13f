"""What every kernel stands on: the one decorator, bits, hash tables, sorting, packing, the file of arrays.

Promised: machine code is kept by what it was made of, wherever the source lies (jit.py); equality is found by
hash and confirmed by comparison (hash_slots.py, and on it row_table.py, text_table.py; distinct_texts.py); a
file of arrays is one file, memory-mapped, with a checksum (array_file.py). Beside `*/kernels/` this is the
only room that imports Numba.

Begin with jit.py, then packed.py: nearly every structure is "where each begins, and all of them in a row".
"""
