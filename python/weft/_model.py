# SPDX-License-Identifier: Apache-2.0
"""Generated networks as models: ONNX files and tables of layers."""

from weft._native import call, encode, ffi, fields, filled, lib, path, struct, text


class Model:
    """One of weft.generated_networks(). Options: image, sequence, past, batch, divisor, depth, seed, prune, present."""

    def __init__(self, name, seed=1, **options):
        made = struct("weft_model_options", seed=seed, **options)
        self._pointer = ffi.gc(call(lib.weft_model_generate, encode(name), made), lib.weft_model_destroy)
        self.facts = fields(filled("weft_model_facts", lib.weft_model_describe, self._pointer))

    def save(self, file):
        """Writes an ONNX file."""
        call(lib.weft_model_write, self._pointer, encode(path(file)))

    def layers(self):
        """The table of its layers for weft.search, as YAML."""
        return text(ffi.gc(call(lib.weft_model_layers, self._pointer), lib.weft_free))

    def __repr__(self):
        return f"<weft.Model {self.facts['name']}>"
