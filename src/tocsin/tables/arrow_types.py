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
            array = without_views(array).dictionary_decode()
        elif pt.is_run_end_encoded(array.type):
            array = without_views(array)
        else:
            break
    return array


def without_views(data: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The same values in layouts from which Arrow can take rows and drop nulls.

    As of pyarrow 26 it can do neither with views of strings and run-end encoded values. Views of lists
    are left as they are: rows of them can be taken whatever they hold.
    """
    if isinstance(data, pa.ChunkedArray):
        if not len(data.chunks):
            return pa.chunked_array([], _type_without_views(data.type))
        return pa.chunked_array([without_views(chunk) for chunk in data.chunks])
    if pt.is_run_end_encoded(data.type):
        values = without_views(data.values)
        return pc.run_end_decode(
            pa.Array.from_buffers(
                pa.run_end_encoded(data.type.run_end_type, values.type),
                len(data),
                [None],
                offset=data.offset,
                children=[data.run_ends, values],
            )
        )
    wanted = _type_without_views(data.type)
    return data if wanted == data.type else data.cast(wanted)


def table_without_views(table: pa.Table) -> pa.Table:
    """A table whose rows Arrow can take: the same names and values."""
    columns = [without_views(column) for column in table.columns]
    fields = [field.with_type(column.type) for field, column in zip(table.schema, columns, strict=True)]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, table.schema.metadata))


def _type_without_views(data_type: pa.DataType) -> pa.DataType:
    if pt.is_string_view(data_type):
        return pa.large_string()
    if pt.is_binary_view(data_type):
        return pa.large_binary()
    if pt.is_run_end_encoded(data_type):
        return _type_without_views(data_type.value_type)
    if pt.is_dictionary(data_type):
        return pa.dictionary(
            data_type.index_type, _type_without_views(data_type.value_type), data_type.ordered
        )
    if pt.is_struct(data_type):
        return pa.struct([field.with_type(_type_without_views(field.type)) for field in data_type])
    if pt.is_map(data_type):
        key, item = data_type.key_field, data_type.item_field
        return pa.map_(
            key.with_type(_type_without_views(key.type)),
            item.with_type(_type_without_views(item.type)),
            data_type.keys_sorted,
        )
    if data_type.id in (lib.Type_LIST, lib.Type_LARGE_LIST, lib.Type_FIXED_SIZE_LIST):
        element = data_type.value_field.with_type(_type_without_views(data_type.value_type))
        if pt.is_fixed_size_list(data_type):
            return pa.list_(element, data_type.list_size)
        return pa.list_(element) if pt.is_list(data_type) else pa.large_list(element)
    return data_type


def is_list(data_type: pa.DataType) -> bool:
    """Whether it is a list of any layout; a map is none."""
    return data_type.id in _LISTS


def is_text(data_type: pa.DataType) -> bool:
    """Whether it holds strings, in any layout."""
    return data_type.id in TEXTS


def rows_not_utf8(texts: pa.Array) -> list[int]:
    """The rows whose text is not valid UTF-8: Arrow does not check what it is given as a string."""
    found = []
    for row, text in enumerate(texts.cast(pa.large_binary()).to_pylist()):
        try:
            str(text or b"", "utf-8")
        except UnicodeDecodeError:
            found.append(row)
    return found


def holds_union(data_type: pa.DataType) -> bool:
    """Whether it is a union, or has one somewhere in it."""
    below = [data_type.field(place).type for place in range(data_type.num_fields)]
    return pt.is_union(data_type) or any(map(holds_union, below))


def has_member(data_type: pa.DataType, path: tuple[str, ...]) -> bool:
    """Whether a value of this type may hold something at a path below it; of nothing known, it may."""
    for at, name in enumerate(path):
        while is_list(data_type) or pt.is_dictionary(data_type) or pt.is_run_end_encoded(data_type):
            data_type = data_type.value_type
        if pt.is_null(data_type):
            return True
        if pt.is_union(data_type):
            below = [data_type.field(place).type for place in range(data_type.num_fields)]
            return any(has_member(each, path[at:]) for each in below)
        if pt.is_map(data_type):
            data_type = data_type.item_type
        elif pt.is_struct(data_type) and data_type.get_field_index(name) >= 0:
            data_type = data_type.field(name).type
        else:
            return False
    return True
