"""Arrow's many types, brought to the few that matter here."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt


def plain(array: pa.Array) -> pa.Array:
    """The array without the wrappings that change how values are stored, not what they are."""
    while True:
        if isinstance(array, pa.ExtensionArray):
            is_truth = array.type.extension_name == "arrow.bool8"
            array = pc.not_equal(array.storage, 0) if is_truth else array.storage
        elif pt.is_dictionary(array.type):
            array = array.dictionary_decode()
        elif pt.is_run_end_encoded(array.type):
            array = pc.run_end_decode(array)
        else:
            return array


def is_list(data_type: pa.DataType) -> bool:
    """Whether it is a list of any layout; a map is none."""
    return bool(
        pt.is_list(data_type)
        or pt.is_large_list(data_type)
        or pt.is_fixed_size_list(data_type)
        or pt.is_list_view(data_type)
        or pt.is_large_list_view(data_type)
    )


def is_text(data_type: pa.DataType) -> bool:
    """Whether it holds strings, in any layout."""
    return bool(pt.is_string(data_type) or pt.is_large_string(data_type) or pt.is_string_view(data_type))


def has_member(data_type: pa.DataType, path: tuple[str, ...]) -> bool:
    """Whether a value of this type may hold something at a path below it; of nothing known, it may."""
    for name in path:
        while is_list(data_type) or pt.is_dictionary(data_type) or pt.is_run_end_encoded(data_type):
            data_type = data_type.value_type
        if pt.is_null(data_type):
            return True
        if pt.is_map(data_type):
            data_type = data_type.item_type
        elif pt.is_struct(data_type) and data_type.get_field_index(name) >= 0:
            data_type = data_type.field(name).type
        else:
            return False
    return True
