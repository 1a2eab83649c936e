# SPDX-License-Identifier: Apache-2.0
"""Layers beside the closed forms of other simulators (docs/crosscheck.md)."""

from weft._array import array_of
from weft._native import call, encode, ffi, fields, filled, lib, listed, long_call, path
from weft._table import table


def _causes():
    return [cause["name"] for cause in listed("weft_cause", lib.weft_crosscheck_cause)]


def _row(made):
    """A row as a dict, with a key per cause."""
    values = fields(made, without=("size", "difference"))
    return {**values, **dict(zip(_causes(), made.difference))}


def crosscheck(network, array="gemmini-default", form=None, progress=None):
    """The layers of a network on engine cycle beside a closed form ("scale-sim", "scale-sim-os", "stonne"): a table
    with a row per layer, whose causes add up to cycles - closed_form."""
    layers = ffi.gc(call(lib.weft_layers_load, encode(path(network))), lib.weft_layers_destroy)
    array, form = array_of(array), encode(form)
    made = long_call(lib.weft_crosscheck_run, layers, array.pointer, form, progress=progress)
    made = ffi.gc(made, lib.weft_crosscheck_destroy)
    rows = []
    try:
        while True:
            rows.append(_row(filled("weft_crosscheck_row", lib.weft_crosscheck_at, made, len(rows))))
    except IndexError:
        return table(rows)
