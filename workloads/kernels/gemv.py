# y = scale * (x A + bias): x has K elements, A is K x N, y has N, all int8; bias has N int32. A GEMM of one row:
# BLOCK_M is the number of rows of the accumulator that it takes.
from weft import *


@jit
def gemv(x_ptr: int8, a_ptr: int8, bias_ptr: int32, y_ptr: int8, N, K, scale: float = 1.0,
         BLOCK_M: constexpr = 1, BLOCK_N: constexpr = 64, BLOCK_K: constexpr = 64):
    n = program_id(0) * BLOCK_N
    acc = zeros((BLOCK_M, BLOCK_N), int32)
    for k in range(0, K, BLOCK_K):
        x = make_block_ptr(x_ptr, (1, K), (K, 1), (0, k), (BLOCK_M, BLOCK_K), (1, 0))
        a = make_block_ptr(a_ptr, (K, N), (N, 1), (k, n), (BLOCK_K, BLOCK_N), (1, 0))
        acc += dot(load(x, boundary_check=(0, 1)), load(a, boundary_check=(0, 1)))
    bias = load(make_block_ptr(bias_ptr, (N,), (1,), (n,), (BLOCK_N,), (0,)), boundary_check=(0,))
    acc += bias[None, :]
    y = make_block_ptr(y_ptr, (1, N), (N, 1), (0, n), (BLOCK_M, BLOCK_N), (1, 0))
    store(y, (acc * scale).to(int8), boundary_check=(0, 1))


grid = lambda META: (cdiv(N, META["BLOCK_N"]),)
