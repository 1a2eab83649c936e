# Y = gelu(h / 32) * levels * U * out_scale in one kernel, h = scale * (X W + bias) rounded to int8, all operands int8:
# X is M x K, W is K x H, U is H x N, bias has H int32. Sums of products are too fine for the integers of GELU, so that
# they are rounded to 32 levels for 1 first. Both hidden blocks lie in main memory between the products. The
# array needs the normaliser (transformer-16).
import triton
import triton.language as tl


@triton.jit
def gelu(x):
    return x * 0.5 * (1.0 + tl.erf(x * 0.7071067812))


@triton.jit
def mlp_gelu(x_ptr: tl.int8, w_ptr: tl.int8, b_ptr: tl.int32, u_ptr: tl.int8, y_ptr: tl.int8, M, K, H, N, scale: float,
             levels: float, out_scale: float, ROWS: tl.constexpr = 16, HIDDEN: tl.constexpr = 64):
    m = tl.program_id(0) * ROWS
    x = tl.load(tl.make_block_ptr(x_ptr, (M, K), (K, 1), (m, 0), (ROWS, K), (1, 0)), boundary_check=(0,))
    y = tl.zeros((ROWS, N), tl.int32)
    for h in range(0, H, HIDDEN):
        w = tl.make_block_ptr(w_ptr, (K, H), (H, 1), (0, h), (K, HIDDEN), (1, 0))
        b = tl.make_block_ptr(b_ptr, (H,), (1,), (h,), (HIDDEN,), (0,))
        u = tl.make_block_ptr(u_ptr, (H, N), (N, 1), (h, 0), (HIDDEN, N), (1, 0))
        sums = tl.dot(x, tl.load(w, boundary_check=(1,))) + tl.load(b, boundary_check=(0,))[None, :]
        hidden = (sums * (scale * 32)).to(tl.int8)
        active = (gelu(hidden * (1 / 32)) * levels).to(tl.int8)
        y += tl.dot(active, tl.load(u, boundary_check=(0,)))
    out = tl.make_block_ptr(y_ptr, (M, N), (N, 1), (m, 0), (ROWS, N), (1, 0))
    tl.store(out, (y * out_scale).to(tl.int8), boundary_check=(0,))


grid = lambda META: (triton.cdiv(M, META["ROWS"]),)
