# SPDX-License-Identifier: Apache-2.0
"""One program on two engines with cycles."""

from weft._array import array_of
from weft._native import encode, ffi, fields, filled, lib, listed, long_call, path, struct
from weft._table import table


class Contrast:
    """Attributes: equal, records_differ, at, text, and `sides`; records() is the list of one side."""

    def __init__(self, pointer):
        self._pointer = ffi.gc(pointer, lib.weft_contrast_destroy)
        facts = fields(filled("weft_contrast_facts", lib.weft_contrast_describe, self._pointer))
        self.equal, self.records_differ = facts["equal"], facts["records_differ"]
        self.at, self.text = facts["at"], facts["text"]
        self.sides = [fields(filled("weft_contrast_side", lib.weft_contrast_side_of, self._pointer, second))
                      for second in (False, True)]

    def records(self, second=False):
        """When commands were allocated, issued and done: cycle, kind, number, unit, command."""
        return table(listed("weft_record", lib.weft_contrast_record, self._pointer, second))

    def __repr__(self):
        return f"<weft.Contrast {'equal' if self.equal else self.text}>"


def contrast(file, array=None, first="cycle", second="rtl", **options):
    """A RISC-V program or a trace on two engines. Options: first_disturb, second_disturb, jobs, any_array."""
    made = struct("weft_contrast_options", first=first, second=second, **options)
    return Contrast(long_call(lib.weft_contrast_run, encode(path(file)), array_of(array).pointer, made))
