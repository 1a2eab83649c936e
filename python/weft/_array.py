# SPDX-License-Identifier: Apache-2.0
"""Arrays: read, change, check (docs/array.md)."""

from functools import lru_cache
from itertools import count

from weft._native import call, encode, ffi, filled, lib, listed, path, text
from weft._native import fields as fields_of
from weft._table import table


def arrays():
    """The names of the arrays that are built in."""
    names = (text(lib.weft_array_shipped(i)) for i in count())
    return list(iter(lambda: next(names), None))


def parameters():
    """Every parameter of an array as a dict: name, kind, choices, initial, min, max, unit, meaning."""
    return listed("weft_parameter", lib.weft_parameter_at)


@lru_cache
def _kinds():
    """Of all parameters by name."""
    return {p["name"]: p["kind"] for p in parameters()}


@lru_cache
def _find(name):
    """The parameter that a keyword means: scratchpad.capacity_kib is also scratchpad_capacity_kib and scratchpad_kib."""
    if name in _kinds():
        return name
    for dotted in _kinds():
        if dotted.replace(".", "_", 1) == name:
            return dotted
    section, _, rest = name.partition("_")
    near = [n for n in _kinds() if n.startswith(section + ".") and n.endswith("_" + rest)]
    return near[0] if len(near) == 1 else name  # libweft says what is wrong with it


def _text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


class Array:
    """An array description: the name of a built-in one or a file, with parameters of your own."""

    def __init__(self, name="gemmini-default", **parameters):
        self.pointer = self._own(call(lib.weft_array_load, encode(path(name))))
        self.update(**parameters)

    def technology(self, file):
        """Takes energies and areas from a technology table (docs/energy.md) from now on; returns the array."""
        call(lib.weft_array_technology, self.pointer, encode(path(file)))
        return self

    @staticmethod
    def _own(pointer):
        return ffi.gc(pointer, lib.weft_array_destroy)

    @classmethod
    def _of(cls, pointer):
        made = cls.__new__(cls)
        made.pointer = cls._own(pointer)
        return made

    @classmethod
    def parse(cls, yaml, name="array.yaml"):
        """From the text of a description."""
        data = yaml.encode()
        return cls._of(call(lib.weft_array_parse, encode(name), data, len(data)))

    def copy(self, **parameters):
        made = self._of(lib.weft_array_copy(self.pointer))
        made.update(**parameters)
        return made

    def update(self, **parameters):
        """Sets parameters, and checks that the array can be built."""
        for name, value in parameters.items():
            self[name] = value
        if parameters:
            self.check()

    def check(self):
        """Raises BadInput with every reason why the array cannot be built."""
        call(lib.weft_array_check, self.pointer)

    def __getitem__(self, name):
        name, value = _find(name), ffi.new("uint32_t *")
        call(lib.weft_array_get, self.pointer, encode(name), value)
        kind = _kinds()[name]
        if kind == "choice":
            shown = ffi.new("char[64]")
            call(lib.weft_array_get_text, self.pointer, encode(name), shown, 64)
            return text(shown)
        return bool(value[0]) if kind == "flag" else value[0]

    def __setitem__(self, name, value):
        call(lib.weft_array_set, self.pointer, encode(_find(name)), encode(_text(value)))

    @property
    def name(self):
        return text(lib.weft_array_name(self.pointer))

    @name.setter
    def name(self, name):
        call(lib.weft_array_rename, self.pointer, encode(name))

    @property
    def hash(self):
        """Of all parameters, as the tool prints it."""
        return f"{lib.weft_array_hash(self.pointer):016x}"

    @property
    def description(self):
        return text(lib.weft_array_description(self.pointer))

    @property
    def facts(self):
        """What follows from the parameters, as a dict: dim, sp_rows, max_cols, mesh_latency and others."""
        return fields_of(filled("weft_array_facts", lib.weft_array_describe, self.pointer))

    @property
    def area(self):
        """The area in 40 nm and its band, in um2: a row for all, and one for each part."""
        return table(listed("weft_area", lib.weft_array_area, self.pointer))

    @property
    def paths(self):
        """The longest path of each unit in 40 nm and its band, in ns."""
        return table(listed("weft_unit_path", lib.weft_array_path, self.pointer))

    def yaml(self):
        return text(ffi.gc(call(lib.weft_array_yaml, self.pointer), lib.weft_free))

    def write_hardware(self, folder):
        """Writes its SystemVerilog and what other tools take; the number of files."""
        files = ffi.new("uint64_t *")
        call(lib.weft_hardware_write, self.pointer, encode(path(folder)), files)
        return files[0]

    def save(self, file):
        with open(file, "w", encoding="utf-8") as out:
            out.write(self.yaml())

    def __eq__(self, other):
        return isinstance(other, Array) and self.hash == other.hash

    __hash__ = None

    def __repr__(self):
        return f"<weft.Array {self.name} {self.hash}>"


def array_of(array):
    """An Array of what a caller gave: one, a name, or nothing."""
    return array if isinstance(array, Array) else Array() if array is None else Array(array)
