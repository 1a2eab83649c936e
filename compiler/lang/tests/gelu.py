# SPDX-License-Identifier: Apache-2.0
# GELU of each element in Triton's spelling, with the error function or the hyperbolic tangent: x * scale in, levels of
# out_scale out. Each int8 may count as several integers (GAIN). The array needs the normaliser
# (transformer-16).
import triton
import triton.language as tl


@triton.jit
def tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def gelu(x, FORM: tl.constexpr):
    if FORM == "tanh":
        return 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)))
    return x * 0.5 * (1.0 + tl.math.erf(x * 0.7071067812))


@triton.jit
def elements(x_ptr, y_ptr, n_elements, scale: float, levels: float, FORM: tl.constexpr = "erf", GAIN: tl.constexpr = 1,
             BLOCK: tl.constexpr = 256):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = (tl.load(x_ptr + offsets, mask=mask) * GAIN).to(tl.float32) * (scale / GAIN)
    tl.store(y_ptr + offsets, (gelu(x, FORM) * levels).to(tl.int8), mask=mask)


def run(x, y, scale, levels):
    n_elements = x.numel()
    grid = lambda META: (triton.cdiv(n_elements, META["BLOCK"]),)
    elements[grid](x, y, n_elements, scale, levels)
