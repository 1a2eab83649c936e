# Both halves of a gated layer in one kernel, all int8: G = silu(h / 16) * levels with h = scale * X W rounded, and
# Z = X U * up_scale; X is M x K, W and U are K x H. The array does not multiply G and Z element by element: that is the
# hart's, and Y = (G Z) V a product of its own (mlp.py). The array needs the normaliser (transformer-16).
import triton
import triton.language as tl


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def gate_up(x_ptr: tl.int8, w_ptr: tl.int8, u_ptr: tl.int8, g_ptr: tl.int8, z_ptr: tl.int8, M, K, H, scale: float,
            levels: float, up_scale: float, ROWS: tl.constexpr = 16, HIDDEN: tl.constexpr = 64):
    m = tl.program_id(0) * ROWS
    h = tl.program_id(1) * HIDDEN
    x = tl.load(tl.make_block_ptr(x_ptr, (M, K), (K, 1), (m, 0), (ROWS, K), (1, 0)), boundary_check=(0,))
    w = tl.make_block_ptr(w_ptr, (K, H), (H, 1), (0, h), (K, HIDDEN), (1, 0))
    u = tl.make_block_ptr(u_ptr, (K, H), (H, 1), (0, h), (K, HIDDEN), (1, 0))
    hidden = (tl.dot(x, tl.load(w, boundary_check=(1,))) * (scale * 16)).to(tl.int8)
    g = tl.make_block_ptr(g_ptr, (M, H), (H, 1), (m, h), (ROWS, HIDDEN), (1, 0))
    tl.store(g, (silu(hidden * (1 / 16)) * levels).to(tl.int8), boundary_check=(0, 1))
    z = tl.make_block_ptr(z_ptr, (M, H), (H, 1), (m, h), (ROWS, HIDDEN), (1, 0))
    tl.store(z, (tl.dot(x, tl.load(u, boundary_check=(1,))) * up_scale).to(tl.int8), boundary_check=(0, 1))


grid = lambda META: (triton.cdiv(M, META["ROWS"]), triton.cdiv(H, META["HIDDEN"]))
