# Y = scale * the mean of each R x S window of X, rounded: X is N x H x W x C, Y is N x P x Q x C, int8. What lies outside
# of an image counts as an element of 0.
# Columns step by column_stride, 0: like rows.
from weft import *


@jit
def average_pool2d(x_ptr: int8, y_ptr: int8, N, H, W, C, R: constexpr = 2, S: constexpr = 2, stride=2, column_stride=0,
                   padding=0, scale: float = 1.0, BLOCK_N: constexpr = 1, BLOCK_P: constexpr = 8,
                   BLOCK_Q: constexpr = 8, BLOCK_K: constexpr = 64):
    sq = column_stride or stride
    P = (H + 2 * padding - R) // stride + 1
    Q = (W + 2 * padding - S) // sq + 1
    pid_p = program_id(0) // cdiv(Q, BLOCK_Q)
    pid_q = program_id(0) % cdiv(Q, BLOCK_Q)
    pid_k = program_id(1)
    n = program_id(2) * BLOCK_N
    p, q, k = pid_p * BLOCK_P, pid_q * BLOCK_Q, pid_k * BLOCK_K
    acc = zeros((BLOCK_N, BLOCK_P, BLOCK_Q, BLOCK_K), int32)
    for r in range(R):
        for s in range(S):
            x = make_block_ptr(x_ptr, (N, H, W, C), (H * W * C, W * C, C, 1),
                               (n, p * stride - padding + r, q * sq - padding + s, k),
                               (BLOCK_N, BLOCK_P, BLOCK_Q, BLOCK_K), (3, 2, 1, 0), steps=(1, stride, sq, 1))
            acc += load(x, boundary_check=(0, 1, 2, 3))
    y = make_block_ptr(y_ptr, (N, P, Q, C), (P * Q * C, Q * C, C, 1), (n, p, q, k),
                       (BLOCK_N, BLOCK_P, BLOCK_Q, BLOCK_K), (3, 2, 1, 0))
    store(y, (acc * (scale / (R * S))).to(int8), boundary_check=(0, 1, 2, 3))


grid = lambda META: (
    cdiv((H + 2 * padding - R) // stride + 1, META["BLOCK_P"])
    * cdiv((W + 2 * padding - S) // (column_stride or stride) + 1, META["BLOCK_Q"]),
    cdiv(C, META["BLOCK_K"]),
    cdiv(N, META["BLOCK_N"]),
)
