# SPDX-License-Identifier: Apache-2.0
"""Searches for hardware (docs/search.md)."""

from weft._native import call, encode, ffi, fields, filled, lib, path, struct
from weft._array import Array, array_of
from weft._network import watched
from weft._table import table


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

    def __repr__(self):
        return f"<weft answer: side {self.side:g}, {self.scratchpad_kib:g} + {self.accumulator_kib:g} KiB>"


def search(network, array=None, progress=None, **options):
    """Hardware for a network. Options are those of weft_search_options (docs/api.md): objective, simulate, max_area_mm2,
    ..."""
    made = struct("weft_search_options", **options)
    return Answer(watched(lib.weft_search, array_of(array).pointer, encode(path(network)), made, progress=progress))
