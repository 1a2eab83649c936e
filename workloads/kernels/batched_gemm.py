# C[b] = act(scale * (A[b] B[b] + bias)) for each of B products, all int8: A[b] is M x K, B[b] is K x N (trans_b:
# N x K), C[b] is M x N; bias has N int32, for all products. Products stand one behind the other. out=int32: C has the
# sums as they are, without scale. a_pitch, a_step and so on: elements from row to row and from product to product, 0:
# as stated.
from weft import *


@jit
def batched_gemm(a_ptr: int8, b_ptr: int8, c_ptr: out, bias_ptr: int32, B, M, N, K, scale: float = 1.0,
                 trans_b: constexpr = False, bias: constexpr = False, relu: constexpr = False, out: constexpr = int8,
                 a_pitch=0, a_step=0, b_pitch=0, b_step=0, c_pitch=0, c_step=0,
                 BLOCK_M: constexpr = 64, BLOCK_N: constexpr = 64, BLOCK_K: constexpr = 64):
    pid_m = program_id(0)
    pid_n = program_id(1)
    pid_b = program_id(2)
    m, n = pid_m * BLOCK_M, pid_n * BLOCK_N
    acc = zeros((BLOCK_M, BLOCK_N), int32)
    for k in range(0, K, BLOCK_K):
        a = make_block_ptr(a_ptr + pid_b * (a_step or M * K), (M, K), (a_pitch or K, 1), (m, k), (BLOCK_M, BLOCK_K), (1, 0))
        if trans_b:
            bt = make_block_ptr(b_ptr + pid_b * (b_step or K * N), (N, K), (b_pitch or K, 1), (n, k), (BLOCK_N, BLOCK_K), (1, 0))
            acc += dot(load(a, boundary_check=(0, 1)), trans(load(bt, boundary_check=(0, 1))))
        else:
            b = make_block_ptr(b_ptr + pid_b * (b_step or K * N), (K, N), (b_pitch or N, 1), (k, n), (BLOCK_K, BLOCK_N), (1, 0))
            acc += dot(load(a, boundary_check=(0, 1)), load(b, boundary_check=(0, 1)))
    if bias:
        added = load(make_block_ptr(bias_ptr, (N,), (1,), (n,), (BLOCK_N,), (0,)), boundary_check=(0,))
        acc += added[None, :]
    if relu:
        acc = maximum(acc, 0)
    c = make_block_ptr(c_ptr + pid_b * (c_step or M * N), (M, N), (c_pitch or N, 1), (m, n), (BLOCK_M, BLOCK_N), (1, 0))
    static_assert(out != int32 or scale == 1.0, "int32 results take no scale")
    store(c, acc if out == int32 else (acc * scale).to(out), boundary_check=(0, 1))


grid = lambda META: (cdiv(M, META["BLOCK_M"]), cdiv(N, META["BLOCK_N"]), B)
