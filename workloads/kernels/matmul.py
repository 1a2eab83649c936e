# C = A B in int32: A is M x K, B is K x N, both int8, rows one after the other.
from weft import *


@jit
def matmul(a_ptr: int8, b_ptr: int8, c_ptr: int32, M, N, K,
           BLOCK_M: constexpr = 64, BLOCK_N: constexpr = 64, BLOCK_K: constexpr = 64):
    pid_m = program_id(0)
    pid_n = program_id(1)
    a = make_block_ptr(a_ptr, (M, K), (K, 1), (pid_m * BLOCK_M, 0), (BLOCK_M, BLOCK_K), (1, 0))
    b = make_block_ptr(b_ptr, (K, N), (N, 1), (0, pid_n * BLOCK_N), (BLOCK_K, BLOCK_N), (1, 0))
    c = make_block_ptr(c_ptr, (M, N), (N, 1), (pid_m * BLOCK_M, pid_n * BLOCK_N), (BLOCK_M, BLOCK_N), (1, 0))
    acc = zeros((BLOCK_M, BLOCK_N), int32)
    for k in range(0, K, BLOCK_K):
        acc = dot(load(a, boundary_check=(0, 1)), load(b, boundary_check=(0, 1)), acc)
        a = advance(a, (0, BLOCK_K))
        b = advance(b, (BLOCK_K, 0))
    store(c, acc, boundary_check=(0, 1))


grid = lambda META: (cdiv(M, META["BLOCK_M"]), cdiv(N, META["BLOCK_N"]))
