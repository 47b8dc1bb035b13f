"""Arrow's many types, brought to the few that matter here."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from pyarrow import lib

TEXTS = frozenset((lib.Type_STRING, lib.Type_LARGE_STRING, lib.Type_STRING_VIEW))
SCALARS = TEXTS | {
    lib.Type_BOOL,
    lib.Type_INT8,
    lib.Type_INT16,
    lib.Type_INT32,
    lib.Type_INT64,
    lib.Type_UINT8,
    lib.Type_UINT16,
    lib.Type_UINT32,
    lib.Type_UINT64,
    lib.Type_HALF_FLOAT,
    lib.Type_FLOAT,
    lib.Type_DOUBLE,
    lib.Type_DATE32,
    lib.Type_DATE64,
    lib.Type_TIMESTAMP,
    lib.Type_DECIMAL32,
    lib.Type_DECIMAL64,
    lib.Type_DECIMAL128,
    lib.Type_DECIMAL256,
}
"""The ids of the types that conditions test."""

_LISTS = frozenset(
    (
        lib.Type_LIST,
        lib.Type_LARGE_LIST,
        lib.Type_FIXED_SIZE_LIST,
        lib.Type_LIST_VIEW,
        lib.Type_LARGE_LIST_VIEW,
    )
)


def plain(array: pa.Array) -> pa.Array:
    """The array without the wrappings that change how values are stored, not what they are."""
    while array.type.id not in SCALARS:
        if isinstance(array, pa.ExtensionArray):
            is_truth = array.type.extension_name == "arrow.bool8"
            array = pc.not_equal(array.storage, 0) if is_truth else array.storage
        elif pt.is_dictionary(array.type):
            array = array.dictionary_decode()
        elif pt.is_run_end_encoded(array.type):
            array = pc.run_end_decode(array)
        else:
            break
    return array


def is_list(data_type: pa.DataType) -> bool:
    """Whether it is a list of any layout; a map is none."""
    return data_type.id in _LISTS


def is_text(data_type: pa.DataType) -> bool:
    """Whether it holds strings, in any layout."""
    return data_type.id in TEXTS


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
