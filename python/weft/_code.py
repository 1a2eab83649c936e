# SPDX-License-Identifier: Apache-2.0
"""Executables of the hart: their instructions as text."""

from weft._native import OK, call, encode, ffi, fields, lib, listed, path, struct
from weft._table import table


def _instructions(code, section):
    """Those of one section, in its order."""
    made, offset = struct("weft_instruction"), 0
    while lib.weft_code_instruction(code, section, offset, made) == OK:
        yield fields(made)
        offset += made.bytes


def disassemble(file):
    """The instructions of a RISC-V executable: a table of section, address, bits, bytes, symbol and text. Those of the
    array have the names of their functions; the symbol is None where none stands."""
    code = ffi.gc(call(lib.weft_code_open, encode(path(file))), lib.weft_code_destroy)
    rows = []
    for index, section in enumerate(listed("weft_section", lib.weft_code_section, code)):
        for row in _instructions(code, index):
            labelled = row.pop("labelled")
            rows.append({"section": section["name"], **row, "symbol": row["symbol"] if labelled else None})
    return table(rows)
