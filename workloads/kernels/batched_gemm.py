# C[b] = scale * A[b] B[b] for each of B products, all int8: A[b] is M x K, B[b] is K x N, C[b] is M x N. Products stand
# one behind the other.
from weft import *


@jit
def batched_gemm(a_ptr: int8, b_ptr: int8, c_ptr: int8, B, M, N, K, scale: float = 1.0,
                 BLOCK_M: constexpr = 64, BLOCK_N: constexpr = 64, BLOCK_K: constexpr = 64):
    pid_m = program_id(0)
    pid_n = program_id(1)
    pid_b = program_id(2)
    a = make_block_ptr(a_ptr + pid_b * M * K, (M, K), (K, 1), (pid_m * BLOCK_M, 0), (BLOCK_M, BLOCK_K), (1, 0))
    b = make_block_ptr(b_ptr + pid_b * K * N, (K, N), (N, 1), (0, pid_n * BLOCK_N), (BLOCK_K, BLOCK_N), (1, 0))
    acc = zeros((BLOCK_M, BLOCK_N), int32)
    for k in range(0, K, BLOCK_K):
        acc = dot(load(a, boundary_check=(0, 1)), load(b, boundary_check=(0, 1)), acc)
        a = advance(a, (0, BLOCK_K))
        b = advance(b, (BLOCK_K, 0))
    c = make_block_ptr(c_ptr + pid_b * M * N, (M, N), (N, 1), (pid_m * BLOCK_M, pid_n * BLOCK_N), (BLOCK_M, BLOCK_N),
                       (1, 0))
    store(c, (acc * scale).to(int8), boundary_check=(0, 1))


grid = lambda META: (cdiv(M, META["BLOCK_M"]), cdiv(N, META["BLOCK_N"]), B)
