# SPDX-License-Identifier: Apache-2.0
"""Races of programs, traces and programs with tokens (docs/races.md)."""

from weft._array import array_of
from weft._native import call, encode, ffi, fields, filled, lib, listed, long_call, path, struct
from weft._table import table


def _side(races, index, later):
    """Of a race: unit, number, writes, pc, line, of, unrolled, text."""
    return fields(filled("weft_access", lib.weft_races_access, races, index, later))


class Races:
    """What nothing orders. `facts` has the counts, `pairs` a row per race with both sides, `queues` and `deadlocks`
    those of a program with tokens."""

    def __init__(self, pointer):
        pointer = ffi.gc(pointer, lib.weft_races_destroy)
        self.facts = fields(filled("weft_races_facts", lib.weft_races_describe, pointer))
        self.pairs = table({**race, "earlier": _side(pointer, i, False), "later": _side(pointer, i, True)}
                           for i, race in enumerate(listed("weft_race", lib.weft_races_at, pointer)))
        self.queues = table(listed("weft_token_queue", lib.weft_races_queue, pointer))
        self.deadlocks = table(listed("weft_deadlock", lib.weft_races_deadlock, pointer))

    def __repr__(self):
        return f"<weft.Races {self.facts['races']}>"


def races(file, array=None, **options):
    """Races of a RISC-V program or a trace on an array, or of a program with tokens. Options: ignore_station,
    ignore_fences, ignore_room, any_array, max_instructions."""
    name, tokens = encode(path(file)), ffi.new("bool *")
    call(lib.weft_races_tokens, name, tokens)
    made = struct("weft_races_options", **options)
    of = ffi.NULL if tokens[0] else array_of(array).pointer
    return Races(long_call(lib.weft_races_find, name, of, made))
