# SPDX-License-Identifier: Apache-2.0
"""What a run left: totals, steps, counters, outputs."""

import numpy

from weft._native import call, ffi, fields, filled, lib, struct, text
from weft._table import table

TYPES = {"i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16", "i32": "int32", "u32": "uint32",
         "i64": "int64", "u64": "uint64", "f32": "float32", "f64": "float64", "bool": "bool"}
SHOWN = {"engine", "timing_only", "check", "native_host", "times", "accelerator", "quantum", "sensitivity", "timeline",
         "timeline_level", "timeline_steps", "konata"}


def shape_of(tensor):
    return tuple(tensor.dim[i] for i in range(tensor.rank))


def dtype_of(tensor):
    return numpy.dtype(TYPES[ffi.string(tensor.type).decode()])


class Run:
    """Totals are attributes: run.cycles, run.energy_uj, run.utilisation, ..."""

    def __init__(self, pointer):
        self._pointer = ffi.gc(pointer, lib.weft_run_destroy)
        self.totals = fields(filled("weft_totals", lib.weft_run_totals, self._pointer))

    def __getattr__(self, name):
        totals = self.__dict__.get("totals", {})
        if name not in totals:
            raise AttributeError(f"a run has no {name!r}; it has {', '.join(totals)}, layers, counters, outputs")
        return totals[name]

    def __dir__(self):
        return [*super().__dir__(), *self.totals]

    @property
    def layers(self):
        """One row per step of a network."""
        count = lib.weft_run_steps(self._pointer)
        return table(fields(filled("weft_step", lib.weft_run_step, self._pointer, i)) for i in range(count))

    @property
    def counters(self):
        """What the units spent their cycles on, what they moved, and energy by part in pJ: unit, name, value."""
        count = lib.weft_run_counters(self._pointer)
        return table(fields(filled("weft_counter", lib.weft_run_counter, self._pointer, i)) for i in range(count))

    @property
    def outputs(self):
        """The results of a network as arrays of numpy."""
        found = []
        while True:
            tensor = struct("weft_tensor")
            data = lib.weft_run_output(self._pointer, len(found), tensor)
            if data == ffi.NULL:
                return found
            copied = numpy.frombuffer(ffi.buffer(data, tensor.bytes), dtype_of(tensor)).copy()
            found.append(copied.reshape(shape_of(tensor)))

    @property
    def ending(self):
        """How it ended, as the tool's exit code: 0 good, 4 with other results than the reference's."""
        return int(lib.weft_run_ending(self._pointer))

    def report(self, form="text", **options):
        """What the tool prints of it: "text" or "json"; of networks also "csv" and "page" (HTML), of programs "csv".
        Options: file (a name for it), units."""
        made = struct("weft_run_form", form=form, **options)
        return text(ffi.gc(call(lib.weft_run_report, self._pointer, made), lib.weft_free))

    def __repr__(self):
        return f"<weft run: {self.cycles:,} cycles>"
