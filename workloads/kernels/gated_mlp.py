# A gated layer (SwiGLU) in one kernel, all operands int8: Y = (G Z) V * out_scale with the hidden blocks
# G = silu(h / 16) * levels, h = scale * X W rounded, Z = X U * up_scale rounded, and their product, element by element,
# times gate_scale and rounded. X is M x K, W and U are K x H, V is H x N. The array needs the normaliser and the gate
# (gated-16); others take gate_up.py, the hart's product and mlp.py.
import triton
import triton.language as tl


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def gated_mlp(x_ptr: tl.int8, w_ptr: tl.int8, u_ptr: tl.int8, v_ptr: tl.int8, y_ptr: tl.int8, M, K, H, N, scale: float,
              levels: float, up_scale: float, gate_scale: float, out_scale: float, ROWS: tl.constexpr = 16,
              HIDDEN: tl.constexpr = 64):
    m = tl.program_id(0) * ROWS
    x = tl.load(tl.make_block_ptr(x_ptr, (M, K), (K, 1), (m, 0), (ROWS, K), (1, 0)), boundary_check=(0,))
    y = tl.zeros((ROWS, N), tl.int32)
    for h in range(0, H, HIDDEN):
        w = tl.load(tl.make_block_ptr(w_ptr, (K, H), (H, 1), (0, h), (K, HIDDEN), (1, 0)), boundary_check=(1,))
        u = tl.load(tl.make_block_ptr(u_ptr, (K, H), (H, 1), (0, h), (K, HIDDEN), (1, 0)), boundary_check=(1,))
        v = tl.load(tl.make_block_ptr(v_ptr, (H, N), (N, 1), (h, 0), (HIDDEN, N), (1, 0)), boundary_check=(0,))
        hidden = (tl.dot(x, w) * (scale * 16)).to(tl.int8)
        g = (silu(hidden * (1 / 16)) * levels).to(tl.int8)
        z = (tl.dot(x, u) * up_scale).to(tl.int8)
        y += tl.dot((g * z * gate_scale).to(tl.int8), v)
    out = tl.make_block_ptr(y_ptr, (M, N), (N, 1), (m, 0), (ROWS, N), (1, 0))
    tl.store(out, (y * out_scale).to(tl.int8), boundary_check=(0,))


grid = lambda META: (triton.cdiv(M, META["ROWS"]),)
