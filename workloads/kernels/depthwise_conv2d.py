# Y = scale * conv(X, W), each channel by itself: X is N x H x W x C, Y is N x P x Q x C, int8.
# Channels go through the array D at a time, so the weights of a channel stand on the diagonal of a D x D block: W is
# cdiv(C, D) x R x S x D x D with W[b][r][s][i][j] = the weight of channel b D + i at (r, s) if i == j, otherwise 0.
from weft import *


@jit
def depthwise_conv2d(x_ptr: int8, w_ptr: int8, y_ptr: int8, N, H, W, C, D: constexpr = 16, R: constexpr = 3,
                     S: constexpr = 3, stride=1, padding=0, scale: float = 1.0, BLOCK_P: constexpr = 8,
                     BLOCK_Q: constexpr = 8):
    P = (H + 2 * padding - R) // stride + 1
    Q = (W + 2 * padding - S) // stride + 1
    pid_p = program_id(0) // cdiv(Q, BLOCK_Q)
    pid_q = program_id(0) % cdiv(Q, BLOCK_Q)
    pid_d = program_id(1)
    pid_n = program_id(2)
    p, q = pid_p * BLOCK_P, pid_q * BLOCK_Q
    acc = zeros((1, BLOCK_P, BLOCK_Q, D), int32)
    for r in range(R):
        for s in range(S):
            x = make_block_ptr(x_ptr, (N, H, W, C), (H * W * C, W * C, C, 1),
                               (pid_n, p * stride - padding + r, q * stride - padding + s, pid_d * D),
                               (1, BLOCK_P, BLOCK_Q, D), (3, 2, 1, 0), steps=(1, stride, stride, 1))
            w = make_block_ptr(w_ptr + ((pid_d * R + r) * S + s) * D * D, (D, D), (D, 1), (0, 0), (D, D), (1, 0))
            acc += dot(load(x, boundary_check=(1, 2, 3)), load(w))
    y = make_block_ptr(y_ptr, (N, P, Q, C), (P * Q * C, Q * C, C, 1), (pid_n, p, q, pid_d * D),
                       (1, BLOCK_P, BLOCK_Q, D), (3, 2, 1, 0))
    store(y, (acc * scale).to(int8), boundary_check=(1, 2, 3))


grid = lambda META: (
    cdiv((H + 2 * padding - R) // stride + 1, META["BLOCK_P"])
    * cdiv((W + 2 * padding - S) // stride + 1, META["BLOCK_Q"]),
    cdiv(C, META["D"]),
    N,
)
