"""A kernel as Python calls it and as other kernels do: two things, compiled apart.

What another kernel calls becomes a part of it: LLVM optimises the whole and makes machine code of it
once. Numba makes machine code of every part besides, with a way in for Python and one for C, optimises it
alone first, and makes it anew for every constant that it is called with (`find(values, 0)`). That was half
of what compiling took. So a part stays LLVM's own form of a function, takes integers and truth values of
one type each, and is optimised where it is used. A constant comes to the same: it goes with the function
into the loop that calls it, where the two are inlined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import binding as llvm
from numba.core import compiler, sigutils
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.registry import CPUDispatcher
from numba.core.types.misc import unliteral

from tocsin.arrays.kernel_cache import PART, KernelCache


class _Dispatcher(CPUDispatcher):  # type: ignore[misc]
    """What is compiled once on a machine, however many processes ask for it at the same time."""

    def compile(self, sig: Any) -> Any:
        """Compile for these types, or load what was compiled."""
        known = self.overloads.get(tuple(sigutils.normalize_signature(sig)[0]))
        if known is not None:
            return known.entry_point
        with global_compiler_lock:
            if self._cache.holds(sig, self.targetctx):
                return super().compile(sig)
            with self._cache.one_at_a_time():
                return super().compile(sig)


class Kernel(_Dispatcher):
    """What Python calls."""

    def __init__(self, py_func: Callable[..., Any], locals: Any = None, targetoptions: Any = None) -> None:  # noqa: A002
        options = {**(targetoptions or {}), "nopython": True, "no_cfunc_wrapper": True}
        super().__init__(py_func, locals, options)
        self._cache = KernelCache(py_func, _WholeForm())
        self.part = _Part(py_func, locals, options)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """What a kernel that calls this one is told."""
        return self.part.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """What a kernel that calls this one calls."""
        return self.part.get_overload(sig)

    def add_overload(self, cres: Any) -> None:
        """One that Python can call. What Python objects its parts use are put where it looks for them."""
        super().add_overload(cres)
        for environment in cres._find_referenced_environments():
            cres.codegen.set_env(environment.env_name, environment)

    def is_cached(self) -> bool:
        """Whether there is machine code of it on this machine."""
        return self._cache.is_cached()

    @property
    def is_compiling(self) -> Any:
        """Whether it is about to call itself."""
        return self._compiling_counter or self.part._compiling_counter


class _Part(_Dispatcher):
    """What other kernels call."""

    def __init__(self, py_func: Callable[..., Any], locals: Any, targetoptions: Any) -> None:  # noqa: A002
        super().__init__(py_func, locals, {**targetoptions, "no_cpython_wrapper": True})
        self._cache = KernelCache(py_func, _PartForm(), PART)
        self._compiler = _PartCompiler(
            py_func, self.targetdescr, self.targetoptions, self.locals, compiler.Compiler
        )

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """The part for these types of arguments, whatever constants are among them."""
        plain = tuple(unliteral(each) for each in args)
        return super().get_call_template(plain, {name: unliteral(each) for name, each in kws.items()})

    def add_overload(self, cres: Any) -> None:
        """One that Python cannot call."""
        self.overloads[tuple(cres.signature.args)] = cres


class _PartCompiler(_FunctionCompiler):  # type: ignore[misc]
    def _compile_core(self, args: Any, return_type: Any) -> Any:
        flags = compiler.Flags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        flags.no_compile = True
        context = self.targetdescr.target_context
        result = compiler.compile_extra(
            self.targetdescr.typing_context,
            context,
            self.py_func,
            args=args,
            return_type=return_type,
            flags=flags,
            locals=self.locals,
            library=_PartLibrary(context.codegen(), self.py_func.__qualname__),
            pipeline_class=self.pipeline_class,
        )._replace(entry_point=object())
        context.insert_user_function(result.entry_point, result.fndesc, [result.library])
        return result


class _PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Functions that others take in; no machine code is made of them by themselves."""

    def _optimize_final_module(self) -> None:
        """That is done where they are used."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self) -> Any:
        """There is none: what goes into the cache is LLVM's form."""
        return self.name, self._get_module_for_linking().as_bitcode()


class _WholeForm(CompileResultCacheImpl):  # type: ignore[misc]
    """How what Python calls is written to the cache and read: as Numba does."""

    def __init__(self) -> None:
        """Numba's own would look for a place in the file system."""

    def check_cachable(self, cres: Any) -> bool:
        """Whether it holds no address of this process."""
        return not cres.library.has_dynamic_globals

    def reduce(self, cres: Any) -> Any:
        """Without LLVM's form of it, which nobody takes in; Numba reads there what functions there are."""
        (name, kind, (machine_code, _)), *rest = super().reduce(cres)
        stub = llvm.parse_assembly(f'define void @"{cres.fndesc.llvm_cpython_wrapper_name}"() {{ ret void }}')
        return (name, kind, (machine_code, stub.as_bitcode())), *rest


class _PartForm(_WholeForm):
    """How a part is written to the cache and read."""

    def reduce(self, cres: Any) -> Any:
        """Its library knows."""
        return cres._reduce()

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """A part as it was when it was compiled."""
        (name, bitcode), fndesc, environment, signature, _mode, _lifted, annotation, reload_init, used = (
            payload
        )
        for function in reload_init:
            function()
        library = _PartLibrary(target_context.codegen(), name)
        library._final_module = llvm.parse_bitcode(bitcode)
        library._finalize_final_module()
        return compiler.compile_result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            environment=environment,
            entry_point=object(),
            fndesc=fndesc,
            type_annotation=annotation,
            signature=signature,
            objectmode=False,
            lifted=(),
            reload_init=reload_init,
            referenced_envs=used,
        )
