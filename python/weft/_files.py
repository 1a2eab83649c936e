# SPDX-License-Identifier: Apache-2.0
"""Files that come with the library."""

from weft._native import lib, listed


def files():
    """Kernels and descriptions to begin with: their texts by name ("gemm.py")."""
    return {file["name"]: file["text"] for file in listed("weft_file", lib.weft_file_at)}
