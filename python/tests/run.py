# SPDX-License-Identifier: Apache-2.0
"""Runs a test as a program, or ends with 77, which CTest takes for skipped, where a package of Debian is missing.
usage: run.py TEST.py [ARGUMENT..]"""

import importlib.util
import runpy
import sys

needed = ["cffi", "numpy"]
if sys.argv[1].endswith("render.py"):
    needed += ["nbclient", "ipykernel"]
for module in needed:
    if importlib.util.find_spec(module) is None:
        print(f"skipped: apt-get install python3-{module}")
        sys.exit(77)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
