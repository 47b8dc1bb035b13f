"""The loops that read events: text to cells, in one pass over the bytes of a block.

decimal_numbers.py   digits to the nearest double, or to an integer's exact pair
utf8.py              which bytes are UTF-8
cell_stream.py       cells as they are found, in one stream; put in order of field and kind
field_names.py       which wanted field a name is
json_scan.py         lines of JSON; json_text.py: strings, numbers and words
csv_scan.py          records of CSV; csv_values.py, value_traits.py: what their values can be
wide_tables.py       the columns of a wide Arrow table, all in one call

A loop takes what is plainly right. What is not, it sets apart for the readers in tables/, which say what is
wrong.

Begin with cell_stream.py: it says what a loop finds.
"""
