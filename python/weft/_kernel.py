# SPDX-License-Identifier: Apache-2.0
"""Kernels: files, texts, or functions of Python, whose source goes to the parser of the library
(docs/kernel-language.md)."""

import ast
import functools
import inspect
import textwrap

import numpy

from weft._native import call, encode, ffi, fields, filled, lib, long_call, path, struct, text
from weft._run import Run, dtype_of
from weft._array import array_of
from weft.language import _Word
from weft._network import watched


def _argument(value):
    return value.name if isinstance(value, _Word) else repr(value) if isinstance(value, float) else str(value)


def _writable(data, tensor):
    """The array as a buffer; None stands for zeros."""
    if data is None:
        return ffi.NULL
    name, dtype = text(tensor.name), dtype_of(tensor)
    if not isinstance(data, numpy.ndarray) or data.dtype != dtype or data.nbytes != tensor.bytes:
        raise ValueError(f"{name} is an array of {tensor.bytes // dtype.itemsize} {dtype}, not {_described(data)}")
    if not data.flags.c_contiguous or (tensor.written and not data.flags.writeable):
        raise ValueError(f"{name} must be contiguous{' and writable' if tensor.written else ''}")
    return ffi.cast("void *", data.ctypes.data)


def _described(data):
    return f"{data.size} {data.dtype}" if isinstance(data, numpy.ndarray) else type(data).__name__


class Kernel:
    """A kernel compiled for an array. Arguments of the kernel are keywords: Kernel("gemm.py", array, M=64, N=64, K=64).

    Options: source (a text in place of the file), kernel, mapping or mapping_file, style, language, autotune, tune,
    tune_with, tune_objective; for_c, if it is to be a program of the hart."""

    OPTIONS = {"kernel", "mapping", "mapping_file", "style", "language", "autotune", "tune", "tune_with",
               "tune_objective", "for_c"}

    def __init__(self, file=None, array=None, source=None, progress=None, **arguments):
        self.array = array_of(array).copy()
        options = {name: arguments.pop(name) for name in self.OPTIONS & arguments.keys()}
        listed = ",".join(f"{name}={_argument(value)}" for name, value in arguments.items())
        made = struct("weft_kernel_options", file=path(file), text=source, arguments=listed, **options)
        self._pointer = ffi.gc(watched(lib.weft_kernel_compile, self.array.pointer, made, progress=progress),
                               lib.weft_kernel_destroy)
        self.facts = fields(filled("weft_kernel_facts", lib.weft_kernel_describe, self._pointer))

    @property
    def mapping(self):
        """How it is cut and ordered (docs/mapping.md); "" where it is no product."""
        return text(lib.weft_kernel_mapping(self._pointer))

    def write(self, file, seed=1, times=1):
        """Writes the commands in the form that the name ends in: .elf, .c, .trace, .lst or .command. An executable runs
        the kernel so many times on random data."""
        form = struct("weft_kernel_form", seed=seed, times=times)
        call(lib.weft_kernel_write, self._pointer, encode(path(file)), form)

    def text(self, form="command"):
        """The commands as "c", "trace", "lst" or "command"; or "mapping-c", the mapping for the driver."""
        return text(ffi.gc(call(lib.weft_kernel_text, self._pointer, encode(form)), lib.weft_free))

    @property
    def _tensors(self):
        count = lib.weft_kernel_tensors(self._pointer)
        return [filled("weft_tensor", lib.weft_kernel_tensor, self._pointer, i) for i in range(count)]

    @property
    def tensors(self):
        """Name, elements, type, and whether it is written, of each."""
        return [(text(t.name), t.dim[0], dtype_of(t), t.written) for t in self._tensors]

    def _buffers(self, data):
        tensors = self._tensors
        if len(data) > len(tensors):
            raise ValueError(f"the kernel has {len(tensors)} tensors, not {len(data)}")
        given = list(data) + [None] * (len(tensors) - len(data))
        return ffi.new("void *[]", [_writable(d, t) for d, t in zip(given, tensors)] or [ffi.NULL])

    def run(self, *data, progress=None, **options):
        """Runs it on arrays of numpy in the order of its pointers; those that it writes are changed in place. None: zeros.
        Options: engine, timing_only, times."""
        buffers, made = self._buffers(data), struct("weft_run_options", **options)
        return Run(watched(lib.weft_kernel_run, self._pointer, made, buffers, progress=progress))

    __call__ = run

    def check(self, seed=1, progress=None, **options):
        """Runs it on random data and compares with interpret(): a Run with a report, whose `wrong` are bytes. Options:
        engine (also "rtl" and "systemc"), timing_only, times, executable (a program of the hart), sensitivity."""
        made = struct("weft_check_options", seed=seed, **options)
        return Run(watched(lib.weft_kernel_check, self._pointer, made, progress=progress))

    def diverge(self, seed=1, **options):
        """The first command whose result is another one than on engine `against`, as a dict; None: there is none.
        Options: engine, against, commands (a file that is judged in place of the kernel's)."""
        made = struct("weft_divergence_options", seed=seed, **options)
        found = ffi.gc(long_call(lib.weft_kernel_diverge, self._pointer, made), lib.weft_divergence_destroy)
        facts = fields(filled("weft_divergence_facts", lib.weft_divergence_describe, found))
        return None if facts.pop("equal") else facts

    def interpret(self, *data):
        """The same by the interpreter of the source: what run() must give."""
        call(lib.weft_kernel_interpret, self._pointer, self._buffers(data))


# ---- functions


def _grid_of(definition, source):
    """The text of `grid` among the decorator's arguments: a lambda or a text; None: not given."""
    for decorator in definition.decorator_list:
        for keyword in getattr(decorator, "keywords", []):
            if keyword.arg == "grid":
                if isinstance(keyword.value, ast.Constant):
                    return "lambda META: " + str(keyword.value.value)
                return ast.get_source_segment(source, keyword.value)
    return None


def _source_of(function):
    """The function as a file of the kernel language, each line where it is in the file of Python."""
    lines, first = inspect.getsourcelines(function)
    source = textwrap.dedent("".join(lines))
    definition = ast.parse(source).body[0]
    kept = source.splitlines()[definition.lineno - 1:]
    head = ["from weft import *"] + [""] * (first + definition.lineno - 4) + ["@jit"]
    grid = _grid_of(definition, source)
    tail = [] if grid is None else ["", "", f"grid = {' '.join(grid.split())}"]
    return "\n".join(head + kept + tail) + "\n"


class Function:
    """A kernel written as a function: function(array, M=64, ...) compiles it for an array."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.source, self.file = _source_of(function), inspect.getsourcefile(function) or "kernel.py"

    def compile(self, array=None, **arguments):
        return Kernel(self.file, array, source=self.source, **arguments)

    def __call__(self, array, *data, **arguments):
        """Compiles and runs it: function(array, a, b, c, M=64, N=64, K=64, engine="cycle")."""
        of_run = {name: arguments.pop(name) for name in {"engine", "timing_only", "times"} & arguments.keys()}
        return self.compile(array, **arguments).run(*data, **of_run)


def kernel(function=None, *, grid=None):
    """Makes a function a kernel: @weft.kernel(grid=lambda META: (cdiv(M, META["B"]), cdiv(N, META["B"]))).

    The grid is read from the source, like the function; it may also be a text."""
    return Function if function is None else Function(function)
