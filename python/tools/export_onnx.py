#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports a PyTorch module to ONNX, for `weft sim MODEL.onnx`.

usage: export_onnx.py FILE.py:FUNCTION MODEL.onnx --input SHAPE[:TYPE] ...

FUNCTION takes nothing and returns the module, with the weights that it shall have. One --input per argument of its
forward, in their order: 1x3x224x224, or 1x128:int64 for what is no float32. Sizes are fixed, as `weft sim` wants them.
"""
import argparse
import importlib.util
import sys

OPSET = 17


def read_input(text):
    """('1x128:int64') -> ((1, 128), 'int64')"""
    shape, _, dtype = text.partition(":")
    try:
        sizes = tuple(int(size) for size in shape.split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{shape}' is no shape such as 1x3x224x224") from None
    if min(sizes) < 1:
        raise argparse.ArgumentTypeError(f"'{shape}' has a size below 1")
    return sizes, dtype or "float32"


def load_module(place):
    """The module that FILE.py:FUNCTION makes."""
    path, _, function = place.rpartition(":")
    spec = importlib.util.spec_from_file_location("exported", path)
    file = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(file)
    return getattr(file, function)()


def export(module, inputs, out):
    import torch

    examples = tuple(torch.zeros(shape, dtype=getattr(torch, dtype)) for shape, dtype in inputs)
    names = [f"input{i}" for i in range(len(examples))]
    with torch.no_grad():
        torch.onnx.export(module.eval(), examples, out, opset_version=OPSET, input_names=names)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", metavar="FILE.py:FUNCTION")
    parser.add_argument("out", metavar="MODEL.onnx")
    parser.add_argument("--input", dest="inputs", type=read_input, action="append", required=True)
    options = parser.parse_args(arguments)
    export(load_module(options.module), options.inputs, options.out)


if __name__ == "__main__":
    main(sys.argv[1:])
