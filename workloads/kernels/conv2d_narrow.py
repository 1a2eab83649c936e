# Y = act(scale * (conv(X, W) + bias)) for images of few channels: X is N x H x W x C with its padding left and right,
# W is R x S x C x K, Y is N x P x Q x K, all int8; bias has K int32. The S x C values under a row of the kernel lie side
# by side in X, so they are summed over as one dimension: blocks of X overlap. `padding` rows of zeros stand above and
# below.
# Columns step by column_stride, 0: like rows. From row to row of X there are x_row elements, 0: W C; y_row of Y, 0:
# those of Q pixels, and from pixel to pixel y_pixel, 0: K.
# pool: Y has the largest of each pool x pool window of these results, as in conv2d.
from weft import *


@jit
def conv2d_narrow(x_ptr: int8, w_ptr: int8, bias_ptr: int32, y_ptr: int8, N, H, W, C, K, R: constexpr = 3,
                  S: constexpr = 3, stride=1, column_stride=0, padding=0, x_row=0, y_row=0, y_pixel=0,
                  scale: float = 1.0, bias: constexpr = True, relu: constexpr = True, pool: constexpr = 0,
                  pool_stride: constexpr = 1, pool_padding: constexpr = 0, BLOCK_N: constexpr = 1,
                  BLOCK_P: constexpr = 8, BLOCK_Q: constexpr = 8, BLOCK_K: constexpr = 64, BLOCK_C: constexpr = 64):
    sq = column_stride or stride
    P = (H + 2 * padding - R) // stride + 1
    Q = (W - S) // sq + 1
    static_assert(pool == 0 or relu or pool_padding == 0, "pooled with padding only after relu")
    # Results, and the block of sums under a block of them.
    YP = (P + pool_padding - pool) // pool_stride + 1 if pool else P
    YQ = (Q + pool_padding - pool) // pool_stride + 1 if pool else Q
    BP = (BLOCK_P - 1) * pool_stride + pool if pool else BLOCK_P
    BQ = (BLOCK_Q - 1) * pool_stride + pool if pool else BLOCK_Q
    pid_p = program_id(0) // cdiv(YQ, BLOCK_Q)
    pid_q = program_id(0) % cdiv(YQ, BLOCK_Q)
    pid_k = program_id(1)
    pid_n = program_id(2)
    n, p, q, k0 = pid_n * BLOCK_N, pid_p * BLOCK_P, pid_q * BLOCK_Q, pid_k * BLOCK_K
    xr = x_row or W * C
    yp = y_pixel or K
    yr = y_row or YQ * yp
    p0, q0 = p * pool_stride - pool_padding, q * pool_stride - pool_padding
    acc = zeros((BLOCK_N, BP, BQ, BLOCK_K), int32)
    for r in range(R):
        for c in range(0, S * C, BLOCK_C):
            x = make_block_ptr(x_ptr, (N, H, Q, S * C), (H * xr, xr, sq * C, 1),
                               (n, p0 * stride + r - padding, q0, c), (BLOCK_N, BP, BQ, BLOCK_C), (3, 2, 1, 0),
                               steps=(1, stride, 1, 1))
            w = make_block_ptr(w_ptr + r * S * C * K, (S * C, K), (K, 1), (c, k0), (BLOCK_C, BLOCK_K), (1, 0))
            acc += dot(load(x, boundary_check=(0, 1, 2, 3)), load(w, boundary_check=(0, 1)))
    if bias:
        b = load(make_block_ptr(bias_ptr, (K,), (1,), (k0,), (BLOCK_K,), (0,)), boundary_check=(0,))
        acc += b[None, None, None, :]
    if relu:
        acc = maximum(acc, 0)
    y = make_block_ptr(y_ptr, (N, YP, YQ, K), (YP * yr, yr, yp, 1), (n, p, q, k0),
                       (BLOCK_N, BLOCK_P, BLOCK_Q, BLOCK_K), (3, 2, 1, 0))
    if pool:
        store(y, (acc * scale).to(int8), boundary_check=(0, 1, 2, 3), pool=(pool, pool_stride, pool_padding))
    else:
        store(y, (acc * scale).to(int8), boundary_check=(0, 1, 2, 3))


grid = lambda META: (
    cdiv(((H + 2 * padding - R) // stride + 1 + pool_padding - (pool or 1)) // pool_stride + 1, META["BLOCK_P"])
    * cdiv(((W - S) // (column_stride or stride) + 1 + pool_padding - (pool or 1)) // pool_stride + 1, META["BLOCK_Q"]),
    cdiv(K, META["BLOCK_K"]),
    cdiv(N, META["BLOCK_N"]),
)
