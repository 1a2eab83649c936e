# SPDX-License-Identifier: Apache-2.0
"""Networks on arrays (docs/networks.md)."""

from itertools import count

import numpy

from weft._native import call, encode, ffi, fields, filled, lib, long_call, path, struct, text
from weft._run import SHOWN, Run, dtype_of, shape_of
from weft._array import array_of
from weft._progress import chosen, ended


def generated_networks():
    """The names of the networks that need no file."""
    names = (text(lib.weft_network_generated(i)) for i in count())
    return list(iter(lambda: next(names), None))


def watched(function, *arguments, progress):
    watch = chosen(progress)
    try:
        return long_call(function, *arguments, progress=watch)
    finally:
        ended(watch)


class Network:
    """A network compiled for an array: an ONNX file or the name of a generated one.

    Options: image, sequence, batch, divisor, depth, past (sizes); seed and prune (zeros in weights) of generated
    ones; cache ("int8", "int4": of keys and values, with those of the new token as results); dims (open dimensions
    of files by name), outputs (where it ends), constants (files of inputs); float_ends, uint8_images; input_files;
    calibration, samples_from (a folder), samples, keep_float (nodes), least_db, compare; tune, tune_with,
    tune_objective, fuse, kernels, normaliser, mappings, jobs; images (runs in one program), overlap (hart and array
    work at one time); for_c, if it is to be a program of the hart."""

    # Lists, and the fields with their lengths.
    LISTS = {"outputs": "output_count", "constants": "constant_count", "input_files": "input_count",
             "keep_float": "keep_count"}

    def __init__(self, name, array=None, progress=None, dims=None, seed=None, **options):
        self.array = array_of(array).copy()
        lengths = {of: len(options[name]) for name, of in self.LISTS.items() if options.get(name) is not None}
        named = {} if dims is None else {"dim_names": list(dims), "dims": len(dims)}
        values = ffi.new("int64_t[]", list((dims or {}).values()))
        first = ffi.NULL if seed is None else ffi.new("uint64_t *", seed)
        made = struct("weft_network_options", dim_values=values, seed=first, **named, **lengths, **options)
        self._pointer = ffi.gc(
            watched(lib.weft_network_compile, self.array.pointer, encode(path(name)), made, progress=progress),
            lib.weft_network_destroy)
        self.facts = fields(filled("weft_network_facts", lib.weft_network_describe, self._pointer))

    def write(self, file):
        """Writes a program of the hart (.elf), or the steps as text (.steps)."""
        call(lib.weft_network_write, self._pointer, encode(path(file)))

    def text(self):
        """The steps."""
        return text(ffi.gc(call(lib.weft_network_text, self._pointer), lib.weft_free))

    def _tensors(self, number, describe):
        found = [filled("weft_tensor", describe, self._pointer, i) for i in range(number(self._pointer))]
        return [(text(t.name), shape_of(t), dtype_of(t)) for t in found]

    @property
    def inputs(self):
        """Name, shape and type of each."""
        return self._tensors(lib.weft_network_inputs, lib.weft_network_input)

    @property
    def outputs(self):
        return self._tensors(lib.weft_network_outputs, lib.weft_network_output)

    def _given(self, inputs):
        given = [numpy.ascontiguousarray(data) for data in inputs]
        if len(given) != len(self.inputs):
            raise ValueError(f"the network has {len(self.inputs)} inputs, not {len(given)}")
        for data, (name, shape, dtype) in zip(given, self.inputs):
            if data.shape != shape or data.dtype != dtype:
                raise ValueError(f"input {name} is {dtype}{list(shape)}, not {data.dtype}{list(data.shape)}")
        return given

    def run(self, inputs=None, progress=None, **options):
        """Runs it on arrays of numpy (None: random ones). Options: engine, timing_only, check, native_host; accelerator,
        quantum, sensitivity; timeline, timeline_level, timeline_steps, konata (files of records)."""
        given = None if inputs is None else self._given(inputs)
        buffers = ffi.NULL if given is None else [ffi.cast("void *", data.ctypes.data) for data in given]
        buffers = buffers if given is None else ffi.new("void *[]", buffers)
        made = struct("weft_run_options", **options)
        return Run(watched(lib.weft_network_run, self._pointer, made, buffers, progress=progress))


def run(network, array=None, inputs=None, progress=None, **options):
    """Compiles a network for an array and runs it: run("resnet50", array).layers."""
    of_run = {name: options.pop(name) for name in SHOWN & options.keys()}
    if not isinstance(network, Network):
        network = Network(network, array, progress, **options)
    elif array is not None or options:
        raise TypeError("a Network has its array and its options")
    return network.run(inputs, progress, **of_run)
