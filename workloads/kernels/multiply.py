# Y = A B * scale, element by element, rounded to int8; all are M x N of int8. The array needs the gate (gated-16).
import triton
import triton.language as tl


@triton.jit
def multiply(a_ptr: tl.int8, b_ptr: tl.int8, y_ptr: tl.int8, M, N, scale: float, BLOCK_M: tl.constexpr = 32,
             BLOCK_N: tl.constexpr = 64):
    m = tl.program_id(0) * BLOCK_M
    n = tl.program_id(1) * BLOCK_N
    a = tl.make_block_ptr(a_ptr, (M, N), (N, 1), (m, n), (BLOCK_M, BLOCK_N), (1, 0))
    b = tl.make_block_ptr(b_ptr, (M, N), (N, 1), (m, n), (BLOCK_M, BLOCK_N), (1, 0))
    y = tl.make_block_ptr(y_ptr, (M, N), (N, 1), (m, n), (BLOCK_M, BLOCK_N), (1, 0))
    product = tl.load(a, boundary_check=(0, 1)) * tl.load(b, boundary_check=(0, 1))
    tl.store(y, (product * scale).to(tl.int8), boundary_check=(0, 1))


grid = lambda META: (triton.cdiv(M, META["BLOCK_M"]), triton.cdiv(N, META["BLOCK_N"]))
