# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of docs/python.md in order, in an empty folder, and looks at what they leave.
usage: page_test.py docs/python.md"""

import os
import re
import sys
import tempfile
import xml.etree.ElementTree as tree
from pathlib import Path


def main():
    blocks = re.findall(r"^```python\n(.*?)^```", Path(sys.argv[1]).read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) >= 7, f"{len(blocks)} examples"
    ten = [line for line in blocks[0].splitlines() if line.strip()]
    assert len(ten) <= 10, f"the ten lines are {len(ten)}"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        names = {}
        for number, block in enumerate(blocks):
            file = Path(f"example_{number}.py")  # kernels are read from it
            file.write_text(block, encoding="utf-8")
            exec(compile(block, str(file.resolve()), "exec"), names)
        marks = [element.tag.rpartition("}")[2] for element in tree.parse("front.svg").iter()]
        assert marks.count("circle") == 6 and marks.count("path") == 1, marks
        assert {"wide.yaml", "found.yaml", "sizes.sqlite"} <= set(os.listdir())
        os.chdir("/")
    print(f"{len(blocks)} examples")


main()
