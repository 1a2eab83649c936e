# SPDX-License-Identifier: Apache-2.0
# Layer norm of rows in Triton's spelling, without factors: LEVELS of int8 for a standard deviation. The array needs the
# normaliser (transformer-16).
import triton
import triton.language as tl


@triton.jit
def layer_norm(x_ptr, y_ptr, M, N, stride, LEVELS: tl.constexpr = 32, ROWS: tl.constexpr = 16):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.arange(0, N)
    mask = i[:, None] < M
    x = tl.load(x_ptr + i[:, None] * stride + j[None, :], mask=mask, other=0)
    mean = tl.sum(x, axis=1) / N
    centred = x - mean[:, None]
    variance = tl.sum(centred * centred, axis=1) / N
    fine = x * LEVELS
    y = (fine - (tl.sum(fine, axis=1) / N)[:, None]) * tl.rsqrt(variance)[:, None]
    tl.store(y_ptr + i[:, None] * N + j[None, :], y.to(tl.int8), mask=mask)


def run(x, y):
    grid = lambda META: (triton.cdiv(M, META["ROWS"]),)
    layer_norm[grid](x, y, *x.shape, x.stride(0))
