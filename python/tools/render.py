# SPDX-License-Identifier: Apache-2.0
"""Runs notebooks and writes them as pages: text, code, what was printed, pictures beside the page.
usage: render.py [--check] DIR NOTEBOOK.ipynb..     --check: writes nothing and says which page of DIR is not what would
be written but for numbers. Tables are printed as the package prints them without pandas."""

import difflib
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

WITHOUT_PANDAS = "import sys; sys.modules['pandas'] = None"


def executed(file):
    """The notebook with outputs, run in a folder of its own."""
    notebook = nbformat.read(file, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(WITHOUT_PANDAS))
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    return notebook.cells[1:]


def shown(output, picture):
    """The text of an output, and the picture, if it is one."""
    data = output.get("data", {})
    if "image/svg+xml" in data:
        return f"![What the cell draws]({picture})", data["image/svg+xml"]
    return "```\n" + output.get("text", data.get("text/plain", "")).rstrip("\n") + "\n```", None


def joined(outputs):
    """Outputs without messages; what was printed in pieces is one."""
    printed = []
    for output in outputs:
        if output.get("name") == "stderr":
            continue
        if printed and output.output_type == printed[-1].output_type == "stream":
            printed[-1].text += output.text
        else:
            printed.append(output)
    return printed


def code(cell, picture):
    parts, drawn = [f"```python\n{cell.source}\n```"], {}
    for output in joined(cell.outputs):
        text, svg = shown(output, picture)
        parts.append(text)
        if svg:
            drawn[picture] = svg.rstrip("\n") + "\n"
    return parts, drawn


def pages(file):
    """The files of a notebook: name to text."""
    name = Path(file).stem
    parts, files = [], {}
    for number, cell in enumerate(executed(file)):
        text, drawn = ([cell.source], {}) if cell.cell_type == "markdown" else code(cell, f"{name}-{number}.svg")
        parts += text
        files.update(drawn)
    parts.append(f"This page is what `python/notebooks/{name}.ipynb` gives when it is run\n"
                 "(`cmake --build build/release --target notebooks` writes it again).")
    return {f"{name}.md": "\n\n".join(parts) + "\n", **files}


def plain(text):
    """The lines of a page without its numbers, which change with the compiler, and without their columns."""
    return [re.sub(r"[-\d.,e+]*\d[\d.,e+-]*", "0", " ".join(line.split())) for line in text.splitlines()]


def differs(path, text):
    """Whether a file is not this text but for numbers; says where."""
    there = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = list(difflib.unified_diff(plain(there), plain(text), str(path), "what the notebook gives", lineterm=""))
    print("\n".join(lines[:40]), end="\n" if lines else "")
    return bool(lines)


def main(arguments):
    check = arguments[0] == "--check"
    folder, *notebooks = arguments[check:]
    written = {}
    for notebook in notebooks:
        written.update(pages(notebook))
    if check:
        stale = [name for name, text in written.items() if differs(Path(folder, name), text)]
        if stale:
            sys.exit(f"not fresh: {', '.join(stale)}; hint: cmake --build build/release --target notebooks")
    else:
        for name, text in written.items():
            Path(folder, name).write_text(text, encoding="utf-8")
    print(f"{len(notebooks)} notebooks, {len(written)} files")


if __name__ == "__main__":
    os.environ.setdefault("JUPYTER_PLATFORM_DIRS", "1")
    main(sys.argv[1:])
