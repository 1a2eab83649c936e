# SPDX-License-Identifier: Apache-2.0
# SiLU of each element in Triton's spelling: x * scale in, levels of out_scale out. The array needs the normaliser
# (transformer-16).
import triton
import triton.language as tl


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def elements(x_ptr, y_ptr, n_elements, scale: float, levels: float, BLOCK: tl.constexpr = 256):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32) * scale
    tl.store(y_ptr + offsets, (silu(x) * levels).to(tl.int8), mask=mask)


def run(x, y, scale, levels):
    n_elements = x.numel()
    grid = lambda META: (triton.cdiv(n_elements, META["BLOCK"]),)
    elements[grid](x, y, n_elements, scale, levels)
