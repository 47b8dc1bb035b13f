"""How a kernel's arrays and named tuples become Python objects, with no Python code run on the way.

Numba finds the class of each array and named tuple by a Python function, and calls the named tuple's
class, which is Python code too. Python runs a signal's handler in any such code: Ctrl-C raised
KeyboardInterrupt there, Numba went on with the null pointer that came back, and the process crashed.
Here the classes lie among the kernel's constants, and what makes the objects is written in C, so the
interrupt waits until the kernel has returned. It is also the faster way.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import boxing, cgutils
from numba.core.pythonapi import _boxers
from numba.core.types.containers import NamedTuple, NamedUniTuple
from numba.core.types.npytypes import Array
from numba.np.numpy_support import as_dtype


def box_without_python() -> None:
    """Put these boxes in the place of Numba's."""
    _boxers.functions[Array] = _box_array
    _boxers.functions[NamedTuple] = _box_named_tuple
    _boxers.functions[NamedUniTuple] = _box_named_tuple


def _box_array(typ: Any, val: Any, c: Any) -> Any:
    if not c.context.enable_nrt:
        return boxing.box_array(typ, val, c)
    api, count = c.pyapi, ir.IntType(32)
    make = api._get_function(
        ir.FunctionType(api.pyobj, [api.voidptr, api.pyobj, count, count, api.pyobj]),
        name="NRT_adapt_ndarray_to_python_acqref",
    )
    native = c.builder.bitcast(cgutils.alloca_once_value(c.builder, val), api.voidptr)
    shape = count(typ.ndim), count(int(typ.mutable))
    made = c.builder.call(
        make, (native, _constant(c, typ.box_type), *shape, _constant(c, as_dtype(typ.dtype)))
    )
    c.context.nrt.decref(c.builder, typ, val)
    return made


def _box_named_tuple(typ: Any, val: Any, c: Any) -> Any:
    """Ours have no constructor of their own; of others' named tuples nothing is known."""
    if not typ.instance_class.__module__.startswith("tocsin."):
        return boxing.box_namedtuple(typ, val, c)
    items = boxing.box_tuple(typ, val, c)
    made = c.pyapi.call_function_objargs(
        _constant(c, tuple.__new__), (_constant(c, typ.instance_class), items)
    )
    c.pyapi.decref(items)
    return made


def _constant(c: Any, value: Any) -> Any:
    return c.env_manager.read_const(c.env_manager.add_const(value))
