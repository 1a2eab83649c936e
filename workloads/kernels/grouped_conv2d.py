# Y = act(scale * (conv(X, W) + bias)) in G groups: X is N x H x W x (G C), Y is N x P x Q x (G K), W is
# G x R x S x C x K, all int8; bias has G K int32. The channels of a group are side by side, and the weights of a group
# are those of a convolution of its own.
# Columns step by column_stride, 0: like rows.
from weft import *


@jit
def grouped_conv2d(x_ptr: int8, w_ptr: int8, bias_ptr: int32, y_ptr: int8, N, H, W, G, C, K, R: constexpr = 3,
                   S: constexpr = 3, stride=1, column_stride=0, padding=0, dilation=1, scale: float = 1.0,
                   bias: constexpr = False, relu: constexpr = False, BLOCK_P: constexpr = 8, BLOCK_Q: constexpr = 8,
                   BLOCK_K: constexpr = 64, BLOCK_C: constexpr = 64):
    sq = column_stride or stride
    P = (H + 2 * padding - dilation * (R - 1) - 1) // stride + 1
    Q = (W + 2 * padding - dilation * (S - 1) - 1) // sq + 1
    pid_p = program_id(0) // cdiv(Q, BLOCK_Q)
    pid_q = program_id(0) % cdiv(Q, BLOCK_Q)
    pid_g = program_id(1) // cdiv(K, BLOCK_K)
    pid_k = program_id(1) % cdiv(K, BLOCK_K)
    pid_n = program_id(2)
    p, q, k0 = pid_p * BLOCK_P, pid_q * BLOCK_Q, pid_k * BLOCK_K
    acc = zeros((1, BLOCK_P, BLOCK_Q, BLOCK_K), int32)
    for r in range(R):
        for s in range(S):
            for c in range(0, C, BLOCK_C):
                x = make_block_ptr(x_ptr + pid_g * C, (N, H, W, C), (H * W * G * C, W * G * C, G * C, 1),
                                   (pid_n, p * stride - padding + r * dilation, q * sq - padding + s * dilation, c),
                                   (1, BLOCK_P, BLOCK_Q, BLOCK_C), (3, 2, 1, 0), steps=(1, stride, sq, 1))
                w = make_block_ptr(w_ptr + ((pid_g * R + r) * S + s) * C * K, (C, K), (K, 1), (c, k0),
                                   (BLOCK_C, BLOCK_K), (1, 0))
                acc += dot(load(x, boundary_check=(1, 2, 3)), load(w, boundary_check=(0, 1)))
    if bias:
        b = load(make_block_ptr(bias_ptr + pid_g * K, (K,), (1,), (k0,), (BLOCK_K,), (0,)), boundary_check=(0,))
        acc += b[None, None, None, :]
    if relu:
        acc = maximum(acc, 0)
    y = make_block_ptr(y_ptr + pid_g * K, (N, P, Q, K), (P * Q * G * K, Q * G * K, G * K, 1), (pid_n, p, q, k0),
                       (1, BLOCK_P, BLOCK_Q, BLOCK_K), (3, 2, 1, 0))
    store(y, (acc * scale).to(int8), boundary_check=(1, 2, 3))


grid = lambda META: (
    cdiv((H + 2 * padding - dilation * (R - 1) - 1) // stride + 1, META["BLOCK_P"])
    * cdiv((W + 2 * padding - dilation * (S - 1) - 1) // (column_stride or stride) + 1, META["BLOCK_Q"]),
    G * cdiv(K, META["BLOCK_K"]),
    N,
)
