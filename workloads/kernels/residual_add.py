# Y = act(A' + B') over M x N int8, where A' and B' are A and B times their scales, rounded and saturated to int8. With
# `repeat` B is one row, which is added to each of A.
from weft import *


@jit
def residual_add(a_ptr: int8, b_ptr: int8, y_ptr: int8, M, N, a_scale: float = 1.0, b_scale: float = 1.0,
                 relu: constexpr = True, repeat=0, BLOCK_M: constexpr = 64, BLOCK_N: constexpr = 64):
    pid_m = program_id(0)
    pid_n = program_id(1)
    m, n = pid_m * BLOCK_M, pid_n * BLOCK_N
    a = load(make_block_ptr(a_ptr, (M, N), (N, 1), (m, n), (BLOCK_M, BLOCK_N), (1, 0)), boundary_check=(0, 1))
    b = load(make_block_ptr(b_ptr, (M, N), (N - repeat * N, 1), (m, n), (BLOCK_M, BLOCK_N), (1, 0)), boundary_check=(0, 1))
    acc = (a * a_scale).to(int8) + (b * b_scale).to(int8)
    if relu:
        acc = maximum(acc, 0)
    y = make_block_ptr(y_ptr, (M, N), (N, 1), (m, n), (BLOCK_M, BLOCK_N), (1, 0))
    store(y, acc.to(int8), boundary_check=(0, 1))


grid = lambda META: (cdiv(M, META["BLOCK_M"]), cdiv(N, META["BLOCK_N"]))
