# SPDX-License-Identifier: Apache-2.0
"""ONNX files as the compiler sees them."""

from weft._array import array_of
from weft._native import call, encode, encoded, ffi, fields, filled, lib, listed, path, struct, text


def _tensors(function, graph):
    """The tensors that a function has by index: name, shape, type."""
    found = []
    try:
        while True:
            made = filled("weft_tensor", function, graph, len(found))
            found.append((text(made.name), tuple(made.dim[0:made.rank]), text(made.type)))
    except IndexError:
        return found


class Graph:
    """The operators of an ONNX file after a stage of the compiler: "model", "quantised" or "placed". `dims` are open
    dimensions by name, `outputs` where it ends, `constants` files (.pb) of inputs, by their names or as a list, `array`
    the one that a stage behind the model is for (None: what every array can)."""

    def __init__(self, file, stage="model", batch=0, dims=None, outputs=(), constants=(), array=None):
        dims = dims or {}
        kept = None if array is None else array_of(array)  # until it is read
        named = constants.items() if isinstance(constants, dict) else [(None, file) for file in constants]
        lists = [encoded(dims), encoded(outputs), encoded(path(file) for _, file in named), encoded(name for name, _ in named)]
        numbers = ffi.new("int64_t[]", list(dims.values()))
        made = struct("weft_graph_options", stage=stage, batch=batch, dim_names=lists[0][0], dim_values=numbers,
                      outputs=lists[1][0], constants=lists[2][0], constants_for=lists[3][0], dims=len(dims),
                      output_count=len(outputs), constant_count=len(named),
                      array=kept and kept.pointer)
        self._pointer = ffi.gc(call(lib.weft_graph_read, encode(path(file)), made), lib.weft_graph_destroy)
        self.facts = fields(filled("weft_graph_facts", lib.weft_graph_describe, self._pointer))
        self.inputs = _tensors(lib.weft_graph_input, self._pointer)
        self.outputs = _tensors(lib.weft_graph_output, self._pointer)
        self.operators = {row["name"]: row["count"]
                          for row in listed("weft_operator", lib.weft_graph_operator, self._pointer)}

    def text(self, constants=False):
        """A line per node; with the data of all constants if wanted."""
        return text(ffi.gc(call(lib.weft_graph_text, self._pointer, constants), lib.weft_free))

    def __repr__(self):
        return f"<weft.Graph {self.facts['name']}>"
