#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what `weft crosscheck NET --mappings DIR` writes, with a reader of its own: factors multiply to the problem's
dimensions and are those of the mapping in the comment, every level names each dimension once, memories keep or bypass
every tensor, and what a level keeps fits it. usage: mappings_check.py DIR PROBLEMS, the folder of --problems."""
import math
import pathlib
import re
import sys

DIMS = "NPQMCRS"
LEVELS = ["DRAM", "Scratchpad", "PEColumns", "Accumulator", "PERows", "Registers"]
TENSORS = {"Weights", "Inputs", "Outputs"}


def check(what, good):
    if not good:
        sys.exit(f"FAILED: {what}")


def words(text):
    return [w.strip() for w in text.split(",") if w.strip()]


def read_problem(path):
    found = re.findall(r"^    (\w+): (\d+)$", path.read_text(), re.M)
    check(f"{path}: sizes", {*DIMS, "Wstride", "Hstride", "Wdilation", "Hdilation"} == {k for k, _ in found})
    return {k: int(v) for k, v in found}


def read_mapping(path):
    """The directives in their order, and the mapping of the comment by its lines."""
    text = path.read_text()
    check(f"{path}: no mapping", text.count("\nmapping:\n") == 1)
    directives = []
    for line in text.split("\nmapping:\n")[1].splitlines():
        key, value = re.fullmatch(r"(?:  - |    )(\w+): (.*)", line).groups()
        if line.startswith("  - "):
            directives.append({})
        directives[-1][key] = words(value[1:-1]) if value.startswith("[") else value
    comment = dict(re.findall(r"^#   (tile|sp|dram|mapping) +(.*)$", text, re.M))
    return directives, comment


def read_array(path):
    """Entries of the memories, and the sides of the mesh."""
    text = path.read_text()
    entries = {}
    for part in text.split("  - !Component\n")[1:]:
        numbers = dict(re.findall(r"^      (depth|width|datawidth): (\d+)$", part, re.M))
        if "depth" in numbers:
            entries[re.search("name: (.*)", part)[1]] = int(numbers["depth"]) * int(numbers["width"]) // int(numbers["datawidth"])
    return entries, int(re.search(r"meshX: (\d+)", text)[1]), int(re.search(r"meshY: (\d+)", text)[1])


def factors_of(directive):
    pairs = [f.split("=") for f in directive["factors"]]
    check(f"factors of {directive['target']}", sorted(d for d, _ in pairs) == sorted(DIMS))
    return {d: int(n) for d, n in pairs}


def tensor_words(size, problem):
    height = (size["P"] - 1) * problem["Wstride"] + (size["R"] - 1) * problem["Wdilation"] + 1
    width = (size["Q"] - 1) * problem["Hstride"] + (size["S"] - 1) * problem["Hdilation"] + 1
    return {"Weights": size["C"] * size["M"] * size["R"] * size["S"], "Inputs": size["N"] * size["C"] * height * width,
            "Outputs": size["N"] * size["M"] * size["P"] * size["Q"]}


def check_fits(path, factors, kept, problem, array):
    entries, columns, rows = array
    check(f"{path}: columns", math.prod(factors["PEColumns"].values()) <= columns)
    check(f"{path}: rows", math.prod(factors["PERows"].values()) <= rows)
    for level in LEVELS[1:]:
        if level not in kept:
            continue
        # Of one instance: what the levels from here on go through.
        inner = {d: math.prod(factors[l][d] for l in LEVELS[LEVELS.index(level):]) for d in DIMS}
        if level == "Registers":
            inner = {d: 1 for d in DIMS}  # weights alone: the loops over them are outside
            check(f"{path}: a weight stays", all(factors[level][d] == 1 for d in "MCRS"))
        used = sum(tensor_words(inner, problem)[t] for t in kept[level])
        check(f"{path}: {level} keeps {used} words of {entries[level]}", used <= entries[level])


def check_layer(path, problems, array):
    directives, comment = read_mapping(path)
    problem = read_problem(path.with_name(path.name.replace(".mapping.", ".problem.")))
    loops = [d for d in directives if d["type"] != "dataspace"]
    check(f"{path}: levels", [d["target"] for d in loops] == LEVELS)
    factors = {d["target"]: factors_of(d) for d in loops}
    for d in loops:
        check(f"{path}: order of {d['target']}", sorted(d["permutation"]) == sorted(DIMS))
    kept = {d["target"]: set(d["keep"]) for d in directives if d["type"] == "dataspace"}
    for d in directives:
        if d["type"] == "dataspace":
            check(f"{path}: tensors of {d['target']}", len(d["keep"]) + len(d["bypass"]) == 3 and {*d["keep"], *d["bypass"]} == TENSORS)
    whole = read_problem(problems / path.name.replace(".mapping.", "."))
    parts = {k: dict(zip(*[iter(comment[k].replace("K", "M").split())] * 2)) for k in ("tile", "sp", "dram")}
    for d in DIMS:
        check(f"{path}: {d}", math.prod(f[d] for f in factors.values()) == problem[d])
        blocks = int(parts["sp"][d]) * int(parts["dram"][d])
        check(f"{path}: loops over {d}", factors["DRAM"][d] * factors["Scratchpad"][d] == blocks)
        check(f"{path}: {d} = {problem[d]} for {whole[d]}", 0 <= problem[d] - whole[d] < problem[d] // blocks)
    check_fits(path, factors, kept, problem, array)


def main():
    folder, problems = map(pathlib.Path, sys.argv[1:])
    mappings = sorted(folder.glob("*.mapping.yaml"))
    check("no mappings", mappings)
    array = read_array(folder / "arch.yaml")
    for path in mappings:
        check_layer(path, problems, array)
    named = re.findall(r"system_top_level\.(\w+)\[", (folder / "ert.yaml").read_text())
    check(f"energies of {named}", set(named) == set(re.findall(r"!Component\n    name: (\w+)", (folder / "arch.yaml").read_text())))
    print(f"{len(mappings)} mappings: good")


main()
