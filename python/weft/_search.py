# SPDX-License-Identifier: Apache-2.0
"""Searches for hardware (docs/search.md)."""

from weft._native import call, encode, encoded, ffi, fields, filled, lib, path, struct, text
from weft._array import Array, array_of
from weft._network import watched
from weft._table import table


def _report(function, pointer, form):
    return text(ffi.gc(call(function, pointer, struct("weft_run_form", form=form)), lib.weft_free))


class Answer:
    """Figures are attributes: answer.side, answer.cycles, answer.energy_uj, answer.gain, ..."""

    def __init__(self, pointer):
        self._pointer = ffi.gc(pointer, lib.weft_answer_destroy)
        self.figures = fields(filled("weft_figures", lib.weft_answer_figures, self._pointer))

    def __getattr__(self, name):
        figures = self.__dict__.get("figures", {})
        if name not in figures:
            raise AttributeError(f"an answer has no {name!r}; it has {', '.join(figures)}, array, candidates")
        return figures[name]

    @property
    def array(self):
        """One that can be built; raises CannotBuild where there is none."""
        return Array._of(call(lib.weft_answer_array, self._pointer))

    @property
    def candidates(self):
        """What was simulated, in that order."""
        count = lib.weft_answer_candidates(self._pointer)
        return table(fields(filled("weft_candidate", lib.weft_answer_candidate, self._pointer, i))
                     for i in range(count))

    def report(self, form="text"):
        """What the tool prints of it: "text" or "json"."""
        return _report(lib.weft_answer_report, self._pointer, form)

    def write(self, folder):
        """Writes what the tool leaves in a folder: report and array; of a simulated search also RTL, mappings, kernels."""
        call(lib.weft_answer_write, self._pointer, encode(path(folder)))

    def __repr__(self):
        return f"<weft answer: side {self.side:g}, {self.scratchpad_kib:g} + {self.accumulator_kib:g} KiB>"


def search(network, array=None, progress=None, **options):
    """Hardware for a network. Options are those of weft_search_options (docs/api.md): objective, simulate, max_area_mm2,
    ..."""
    made = struct("weft_search_options", **options)
    return Answer(watched(lib.weft_search, array_of(array).pointer, encode(path(network)), made, progress=progress))


class Joint:
    """One array for several networks; figures are in `facts`."""

    def __init__(self, pointer):
        self._pointer = ffi.gc(pointer, lib.weft_joint_destroy)
        self.facts = fields(filled("weft_joint_facts", lib.weft_joint_describe, self._pointer))
        self.array = Array._of(lib.weft_joint_array(self._pointer))

    def report(self, form="text"):
        """What the tool prints of it: "text", "json", or "csv" of what was looked at."""
        return _report(lib.weft_joint_report, self._pointer, form)

    def write(self, folder):
        """Writes array, report, trace and mappings into a folder."""
        call(lib.weft_joint_write, self._pointer, encode(path(folder)))


def joint(*networks, weights=None, seed=1, progress=None, **options):
    """One array for all networks (docs/codesign.md). Options are those of weft_joint_options (docs/api.md): space, method,
    objective, second, max_area_mm2, simulations, seconds, check_rtl, ..."""
    if weights is not None:
        if len(weights) != len(networks):
            raise ValueError(f"{len(networks)} networks have {len(weights)} weights")
        weights = ffi.new("double[]", list(weights))
    made = struct("weft_joint_options", weights=weights, seed=seed, **options)
    names, _kept = encoded([path(network) for network in networks])
    return Joint(watched(lib.weft_joint_search, names, len(networks), made, progress=progress))
