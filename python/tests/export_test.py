# SPDX-License-Identifier: Apache-2.0
"""export_test.py TOOL [WEFT]: what python/tools/export_onnx.py reads; with WEFT a module is exported and simulated,
which needs PyTorch (77: skipped, it is not installed)."""
import argparse
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

MODULE = """
import torch

def make():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
                               torch.nn.Linear(8 * 8 * 8, 10))
"""


def tool_of(path):
    spec = importlib.util.spec_from_file_location("tool", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def test_reading(tool):
    assert tool.read_input("1x3x224x224") == ((1, 3, 224, 224), "float32")
    assert tool.read_input("1x128:int64") == ((1, 128), "int64")
    for wrong in ("", "1xa", "1,3", "0x3", "-1x3"):
        try:
            tool.read_input(wrong)
        except argparse.ArgumentTypeError:
            continue
        raise AssertionError(f"'{wrong}' was read")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "made.py")
        file.write_text("def make():\n    return 42\n")
        assert tool.load_module(f"{file}:make") == 42


def test_export(tool, weft):
    with tempfile.TemporaryDirectory() as folder:
        file, model = pathlib.Path(folder, "module.py"), pathlib.Path(folder, "module.onnx")
        file.write_text(MODULE)
        tool.main([f"{file}:make", str(model), "--input", "1x3x8x8"])
        subprocess.run([weft, "sim", str(model)], check=True)


def main(path, weft=None):
    tool = tool_of(path)
    if weft is None:
        return test_reading(tool)
    if importlib.util.find_spec("torch") is None:
        print("skipped: PyTorch is not installed")
        return 77
    return test_export(tool, weft)


sys.exit(main(*sys.argv[1:]))
