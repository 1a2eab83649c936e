# C = act(scale * (A B + bias + residual * res)): A is M x K, B is K x N, C and res are M x N, int8, rows one after the
# other; bias has N int32. bias=False and relu=False leave these steps out, residual is an integer, 0 adds nothing.
# out=int32: C has the sums as they are, without scale. pitch: elements from row to row of B, 0: N; a_pitch, c_pitch: of
# A, 0: K, and of C, 0: N.
from weft import *


@jit
def gemm(a_ptr: int8, b_ptr: int8, bias_ptr: int32, c_ptr: out, res_ptr: int8, M, N, K, scale: float = 1.0,
         bias: constexpr = True, relu: constexpr = True, residual: constexpr = 0, out: constexpr = int8,
         pitch=0, a_pitch=0, c_pitch=0, BLOCK_M: constexpr = 64, BLOCK_N: constexpr = 64, BLOCK_K: constexpr = 64):
    pid_m = program_id(0)
    pid_n = program_id(1)
    m = pid_m * BLOCK_M
    n = pid_n * BLOCK_N
    acc = zeros((BLOCK_M, BLOCK_N), int32)
    for k in range(0, K, BLOCK_K):
        a = make_block_ptr(a_ptr, (M, K), (a_pitch or K, 1), (m, k), (BLOCK_M, BLOCK_K), (1, 0))
        b = make_block_ptr(b_ptr, (K, N), (pitch or N, 1), (k, n), (BLOCK_K, BLOCK_N), (1, 0))
        acc += dot(load(a, boundary_check=(0, 1)), load(b, boundary_check=(0, 1)))
    if bias:
        b = load(make_block_ptr(bias_ptr, (N,), (1,), (n,), (BLOCK_N,), (0,)), boundary_check=(0,))
        acc += b[None, :]
    if residual != 0:
        res = make_block_ptr(res_ptr, (M, N), (N, 1), (m, n), (BLOCK_M, BLOCK_N), (1, 0))
        acc += load(res, boundary_check=(0, 1)).to(int32) * residual
    if relu:
        acc = maximum(acc, 0)
    c = make_block_ptr(c_ptr, (M, N), (c_pitch or N, 1), (m, n), (BLOCK_M, BLOCK_N), (1, 0))
    static_assert(out != int32 or scale == 1.0, "int32 results take no scale")
    store(c, acc if out == int32 else (acc * scale).to(out), boundary_check=(0, 1))


grid = lambda META: (cdiv(M, META["BLOCK_M"]), cdiv(N, META["BLOCK_N"]))
