# SPDX-License-Identifier: Apache-2.0
"""Weft from Python: arrays, kernels, networks, searches and sweeps (docs/python.md).

    array = weft.Array("gemmini-default", scratchpad_kib=512)
    weft.run("resnet50", array).layers
"""

from weft._native import BadInput, CannotBuild, Error, Usage, version
from weft._array import Array, arrays, parameters
from weft._code import disassemble
from weft._contrast import Contrast, contrast
from weft._crosscheck import crosscheck
from weft._files import files
from weft._graph import Graph
from weft._kernel import Kernel, kernel
from weft._model import Model
from weft._network import Network, generated_networks, run
from weft._plot import Figure
from weft._program import simulate
from weft._races import Races, races
from weft._search import Answer, Joint, joint, search
from weft._sweep import Store, open, study, sweep
from weft._table import Table

__version__ = version().split()[0]
__all__ = [
    "Answer", "Array", "BadInput", "CannotBuild", "Contrast", "Error", "Figure", "Graph", "Joint", "Kernel", "Model", "Network",
    "Races", "Store", "Table", "Usage", "arrays", "contrast", "crosscheck", "disassemble", "files", "generated_networks", "joint", "kernel", "open",
    "parameters", "races", "run", "search", "simulate", "study", "sweep", "version",
]
