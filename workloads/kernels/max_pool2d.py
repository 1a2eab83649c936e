# Y = the largest of each R x S window of X: X is N x H x W x C, Y is N x P x Q x C, int8. What lies outside of an image
# counts as 0. From pixel to pixel of X there are x_pixel elements, 0: C; y_pixel of Y.
from weft import *


@jit
def max_pool2d(x_ptr: int8, y_ptr: int8, N, H, W, C, R: constexpr = 2, S: constexpr = 2, stride=2, padding=0,
               x_pixel=0, y_pixel=0, BLOCK_N: constexpr = 1, BLOCK_P: constexpr = 8, BLOCK_Q: constexpr = 8,
               BLOCK_K: constexpr = 64):
    P = (H + 2 * padding - R) // stride + 1
    Q = (W + 2 * padding - S) // stride + 1
    pid_p = program_id(0) // cdiv(Q, BLOCK_Q)
    pid_q = program_id(0) % cdiv(Q, BLOCK_Q)
    pid_k = program_id(1)
    n = program_id(2) * BLOCK_N
    p, q, k = pid_p * BLOCK_P, pid_q * BLOCK_Q, pid_k * BLOCK_K
    xp, yp = x_pixel or C, y_pixel or C
    best = full((BLOCK_N, BLOCK_P, BLOCK_Q, BLOCK_K), -128, int8)
    for r in range(R):
        for s in range(S):
            x = make_block_ptr(x_ptr, (N, H, W, C), (H * W * xp, W * xp, xp, 1),
                               (n, p * stride - padding + r, q * stride - padding + s, k),
                               (BLOCK_N, BLOCK_P, BLOCK_Q, BLOCK_K), (3, 2, 1, 0), steps=(1, stride, stride, 1))
            best = maximum(best, load(x, boundary_check=(0, 1, 2, 3)))
    y = make_block_ptr(y_ptr, (N, P, Q, C), (P * Q * yp, Q * yp, yp, 1), (n, p, q, k),
                       (BLOCK_N, BLOCK_P, BLOCK_Q, BLOCK_K), (3, 2, 1, 0))
    store(y, best, boundary_check=(0, 1, 2, 3))


grid = lambda META: (
    cdiv((H + 2 * padding - R) // stride + 1, META["BLOCK_P"])
    * cdiv((W + 2 * padding - S) // stride + 1, META["BLOCK_Q"]),
    cdiv(C, META["BLOCK_K"]),
    cdiv(N, META["BLOCK_N"]),
)
