# S[h] = scale * Q[h] K[h]^T for each of H heads, all int8: Q[h] is M x D, K[h] is N x D, S[h] is M x N. Heads stand one
# behind the other.
from weft import *


@jit
def attention_qk(q_ptr: int8, k_ptr: int8, s_ptr: int8, H, M, N, D, scale: float = 1.0,
                 BLOCK_M: constexpr = 64, BLOCK_N: constexpr = 64, BLOCK_K: constexpr = 64):
    pid_m = program_id(0)
    pid_n = program_id(1)
    pid_h = program_id(2)
    m, n = pid_m * BLOCK_M, pid_n * BLOCK_N
    acc = zeros((BLOCK_M, BLOCK_N), int32)
    for d in range(0, D, BLOCK_K):
        q = make_block_ptr(q_ptr + pid_h * M * D, (M, D), (D, 1), (m, d), (BLOCK_M, BLOCK_K), (1, 0))
        k = make_block_ptr(k_ptr + pid_h * N * D, (N, D), (D, 1), (n, d), (BLOCK_N, BLOCK_K), (1, 0))
        acc += dot(load(q, boundary_check=(0, 1)), trans(load(k, boundary_check=(0, 1))))
    s = make_block_ptr(s_ptr + pid_h * M * N, (M, N), (N, 1), (m, n), (BLOCK_M, BLOCK_N), (1, 0))
    store(s, (acc * scale).to(int8), boundary_check=(0, 1))


grid = lambda META: (cdiv(M, META["BLOCK_M"]), cdiv(N, META["BLOCK_N"]), H)
