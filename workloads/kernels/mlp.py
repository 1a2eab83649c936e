# Y = relu(scale * X W) U * out_scale in one kernel, all int8: X is M x K, W is K x H, U is H x N. The hidden layer, int8
# behind its scale and ReLU, lies in main memory between the two products.
from weft import *


@jit
def mlp(x_ptr: int8, w_ptr: int8, u_ptr: int8, y_ptr: int8, M, K, H, N, scale: float, out_scale: float,
        ROWS: constexpr = 16, HIDDEN: constexpr = 64):
    m = program_id(0) * ROWS
    x = load(make_block_ptr(x_ptr, (M, K), (K, 1), (m, 0), (ROWS, K), (1, 0)), boundary_check=(0,))
    y = zeros((ROWS, N), int32)
    for h in range(0, H, HIDDEN):
        w = make_block_ptr(w_ptr, (K, H), (H, 1), (0, h), (K, HIDDEN), (1, 0))
        u = make_block_ptr(u_ptr, (H, N), (N, 1), (h, 0), (HIDDEN, N), (1, 0))
        hidden = maximum(dot(x, load(w, boundary_check=(1,))) * scale, 0).to(int8)
        y += dot(hidden, load(u, boundary_check=(0,)))
    out = make_block_ptr(y_ptr, (M, N), (N, 1), (m, 0), (ROWS, N), (1, 0))
    store(out, (y * out_scale).to(int8), boundary_check=(0,))


grid = lambda META: (cdiv(M, META["ROWS"]),)
