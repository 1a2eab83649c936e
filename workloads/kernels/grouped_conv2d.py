# Y = act(scale * (conv(X, W) + bias)) in G groups: X is N x H x W x (G C), Y is N x P x Q x (G K), W is
# G x R x S x C x K, all int8; bias has G K int32. The channels of a group are side by side, and the weights of a group
# are those of a convolution of its own. channels and results, 0: G C and G K; else X and Y have only so many, which end
# inside of the last group.
# Columns step by column_stride, 0: like rows.
from weft import *


@jit
def grouped_conv2d(x_ptr: int8, w_ptr: int8, bias_ptr: int32, y_ptr: int8, N, H, W, G, C, K, R: constexpr = 3,
                   S: constexpr = 3, stride=1, column_stride=0, padding=0, dilation=1, scale: float = 1.0,
                   bias: constexpr = False, relu: constexpr = False, channels: constexpr = 0, results: constexpr = 0,
                   BLOCK_P: constexpr = 8, BLOCK_Q: constexpr = 8, BLOCK_K: constexpr = 64, BLOCK_C: constexpr = 64):
    sq = column_stride or stride
    P = (H + 2 * padding - dilation * (R - 1) - 1) // stride + 1
    Q = (W + 2 * padding - dilation * (S - 1) - 1) // sq + 1
    pid_p = program_id(0) // cdiv(Q, BLOCK_Q)
    pid_q = program_id(0) % cdiv(Q, BLOCK_Q)
    pid_g = program_id(1) // cdiv(K, BLOCK_K)
    pid_k = program_id(1) % cdiv(K, BLOCK_K)
    pid_n = program_id(2)
    p, q, k0 = pid_p * BLOCK_P, pid_q * BLOCK_Q, pid_k * BLOCK_K
    ragged = channels != 0
    XC, YK = channels or G * C, results or G * K
    # Of whole groups a block lies in its group, which is a part of the tensor; else in the tensor.
    XB, YB = 0 if ragged else C, 0 if ragged else K
    XO, YO = C - XB, K - YB
    XE, YE = XC if ragged else C, YK if ragged else K
    static_assert(not ragged or (BLOCK_C >= C and BLOCK_K >= K), "groups are blocks where the last one lacks channels")
    BC, BK = min(BLOCK_C, C) if ragged else BLOCK_C, min(BLOCK_K, K) if ragged else BLOCK_K
    acc = zeros((1, BLOCK_P, BLOCK_Q, BK), int32)
    for r in range(R):
        for s in range(S):
            for c in range(0, C, BC):
                x = make_block_ptr(x_ptr + pid_g * XB, (N, H, W, XE), (H * W * XC, W * XC, XC, 1),
                                   (pid_n, p * stride - padding + r * dilation, q * sq - padding + s * dilation,
                                    pid_g * XO + c), (1, BLOCK_P, BLOCK_Q, BC), (3, 2, 1, 0),
                                   steps=(1, stride, sq, 1))
                w = make_block_ptr(w_ptr + ((pid_g * R + r) * S + s) * C * K, (C, K), (K, 1), (c, k0),
                                   (BC, BK), (1, 0))
                acc += dot(load(x, boundary_check=(1, 2, 3)), load(w, boundary_check=(0, 1)))
    if bias:
        b = load(make_block_ptr(bias_ptr + pid_g * YB, (YE,), (1,), (pid_g * YO + k0,), (BK,), (0,)),
                 boundary_check=(0,))
        acc += b[None, None, None, :]
    if relu:
        acc = maximum(acc, 0)
    y = make_block_ptr(y_ptr + pid_g * YB, (N, P, Q, YE), (P * Q * YK, Q * YK, YK, 1),
                       (pid_n, p, q, pid_g * YO + k0), (1, BLOCK_P, BLOCK_Q, BK), (3, 2, 1, 0))
    store(y, (acc * scale).to(int8), boundary_check=(1, 2, 3))


grid = lambda META: (
    cdiv((H + 2 * padding - dilation * (R - 1) - 1) // stride + 1, META["BLOCK_P"])
    * cdiv((W + 2 * padding - dilation * (S - 1) - 1) // (column_stride or stride) + 1, META["BLOCK_Q"]),
    G * cdiv(K, META["BLOCK_K"]),
    N,
)
