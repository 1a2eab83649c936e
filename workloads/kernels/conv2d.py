# Y = act(scale * (conv(X, W) + bias + residual * Z)): X is N x H x W x C, W is R x S x C x K (kernel rows, columns,
# input channels, output channels), Y and Z are N x P x Q x K, all int8; bias has K int32. residual is an integer, 0 adds
# nothing. `padding` zeros stand around each image.
# out=int32: Y has the sums as they are, without scale.
# P and Q are (H or W + 2 padding - dilation (R or S - 1) - 1) // stride + 1.
# Columns step by column_stride, 0: like rows. From pixel to pixel of X there are x_pixel elements, 0: C; y_pixel of Y,
# 0: K.
# pool: Y has the largest of each pool x pool window of these results, pool_stride apart. pool_padding rows and columns
# before the first are 0, which is the least there is after relu; behind the last there is no padding.
from weft import *


@jit
def conv2d(x_ptr: int8, w_ptr: int8, bias_ptr: int32, y_ptr: out, res_ptr: int8, N, H, W, C, K, R: constexpr = 3,
           S: constexpr = 3, stride=1, column_stride=0, padding=0, dilation=1, x_pixel=0, y_pixel=0, scale: float = 1.0,
           bias: constexpr = True, relu: constexpr = True, residual: constexpr = 0, out: constexpr = int8,
           pool: constexpr = 0, pool_stride: constexpr = 1, pool_padding: constexpr = 0, BLOCK_N: constexpr = 1,
           BLOCK_P: constexpr = 8, BLOCK_Q: constexpr = 8, BLOCK_K: constexpr = 64, BLOCK_C: constexpr = 64):
    sq = column_stride or stride
    P = (H + 2 * padding - dilation * (R - 1) - 1) // stride + 1
    Q = (W + 2 * padding - dilation * (S - 1) - 1) // sq + 1
    static_assert(pool == 0 or (residual == 0 and (relu or pool_padding == 0)), "pooled: no residual, padding after relu")
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
    p0, q0 = p * pool_stride - pool_padding, q * pool_stride - pool_padding
    xp, yp = x_pixel or C, y_pixel or K
    acc = zeros((BLOCK_N, BP, BQ, BLOCK_K), int32)
    for r in range(R):
        for s in range(S):
            for c in range(0, C, BLOCK_C):
                x = make_block_ptr(x_ptr, (N, H, W, C), (H * W * xp, W * xp, xp, 1),
                                   (n, p0 * stride - padding + r * dilation, q0 * sq - padding + s * dilation, c),
                                   (BLOCK_N, BP, BQ, BLOCK_C), (3, 2, 1, 0), steps=(1, stride, sq, 1))
                w = make_block_ptr(w_ptr + (r * S + s) * C * K, (C, K), (K, 1), (c, k0), (BLOCK_C, BLOCK_K), (1, 0))
                acc += dot(load(x, boundary_check=(0, 1, 2, 3)), load(w, boundary_check=(0, 1)))
    if bias:
        b = load(make_block_ptr(bias_ptr, (K,), (1,), (k0,), (BLOCK_K,), (0,)), boundary_check=(0,))
        acc += b[None, None, None, :]
    if residual != 0:
        z = make_block_ptr(res_ptr, (N, P, Q, K), (P * Q * K, Q * K, K, 1), (n, p, q, k0),
                           (BLOCK_N, BLOCK_P, BLOCK_Q, BLOCK_K), (3, 2, 1, 0))
        acc += load(z, boundary_check=(0, 1, 2, 3)).to(int32) * residual
    if relu:
        acc = maximum(acc, 0)
    y = make_block_ptr(y_ptr, (N, YP, YQ, K), (YP * YQ * yp, YQ * yp, yp, 1), (n, p, q, k0),
                       (BLOCK_N, BLOCK_P, BLOCK_Q, BLOCK_K), (3, 2, 1, 0))
    static_assert(out != int32 or scale == 1.0, "int32 results take no scale")
    if pool:
        store(y, (acc * scale).to(out), boundary_check=(0, 1, 2, 3), pool=(pool, pool_stride, pool_padding))
    else:
        store(y, acc if out == int32 else (acc * scale).to(out), boundary_check=(0, 1, 2, 3))


grid = lambda META: (
    cdiv(((H + 2 * padding - dilation * (R - 1) - 1) // stride + 1 + pool_padding - (pool or 1)) // pool_stride + 1,
         META["BLOCK_P"])
    * cdiv(((W + 2 * padding - dilation * (S - 1) - 1) // (column_stride or stride) + 1 + pool_padding - (pool or 1))
           // pool_stride + 1, META["BLOCK_Q"]),
    cdiv(K, META["BLOCK_K"]),
    cdiv(N, META["BLOCK_N"]),
)
