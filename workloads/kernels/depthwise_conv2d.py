# Y = act(scale * (conv(X, W) + bias)), each channel by itself: X is N x H x W x C, Y is N x P x Q x C, int8; bias has C
# int32.
# Channels go through the array D at a time, so the weights of a channel stand on the diagonal of a D x D block: W is
# cdiv(C, D) x R x S x D x D with W[b][r][s][i][j] = the weight of channel b D + i at (r, s) if i == j, otherwise 0.
# Columns step by column_stride, 0: like rows. From pixel to pixel of X there are x_pixel elements, 0: C; y_pixel of Y.
from weft import *


@jit
def depthwise_conv2d(x_ptr: int8, w_ptr: int8, bias_ptr: int32, y_ptr: int8, N, H, W, C, D: constexpr = 16,
                     R: constexpr = 3, S: constexpr = 3, stride=1, column_stride=0, padding=0, dilation=1, x_pixel=0,
                     y_pixel=0, scale: float = 1.0, bias: constexpr = False, relu: constexpr = False,
                     BLOCK_N: constexpr = 1, BLOCK_P: constexpr = 8, BLOCK_Q: constexpr = 8, BLOCK_K: constexpr = 64):
    static_assert(BLOCK_K % D == 0 or BLOCK_K >= C, "blocks of channels are whole matrices")
    sq = column_stride or stride
    P = (H + 2 * padding - dilation * (R - 1) - 1) // stride + 1
    Q = (W + 2 * padding - dilation * (S - 1) - 1) // sq + 1
    pid_p = program_id(0) // cdiv(Q, BLOCK_Q)
    pid_q = program_id(0) % cdiv(Q, BLOCK_Q)
    pid_k = program_id(1)
    n = program_id(2) * BLOCK_N
    p, q, k0 = pid_p * BLOCK_P, pid_q * BLOCK_Q, pid_k * BLOCK_K
    xp, yp = x_pixel or C, y_pixel or C
    acc = zeros((BLOCK_N, BLOCK_P, BLOCK_Q, BLOCK_K), int32)
    for r in range(R):
        for s in range(S):
            x = make_block_ptr(x_ptr, (N, H, W, C), (H * W * xp, W * xp, xp, 1),
                               (n, p * stride - padding + r * dilation, q * sq - padding + s * dilation, k0),
                               (BLOCK_N, BLOCK_P, BLOCK_Q, BLOCK_K), (3, 2, 1, 0), steps=(1, stride, sq, 1))
            w = make_block_ptr(w_ptr + (r * S + s) * D * D, (cdiv(C, D), D, D), (R * S * D * D, D, 1),
                               (pid_k * cdiv(BLOCK_K, D), 0, 0), (cdiv(BLOCK_K, D), D, D), (2, 1, 0))
            acc += dot(load(x, boundary_check=(0, 1, 2, 3)), load(w, boundary_check=(0,)))
    if bias:
        b = load(make_block_ptr(bias_ptr, (C,), (1,), (k0,), (BLOCK_K,), (0,)), boundary_check=(0,))
        acc += b[None, None, None, :]
    if relu:
        acc = maximum(acc, 0)
    y = make_block_ptr(y_ptr, (N, P, Q, C), (P * Q * yp, Q * yp, yp, 1), (n, p, q, k0),
                       (BLOCK_N, BLOCK_P, BLOCK_Q, BLOCK_K), (3, 2, 1, 0))
    store(y, (acc * scale).to(int8), boundary_check=(0, 1, 2, 3))


grid = lambda META: (
    cdiv((H + 2 * padding - dilation * (R - 1) - 1) // stride + 1, META["BLOCK_P"])
    * cdiv((W + 2 * padding - dilation * (S - 1) - 1) // (column_stride or stride) + 1, META["BLOCK_Q"]),
    cdiv(C, META["BLOCK_K"]),
    cdiv(N, META["BLOCK_N"]),
)
