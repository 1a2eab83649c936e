# O[h] = scale * P[h] V[h] for each of H heads, all int8: P[h] is M x L (weights of L keys), V[h] is L x N, O[h] is
# M x N. The heads of P and V stand one behind the other; those of O side by side (O is M x (H N)), as the next
# layer wants it.
from weft import *


@jit
def attention_pv(p_ptr: int8, v_ptr: int8, o_ptr: int8, H, M, N, L, scale: float = 1.0,
                 BLOCK_M: constexpr = 64, BLOCK_N: constexpr = 64, BLOCK_K: constexpr = 64):
    pid_m = program_id(0)
    pid_n = program_id(1)
    pid_h = program_id(2)
    m, n = pid_m * BLOCK_M, pid_n * BLOCK_N
    acc = zeros((BLOCK_M, BLOCK_N), int32)
    for k in range(0, L, BLOCK_K):
        p = make_block_ptr(p_ptr + pid_h * M * L, (M, L), (L, 1), (m, k), (BLOCK_M, BLOCK_K), (1, 0))
        v = make_block_ptr(v_ptr + pid_h * L * N, (L, N), (N, 1), (k, n), (BLOCK_K, BLOCK_N), (1, 0))
        acc += dot(load(p, boundary_check=(0, 1)), load(v, boundary_check=(0, 1)))
    o = make_block_ptr(o_ptr + pid_h * N, (M, N), (H * N, 1), (m, n), (BLOCK_M, BLOCK_N), (1, 0))
    store(o, (acc * scale).to(int8), boundary_check=(0, 1))


grid = lambda META: (cdiv(M, META["BLOCK_M"]), cdiv(N, META["BLOCK_N"]), H)
