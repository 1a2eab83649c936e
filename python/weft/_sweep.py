# SPDX-License-Identifier: Apache-2.0
"""Sweeps and their stores (docs/sweeps.md)."""

import json
import os
import tempfile
from contextlib import contextmanager

from weft._native import call, encode, ffi, fields, lib, listed, path, session, struct, text
from weft._array import Array
from weft._network import watched
from weft._plot import Figure
from weft._table import records, table


@contextmanager
def _file_of(specification):
    """The path of a specification; of a dict, a file in this folder, from which its paths are."""
    if not isinstance(specification, dict):
        yield path(specification)
        return
    handle, name = tempfile.mkstemp(suffix=".yaml", dir=".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            json.dump(specification, out)  # which is YAML, too
        yield name
    finally:
        os.unlink(name)


def sweep(specification, store, jobs=0, any_version=False, progress=None, extend=False, engine=None):
    """Measures the arrays and networks of a specification, a file or a dict, into a store, and opens it. What is there is
    not measured again: after Ctrl-C the same call goes on. With `extend` the store may be one of a specification that has
    changed since. `engine` ("cycle", "flow") measures in place of the specification's."""
    options = struct("weft_sweep_options", store=path(store), jobs=jobs, any_version=any_version,
                     extend=extend, engine=engine)
    result = struct("weft_sweep_result")
    with _file_of(specification) as name:
        watched(lib.weft_sweep, encode(name), options, result, progress=progress)
    return Store(store, fields(result))


def study(specification, directory, jobs=0, any_version=False, progress=None, extend=False, engine=None):
    """Measures the combinations of a study (docs/study.md), a file or a dict, into stores of a folder. A dict as
    `weft study --json` writes it: its rows, and what follows from them."""
    folder = path(directory)
    os.makedirs(folder, exist_ok=True)
    options = struct("weft_sweep_options", jobs=jobs, any_version=any_version, extend=extend)
    with _file_of(specification) as name:
        made = ffi.gc(call(lib.weft_study_load, encode(name), encode(engine)), lib.weft_study_destroy)
    watched(lib.weft_study_run, made, encode(folder), options, ffi.NULL, progress=progress)
    return json.loads(text(ffi.gc(call(lib.weft_study_table, made, encode(folder), encode("json")), lib.weft_free)))


class Store:
    """A store, opened for reading at each question."""

    def __init__(self, file, result=None):
        self.file, self.result = path(file), result
        self.query("select 1")  # whether it is one

    def points(self, condition="", network=None, limit=0):
        """The points for which a condition holds: "cycles < 20e6 and dim <= 16 order by edp"."""
        rows = call(lib.weft_query, encode(self.file), encode(condition), encode(network), limit)
        rows = ffi.gc(rows, lib.weft_rows_close)
        return table(self._rows(rows))

    def query(self, statement):
        """A SELECT over the tables of the store."""
        return self.points(statement)

    @staticmethod
    def _rows(rows):
        columns = range(lib.weft_rows_columns(rows))
        names = [text(lib.weft_rows_name(rows, c)) for c in columns]
        while lib.weft_rows_next(session(), rows):
            yield {name: _value(rows, c) for name, c in zip(names, columns)}
        call(lambda s: lib.weft_session_status(s))

    def _measured(self, x, y, network):
        """The points that have both columns: an array that cannot be built has none."""
        return records(self.points(f'"{x}" is not null and "{y}" is not null', network))

    def pareto(self, x="cycles", y="energy_pj", network=None):
        """The points that no other beats in both columns, from the least x on."""
        front, least = [], float("inf")
        for row in sorted(self._measured(x, y, network), key=lambda row: (row[x], row[y])):
            if row[y] < least:
                least = row[y]
                front.append(row)
        return table(front)

    def fronts(self, network=None):
        """The points that no other beats by engine cycle or by engine flow, of a store that has both (docs/sweeps.md)."""
        fronts = ffi.gc(call(lib.weft_fronts_compare, encode(self.file)), lib.weft_fronts_destroy)
        points = []
        for n, front in enumerate(listed("weft_front", lib.weft_fronts_network, fronts)):
            if network in (None, front["network"]):
                points += [{"network": front["network"], **point}
                           for point in listed("weft_front_point", lib.weft_fronts_point, fronts, n)]
        return table(points)

    def plot(self, x="cycles", y="energy_pj", network=None):
        """All points and their Pareto front; shown in notebooks, or saved as SVG."""
        points, front = self._measured(x, y, network), records(self.pareto(x, y, network))
        return Figure(x, y, [(p[x], p[y]) for p in points], [(p[x], p[y]) for p in front])

    def array(self, hash):
        """The array of a point, by its column `array`."""
        if not set(hash) <= set("0123456789abcdef"):
            raise ValueError(f"{hash!r} is no hash")
        found = records(self.query(f"select yaml from array where hash = '{hash}'"))
        if not found:
            raise KeyError(hash)
        return Array.parse(found[0]["yaml"])

    def __repr__(self):
        return f"<weft.Store {self.file}>"


def _value(rows, column):
    kind = lib.weft_rows_kind(rows, column)
    if kind == lib.WEFT_NULL:
        return None
    if kind == lib.WEFT_INTEGER:
        return lib.weft_rows_integer(rows, column)
    return lib.weft_rows_number(rows, column) if kind == lib.WEFT_NUMBER else text(lib.weft_rows_text(rows, column))


def open(file):
    """The store of a sweep."""
    return Store(file)
